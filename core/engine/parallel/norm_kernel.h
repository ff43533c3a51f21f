// Sums of squares for the global gradient norm: in double precision, over fixed chunks combined in fixed order, so that
// the bits depend on the numbers alone and not on threads, buffers or the instruction set.
#pragma once

#include <cstdint>

namespace lathe::engine {

/// Elements of one chunk of a parameter; shards are cut at multiples of it.
constexpr std::int64_t kNormChunk = 4096;

/// Not finite exactly when a float is not finite (squares of floats cannot overflow a double).
double sumOfSquares(const float* values, std::int64_t count);
/// As above, but also infinite where squares exceed the range of a double.
double sumOfSquares(const double* values, std::int64_t count);

}  // namespace lathe::engine
