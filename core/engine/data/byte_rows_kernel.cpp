#include "engine/data/byte_rows_kernel.h"

#include "engine/widest_vectors.h"

namespace lathe::engine {

/// 1 / 255 in two parts, the first so short that its product with a byte is exact: the sum is then the rounded quotient
/// for each of the 256 bytes (tested), and it is cheaper than a division.
LATHE_WIDEST static void convert(const std::uint8_t* from, std::int64_t count, float* to) {
    constexpr float kHigh = 0x1.01p-8F, kLow = 0x1.010102p-24F;
    for (std::int64_t i = 0; i < count; ++i) {
        const float byte = static_cast<float>(from[i]);
        to[i] = byte * kHigh + byte * kLow;
    }
}

LATHE_WIDEST static void convert(const std::uint8_t* from, std::int64_t count, double* to) {
    for (std::int64_t i = 0; i < count; ++i)
        to[i] = static_cast<double>(from[i]) / 255.0;
}

void selectByteRows(const std::uint8_t* rows, std::int64_t width, const std::int64_t* index, std::int64_t count, float* out) {
    for (std::int64_t i = 0; i < count; ++i)
        convert(rows + index[i] * width, width, out + i * width);
}

void selectByteRows(const std::uint8_t* rows, std::int64_t width, const std::int64_t* index, std::int64_t count, double* out) {
    for (std::int64_t i = 0; i < count; ++i)
        convert(rows + index[i] * width, width, out + i * width);
}

}  // namespace lathe::engine
