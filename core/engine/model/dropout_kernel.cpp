#include "engine/model/dropout_kernel.h"

#include "engine/widest_vectors.h"

#include <algorithm>

namespace lathe::engine {
namespace {

constexpr int kLanes = 16;
/// Groups computed together: their chains of products fill each other's waits, and all of it stays in 32 wide registers.
constexpr int kGroups = 2;
using Groups = std::uint32_t[kGroups * kDropoutGroup];

}  // namespace

LATHE_WIDEST static void groupWords(std::uint64_t group, const DropoutKey& key, Groups& words) {
    constexpr int kAll = kGroups * kLanes;
    // A word is the low half of 64 bits; what stands above it is of no account. So no lane is ever widened or narrowed.
    std::uint64_t c0[kAll], c1[kAll], c2[kAll], c3[kAll];
    for (std::uint32_t lane = 0; lane < kAll; ++lane) {
        const std::uint64_t block = group * kLanes + lane;
        c0[lane] = block;
        c1[lane] = block >> 32;
        c2[lane] = key.place[0];
        c3[lane] = key.place[1];
    }
    std::uint32_t k0 = key.key[0], k1 = key.key[1];
    for (int round = 0; round < 10; ++round) {
        for (int lane = 0; lane < kAll; ++lane) {
            const std::uint64_t p0 = std::uint64_t{0xD2511F53} * static_cast<std::uint32_t>(c0[lane]);
            const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * static_cast<std::uint32_t>(c2[lane]);
            c0[lane] = (p1 >> 32) ^ c1[lane] ^ k0;
            c1[lane] = p1;
            c2[lane] = (p0 >> 32) ^ c3[lane] ^ k1;
            c3[lane] = p0;
        }
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    for (int one = 0; one < kGroups; ++one)
        for (int lane = 0; lane < kLanes; ++lane) {
            std::uint32_t* to = words + one * kDropoutGroup + lane;
            const int from = one * kLanes + lane;
            to[0] = static_cast<std::uint32_t>(c0[from]);
            to[kLanes] = static_cast<std::uint32_t>(c1[from]);
            to[2 * kLanes] = static_cast<std::uint32_t>(c2[from]);
            to[3 * kLanes] = static_cast<std::uint32_t>(c3[from]);
        }
}

LATHE_WIDEST static void combine(const float* in, float* out, const std::uint32_t* words, std::uint64_t n, std::uint32_t threshold, float scale) {
    for (std::uint64_t i = 0; i < n; ++i) out[i] = in[i] * (words[i] >= threshold ? scale : 0.0f);
}

LATHE_WIDEST static void combine(const double* in, double* out, const std::uint32_t* words, std::uint64_t n, std::uint32_t threshold, double scale) {
    for (std::uint64_t i = 0; i < n; ++i) out[i] = in[i] * (words[i] >= threshold ? scale : 0.0);
}

namespace {

template <typename Number>
void apply(const Number* in, Number* out, std::uint64_t first, std::uint64_t count, const DropoutKey& key, std::uint32_t threshold, Number scale) {
    Groups words;
    std::uint64_t done = 0;
    while (done < count) {
        const std::uint64_t element = first + done, offset = element % kDropoutGroup;
        const std::uint64_t n = std::min(kGroups * kDropoutGroup - offset, count - done);
        groupWords(element / kDropoutGroup, key, words);
        combine(in + done, out + done, words + offset, n, threshold, scale);
        done += n;
    }
}

}  // namespace

void dropoutKernel(const float* in, float* out, std::uint64_t first, std::uint64_t count, const DropoutKey& key, std::uint32_t threshold, float scale) {
    apply(in, out, first, count, key, threshold, scale);
}

void dropoutKernel(const double* in, double* out, std::uint64_t first, std::uint64_t count, const DropoutKey& key, std::uint32_t threshold, double scale) {
    apply(in, out, first, count, key, threshold, scale);
}

}  // namespace lathe::engine
