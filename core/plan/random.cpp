#include "plan/random.h"

#include "base/error.h"

#include <cmath>
#include <numbers>

namespace lathe::plan {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter[0];
        const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter[2];
        counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
                   static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
        key[0] += 0x9E3779B9u;
        key[1] += 0xBB67AE85u;
    }
    return counter;
}

// The counter's first word counts blocks; the others hold the place. A purpose enters the key, so that streams of
// different purposes never meet.
Stream::Stream(std::uint64_t seed, Purpose purpose, std::uint64_t a, std::uint32_t b)
    : m_key{static_cast<std::uint32_t>(seed),
            static_cast<std::uint32_t>(seed >> 32) ^ (static_cast<std::uint32_t>(purpose) * 0x9E3779B1u)},
      m_counter{0, b, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32)} {}

std::uint32_t Stream::next() {
    if (m_used == 4) {
        m_block = philox(m_counter, m_key);
        ++m_counter[0];
        m_used = 0;
    }
    return m_block[static_cast<std::size_t>(m_used++)];
}

std::uint64_t Stream::below(std::uint64_t n) {
    LATHE_ASSERT(n > 0);
    if (n <= 1) return 0;
    // Lemire's multiplication with rejection, 32 bits where they suffice.
    if (n <= 0xFFFFFFFFull) {
        const auto small = static_cast<std::uint32_t>(n);
        const std::uint32_t threshold = (0u - small) % small;
        while (true) {
            const std::uint64_t product = std::uint64_t{next()} * small;
            if (static_cast<std::uint32_t>(product) >= threshold) return product >> 32;
        }
    }
    const std::uint64_t threshold = (0ull - n) % n;
    while (true) {
        const std::uint64_t high = next();
        const std::uint64_t value = high << 32 | next();
        const auto product = static_cast<unsigned __int128>(value) * n;
        if (static_cast<std::uint64_t>(product) >= threshold) return static_cast<std::uint64_t>(product >> 64);
    }
}

double Stream::uniform() {
    const std::uint64_t high = next() >> 5, low = next() >> 6;
    return static_cast<double>(high << 26 | low) * 0x1p-53;
}

double Stream::normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace lathe::plan
