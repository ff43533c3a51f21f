// Randomness as a function of purpose and place: nothing to save, nothing that a resume could restore wrongly.
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11): a counter and a key give four
// words; equal inputs give equal outputs on every machine.
#pragma once

#include <array>
#include <cstdint>

namespace lathe::plan {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// What a stream of random numbers is for. The number is part of every result: never renumber.
enum class Purpose : std::uint32_t { Order = 1, Split = 2, Augmentation = 3, Noise = 4, Weights = 5, Sampling = 6, Test = 100 };

/// A stream addressed by (seed, purpose, a, b): draws 0, 1, 2 … of it.
class Stream {
public:
    Stream(std::uint64_t seed, Purpose purpose, std::uint64_t a = 0, std::uint32_t b = 0);

    std::uint32_t next();
    /// Uniform in [0, n) without bias. Requires: n > 0.
    std::uint64_t below(std::uint64_t n);
    /// Uniform in [0, 1), 53 bits.
    double uniform();
    /// Standard normal (Box-Muller, two draws each).
    double normal();

private:
    std::array<std::uint32_t, 2> m_key;
    std::array<std::uint32_t, 4> m_counter;
    std::array<std::uint32_t, 4> m_block{};
    int m_used = 4;
};

}  // namespace lathe::plan
