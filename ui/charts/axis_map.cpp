#include "charts/axis_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace lathe::charts {

namespace {

constexpr int kMostDecimals = 330;      // the smallest double has 324
constexpr std::size_t kMostTicks = 60;  // a guard against rounding, never reached by sane ranges

/// "5e-5", "1.5e-4", "0"; at most `digits` after the point.
QString exponentText(double value, int digits = 3) {
    if (value == 0) return QStringLiteral("0");
    const QString text = QString::number(value, 'e', digits);
    const qsizetype e = text.indexOf(QLatin1Char('e'));
    QString mantissa = text.left(e);
    while (mantissa.contains(QLatin1Char('.')) && mantissa.endsWith(QLatin1Char('0'))) mantissa.chop(1);
    if (mantissa.endsWith(QLatin1Char('.'))) mantissa.chop(1);
    return mantissa + QLatin1Char('e') + QString::number(text.mid(e + 1).toInt());
}

QString grouped(double value, int decimals) {
    QString text = QString::number(std::abs(value), 'f', decimals);
    const qsizetype point = text.indexOf(QLatin1Char('.'));
    for (qsizetype i = (point < 0 ? text.size() : point) - 3; i > 0; i -= 3) text.insert(i, QLatin1Char(','));
    const bool isZero = !std::any_of(text.begin(), text.end(), [](QChar c) { return c >= QLatin1Char('1') && c <= QLatin1Char('9'); });
    return value < 0 && !isZero ? QLatin1Char('-') + text : text;
}

/// How many decimals write the step, however small it is.
int decimalsOf(double step) {
    int decimals = 0;
    for (double scaled = step; decimals < kMostDecimals && std::abs(scaled - std::round(scaled)) > 1e-6 * scaled; ++decimals) scaled *= 10;
    return decimals;
}

/// How many digits after the point of an exponent tell apart values up to `largest` that differ in this decimal.
int exponentDigits(double largest, int decimals) {
    constexpr int kMostDigits = 16;  // a double has no more
    return largest > 0 ? std::clamp(decimals + int(std::floor(std::log10(largest))), 3, kMostDigits) : 3;
}

/// One form for all values of an axis: grouped digits, digits with a unit of thousands, or exponents.
std::vector<Tick> withTexts(const std::vector<double>& values, double step) {
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    std::vector<Tick> out;
    const int decimals = decimalsOf(step);
    const bool tooSmall = decimals > 4 && largest < 0.01, tooLarge = largest >= 1e15;
    const bool tooFine = decimals > 4 && !tooSmall;  // a short range far from zero
    const int digits = exponentDigits(largest, decimals);
    const double unit = tooLarge || step < 1 ? 1 : largest >= 1e9 ? 1e9 : largest >= 1e6 ? 1e6 : 1;
    const QString suffix = unit == 1e9 ? QStringLiteral("G") : unit == 1e6 ? QStringLiteral("M") : QString();
    for (const double value : values) {
        if (tooSmall || tooLarge) out.push_back({value, exponentText(value, digits)});
        else if (tooFine) out.push_back({value, QString::number(value, 'f', std::min(decimals, 15))});
        else if (value == 0 && unit > 1) out.push_back({value, QStringLiteral("0")});
        else out.push_back({value, grouped(value / unit, decimalsOf(step / unit)) + suffix});
    }
    return out;
}

std::vector<double> multiplesOf(double step, double lo, double hi) {
    std::vector<double> values;
    const double first = std::ceil(lo / step - 1e-9);
    for (double k = first; values.size() < kMostTicks; ++k) {
        const double value = k * step;
        if (!(value <= hi + 1e-9 * step)) break;
        if (!values.empty() && !(value > values.back())) break;  // the step is lost in rounding
        values.push_back(k == 0 ? 0.0 : value);
    }
    return values;
}

std::vector<Tick> linearTicks(double lo, double hi, double pixels, double pixelsPerTick) {
    const double wanted = (hi / pixels - lo / pixels) * pixelsPerTick;
    // One text tells a place and no scale: the next finer steps where the range holds less than two.
    for (double part = 1;; part /= 2) {
        const double step = niceStep(wanted * part);
        const std::vector<double> values = multiplesOf(step, lo, hi);
        if (values.size() >= 2 || part < 0.1) return withTexts(values, step);
    }
}

std::vector<Tick> powerTicks(double lo, double hi, double decades, double room) {
    const int every = std::max(1, int(std::ceil(decades / std::max(1.0, room))));
    const int first = int(std::ceil(std::log10(lo) - 1e-9)), last = int(std::floor(std::log10(hi) + 1e-9));
    const bool plain = first >= -4 && last <= 5;
    std::vector<Tick> out;
    for (int e = int(std::ceil(double(first) / every)) * every; e <= last; e += every) {
        const double value = std::pow(10.0, e);
        out.push_back({value, plain ? grouped(value, std::max(0, -e)) : e == 0 ? QStringLiteral("1") : exponentText(value)});
    }
    return out;
}

std::vector<Tick> logTicks(double lo, double hi, double pixels, double pixelsPerTick) {
    const double decades = std::log10(hi) - std::log10(lo), room = pixels / pixelsPerTick;
    if (decades >= 2) {
        auto out = powerTicks(lo, hi, decades, room);
        if (out.size() >= 2) return out;
    }
    std::vector<double> values;
    for (int e = int(std::floor(std::log10(lo))); e <= int(std::ceil(std::log10(hi))); ++e)
        for (const double m : {1.0, 2.0, 5.0}) {
            const double value = m * std::pow(10.0, e);
            if (value >= lo * (1 - 1e-12) && value <= hi * (1 + 1e-12)) values.push_back(value);
        }
    if (values.size() >= 3) return withTexts(values, *std::min_element(values.begin(), values.end()));
    auto out = linearTicks(lo, hi, pixels, pixelsPerTick);  // less than a decade: nearly even spacing anyway
    std::erase_if(out, [&](const Tick& tick) { return !(tick.value > 0); });
    return out;
}

}  // namespace

