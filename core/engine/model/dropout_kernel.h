// The random words of dropout and their use on floats, free of LibTorch.
#pragma once

#include <array>
#include <cstdint>

namespace lathe::engine {

/// What one call of dropout is addressed by, hashed to 128 bits.
struct DropoutKey {
    std::array<std::uint32_t, 2> key{};
    std::array<std::uint32_t, 2> place{};
};

/// Elements share random blocks in groups of 64: element e takes word (e % 64) / 16 of
/// Philox4x32-10(counter {b low, b high, place}, key) with b = e / 64 * 16 + e % 16. Word order is that of vector
/// registers, so that no shuffling is needed. Philox4x32-10 passes BigCrush (Salmon et al., SC'11).
inline constexpr std::uint64_t kDropoutGroup = 64;

/// out[i] = in[i] * (word(first + i) >= threshold ? scale : 0) for i in [0, count). `in` may be `out`.
/// Thread: pure; any partition of the elements gives the same numbers.
void dropoutKernel(const float* in, float* out, std::uint64_t first, std::uint64_t count, const DropoutKey& key,
                   std::uint32_t threshold, float scale);
void dropoutKernel(const double* in, double* out, std::uint64_t first, std::uint64_t count, const DropoutKey& key,
                   std::uint32_t threshold, double scale);

}  // namespace lathe::engine
