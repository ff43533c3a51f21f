// The y range that fits what is in view.
#pragma once

#include "charts/curve_item.h"

#include <optional>

namespace lathe::charts {

struct YFit {
    AxisMap axis;
    std::size_t clipped = 0;  ///< about: points outside because outliers are ignored
};

/// Over visible curves, those of abandoned branches too, padded by 5 % and never empty.
/// `ignoreOutliers` leaves out the lowest and highest 5 % of all points in view (TensorBoard's index rule), of the smoothed
/// line where one is drawn; the newest point of each curve stays in.
YFit fitY(const Scene& scene, bool log, bool ignoreOutliers);
/// Grows at once, shrinks only when less than 70 % would be used: no jitter while data arrive.
AxisMap calm(const AxisMap& fitted, const AxisMap& shown);
/// How many points are in view, and how many of them cannot be shown as a line.
struct ViewCount {
    std::size_t points = 0, nonFinite = 0, nonPositive = 0;
};
ViewCount countInView(const Scene& scene);

}  // namespace lathe::charts
