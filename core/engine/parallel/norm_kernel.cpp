#include "engine/parallel/norm_kernel.h"

#include <algorithm>

namespace lathe::engine {
namespace {

constexpr std::int64_t kLanes = 16;

/// Sixteen running sums that no compiler may reorder, folded in a fixed tree: the same bits for every vector width.
template <typename T>
[[gnu::always_inline]] inline double chunkSum(const T* values, std::int64_t count) {
    double lanes[kLanes] = {};
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
        for (std::int64_t lane = 0; lane < kLanes; ++lane) {
            const double value = values[i + lane];
            lanes[lane] += value * value;
        }
    }
    for (; i < count; ++i) {
        const double value = values[i];
        lanes[i % kLanes] += value * value;
    }
    for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
        for (std::int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    }
    return lanes[0];
}

template <typename T>
[[gnu::always_inline]] inline double total(const T* values, std::int64_t count) {
    double sum = 0;
    for (std::int64_t begin = 0; begin < count; begin += kNormChunk)
        sum += chunkSum(values + begin, std::min(kNormChunk, count - begin));
    return sum;
}

}  // namespace

double sumOfSquares(const float* values, std::int64_t count) { return total(values, count); }
double sumOfSquares(const double* values, std::int64_t count) { return total(values, count); }

}  // namespace lathe::engine
