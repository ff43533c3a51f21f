// Cutting a range of x into equal slices of point indices; shared by raw and smoothed series.
#pragma once

#include "session/series.h"

#include <algorithm>
#include <cstddef>

namespace lathe::session {

/// Calls visit(k, a, b) for every non-empty slice k of [x0, x1) with its points [a, b), out of points [begin, end).
/// From `enough` points a slice on, edges snap to multiples of `bucket`.
template <typename Visit>
void forSlices(const NumberColumn& x, double x0, double x1, int n, std::size_t begin, std::size_t end, std::size_t bucket, std::size_t enough, Visit visit) {
    std::size_t a = std::max(begin, x.lowerBound(x0));
    const std::size_t stop = std::min(end, x.lowerBound(x1));
    if (a >= stop || n <= 0) return;
    const std::size_t snap = (stop - a) / std::size_t(n) >= enough ? bucket : 1;
    a = std::max(begin, a / snap * snap);
    const double width = (x1 - x0) / n;
    for (int k = 0; k < n && a < stop; ++k) {
        std::size_t b = k + 1 == n ? stop : x.lowerBound(x0 + width * (k + 1), a);
        b = std::min(stop, (b + snap - 1) / snap * snap);
        if (b <= a) continue;
        visit(std::size_t(k), a, b);
        a = b;
    }
}

}  // namespace lathe::session