double AxisMap::unit(double v) const {
    // Halves first: hi - lo may overflow.
    if (!log) return (v / 2 - lo / 2) / (hi / 2 - lo / 2);
    return v > 0 ? (std::log(v) - std::log(lo)) / (std::log(hi) - std::log(lo)) : std::numeric_limits<double>::quiet_NaN();
}

double AxisMap::value(double u) const {
    if (!log) return lo * (1 - u) + hi * u;
    return std::exp(std::log(lo) * (1 - u) + std::log(hi) * u);
}

double niceStep(double raw) {
    if (!(raw > 0) || !std::isfinite(raw)) return 1;
    const double power = std::pow(10.0, std::floor(std::log10(raw)));
    if (power == 0) return raw;
    const double m = raw / power;
    return power * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 2.5 ? 2.5 : m <= 5 ? 5 : 10);
}

std::vector<Tick> ticks(const AxisMap& axis, double pixels, double pixelsPerTick) {
    if (!(axis.lo < axis.hi) || !(pixels > 0) || (axis.log && axis.lo <= 0)) return {};
    return axis.log ? logTicks(axis.lo, axis.hi, pixels, pixelsPerTick) : linearTicks(axis.lo, axis.hi, pixels, pixelsPerTick);
}

std::vector<Tick> timeTicks(const AxisMap& axis, double pixels, double pixelsPerTick) {
    if (!(axis.lo < axis.hi) || !(pixels > 0)) return {};
    const double raw = (axis.hi - axis.lo) / pixels * pixelsPerTick;
    static constexpr std::array<double, 17> kSteps{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200};
    const auto known = std::find_if(kSteps.begin(), kSteps.end(), [&](double step) { return step >= raw; });
    const double step = raw < 1 ? niceStep(raw) : known == kSteps.end() ? niceStep(raw / 86400) * 86400 : *known;
    const double unit = step >= 86400 ? 86400 : step >= 3600 ? 3600 : step >= 60 ? 60 : 1;
    const QString word = unit == 86400 ? QStringLiteral(" d") : unit == 3600 ? QStringLiteral(" h") : unit == 60 ? QStringLiteral(" min") : QStringLiteral(" s");
    std::vector<Tick> out;
    for (const double value : multiplesOf(step, axis.lo, axis.hi)) out.push_back({value, grouped(value / unit, decimalsOf(step / unit)) + word});
    return out;
}

QString shortNumber(double v) {
    if (std::isnan(v)) return QStringLiteral("NaN");
    if (std::isinf(v)) return v > 0 ? QStringLiteral("+Inf") : QStringLiteral("-Inf");
    const double a = std::abs(v);
    if (a >= double(std::numeric_limits<float>::max())) return v > 0 ? QStringLiteral("> 3.4e38") : QStringLiteral("< -3.4e38");
    if (a != 0 && (a < 1e-4 || a >= 1e12)) return exponentText(v);
    if (a >= 1e9) return QString::number(v / 1e9, 'g', 4) + QLatin1Char('G');
    if (a >= 1e6) return QString::number(v / 1e6, 'g', 4) + QLatin1Char('M');
    if (a >= 1e4) return QString::number(v / 1e3, 'g', 4) + QLatin1Char('k');
    return QString::number(v, 'g', 4);
}

QString groupedNumber(qint64 value) { return grouped(double(value), 0); }

}  // namespace lathe::charts
