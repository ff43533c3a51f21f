// One axis as plain numbers: range, scale, ticks and their texts. Knows nothing of widgets or QtCharts.
#pragma once

#include <QString>

#include <vector>

namespace lathe::charts {

/// Requires lo < hi; and lo > 0 when log.
struct AxisMap {
    double lo = 0, hi = 1;
    bool log = false;

    double unit(double value) const;  ///< 0..1 along the axis, beyond outside; NaN where a log axis has no place for it
    double value(double unit) const;
    bool operator==(const AxisMap&) const = default;
};

struct Tick {
    double value = 0;
    QString text;
};

/// Round values about every `pixelsPerTick`, two at least; all texts in one form ("0.00005", "0.0001" or "5e-5", "1e-4",
/// never mixed) and each another, as far as a double tells the values apart.
/// A log axis has powers of ten, or finer marks when the range holds less than two of them.
std::vector<Tick> ticks(const AxisMap& axis, double pixels, double pixelsPerTick);
/// The same for durations in seconds: "30 s", "5 min", "2 h".
std::vector<Tick> timeTicks(const AxisMap& axis, double pixels, double pixelsPerTick);

/// 1, 2, 2.5 or 5 times a power of ten, at least `raw`.
double niceStep(double raw);
/// For read-outs: "0.4365", "48.21k", "3e-4", "NaN", "+Inf".
QString shortNumber(double value);
/// 1,234,567
QString groupedNumber(qint64 value);

}  // namespace lathe::charts
