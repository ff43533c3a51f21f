#include "charts/y_range.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::charts {

using session::Extent;
using session::Series;

namespace {

constexpr std::size_t kPoolFrom = 20;       // below, every point is needed to see anything
constexpr std::size_t kPoolSize = 4000;    // larger views are sampled evenly: only the range depends on it, no picture
constexpr double kPadding = 0.05;

struct InView {
    const CurvePiece* piece;
    std::size_t begin, end;
};

std::vector<InView> piecesInView(const Scene& scene) {
    std::vector<InView> found;
    for (const Curve& curve : scene.curves) {
        if (!curve.visible) continue;
        for (const CurvePiece& piece : curve.pieces) {
            const Series& series = *piece.piece.series;
            const std::size_t begin = std::max(piece.piece.begin, series.lowerBound(scene.axis, scene.x.lo));
            const std::size_t end = std::min({piece.piece.end, series.size(), series.lowerBound(scene.axis, std::nextafter(scene.x.hi, HUGE_VAL))});
            if (begin < end) found.push_back({&piece, begin, end});
        }
    }
    return found;
}

double valueAt(const CurvePiece& piece, std::size_t i) { return piece.smoothing ? piece.smoothing->at(i) : double(piece.piece.series->at(i)); }

/// Values in view, evenly sampled, sorted; only those the axis can show.
std::vector<double> pooled(const std::vector<InView>& pieces, bool log) {
    std::size_t total = 0;
    for (const InView& each : pieces) total += each.end - each.begin;
    const std::size_t stride = std::max<std::size_t>(1, total / kPoolSize);
    std::vector<double> pool;
    for (const InView& each : pieces)
        for (std::size_t i = (each.begin + stride - 1) / stride * stride; i < each.end; i += stride) {
            const double value = valueAt(*each.piece, i);
            if (std::isfinite(value) && (!log || value > 0)) pool.push_back(value);
        }
    std::sort(pool.begin(), pool.end());
    return pool;
}

struct Range {
    double lo = std::numeric_limits<double>::infinity(), hi = -std::numeric_limits<double>::infinity();
    void take(double value, bool log) {
        if (!std::isfinite(value) || (log && value <= 0)) return;
        lo = std::min(lo, value);
        hi = std::max(hi, value);
    }
};

Range wholeRange(const std::vector<InView>& pieces, bool log) {
    Range range;
    for (const InView& each : pieces) {
        const Extent extent = each.piece->piece.series->extent(each.begin, each.end);
        if (!extent.hasFinite()) continue;
        range.take(double(log ? extent.minPositive : extent.min), log);
        range.take(double(extent.max), log);
    }
    return range;
}

std::optional<Range> rangeWithoutOutliers(const std::vector<InView>& pieces, bool log, std::size_t& clipped) {
    const std::vector<double> pool = pooled(pieces, log);
    if (pool.size() < kPoolFrom) return std::nullopt;
    const double last = double(pool.size() - 1);
    Range range;
    range.lo = pool[std::size_t(std::ceil(0.05 * last))];
    range.hi = pool[std::size_t(std::floor(0.95 * last))];
    for (const InView& each : pieces) range.take(valueAt(*each.piece, each.end - 1), log);
    clipped = std::size_t(std::count_if(pool.begin(), pool.end(), [&](double value) { return value < range.lo || value > range.hi; }));
    return range;
}

AxisMap padded(Range range, bool log) {
    AxisMap axis;
    axis.log = log;
    if (log) {
        const double factor = std::max(1.15, std::pow(range.hi / range.lo, kPadding));
        axis.lo = std::max(range.lo / factor, std::numeric_limits<double>::min());
        axis.hi = range.hi * (std::isfinite(range.hi * factor) ? factor : 1);
        return axis;
    }
    const double magnitude = std::max(std::abs(range.lo), std::abs(range.hi));
    if (range.hi - range.lo <= 1e-7 * magnitude) {  // constant, as far as these numbers go
        const double v = range.lo / 2 + range.hi / 2;
        range.lo = v > 0 ? 0 : v < 0 ? 2 * v : -1;
        range.hi = v > 0 ? 2 * v : v < 0 ? 0 : 1;
    }
    const double pad = kPadding * (range.hi - range.lo);
    axis.lo = range.lo >= 0 && range.lo < pad ? 0 : range.lo - pad;
    axis.hi = range.hi + pad;
    return axis;
}

}  // namespace

YFit fitY(const Scene& scene, bool log, bool ignoreOutliers) {
    YFit fit;
    fit.axis = log ? AxisMap{1, 10, true} : AxisMap{0, 1, false};
    const std::vector<InView> pieces = piecesInView(scene);
    Range range = wholeRange(pieces, log);
    if (!(range.lo <= range.hi)) return fit;
    if (ignoreOutliers)
        if (const auto inner = rangeWithoutOutliers(pieces, log, fit.clipped)) range = *inner;
    fit.axis = padded(range, log);
    return fit;
}

AxisMap calm(const AxisMap& fitted, const AxisMap& shown) {
    if (fitted.log != shown.log || fitted.lo < shown.lo || fitted.hi > shown.hi) return fitted;
    const double used = fitted.log ? std::log(fitted.hi / fitted.lo) / std::log(shown.hi / shown.lo)
                                   : (fitted.hi - fitted.lo) / (shown.hi - shown.lo);
    return used > 0.7 ? shown : fitted;
}

ViewCount countInView(const Scene& scene) {
    ViewCount count;
    for (const InView& each : piecesInView(scene)) {
        const Series& series = *each.piece->piece.series;
        count.points += each.end - each.begin;
        const Extent extent = series.extent(each.begin, each.end);
        count.nonFinite += extent.nonFinite;
        if (scene.y.log && extent.hasFinite() && extent.min <= 0) count.nonPositive += series.countNonPositive(each.begin, each.end);
    }
    return count;
}

}  // namespace lathe::charts
