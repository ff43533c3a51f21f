#include "engine/model/dropout_kernel.h"

#include "engine/widest_vectors.h"

#include <algorithm>

namespace lathe::engine {
namespace {

constexpr int kLanes = 16;
using Group = std::uint32_t[kDropoutGroup];

}  // namespace

LATHE_WIDEST static void groupWords(std::uint64_t group, const DropoutKey& key, Group& words) {
    std::uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        const std::uint64_t block = group * kLanes + lane;
        c0[lane] = static_cast<std::uint32_t>(block);
        c1[lane] = static_cast<std::uint32_t>(block >> 32);
        c2[lane] = key.place[0];
        c3[lane] = key.place[1];
    }
    std::uint32_t k0 = key.key[0], k1 = key.key[1];
    for (int round = 0; round < 10; ++round) {
        for (int lane = 0; lane < kLanes; ++lane) {
            const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c0[lane];
            const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * c2[lane];
            c0[lane] = static_cast<std::uint32_t>(p1 >> 32) ^ c1[lane] ^ k0;
            c1[lane] = static_cast<std::uint32_t>(p1);
            c2[lane] = static_cast<std::uint32_t>(p0 >> 32) ^ c3[lane] ^ k1;
            c3[lane] = static_cast<std::uint32_t>(p0);
        }
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    for (int lane = 0; lane < kLanes; ++lane) {
        words[lane] = c0[lane];
        words[kLanes + lane] = c1[lane];
        words[2 * kLanes + lane] = c2[lane];
        words[3 * kLanes + lane] = c3[lane];
    }
}

namespace {

template <typename Number>
void apply(const Number* in, Number* out, std::uint64_t first, std::uint64_t count, const DropoutKey& key, std::uint32_t threshold, Number scale) {
    Group words;
    std::uint64_t done = 0;
    while (done < count) {
        const std::uint64_t element = first + done, offset = element % kDropoutGroup;
        const std::uint64_t n = std::min(kDropoutGroup - offset, count - done);
        groupWords(element / kDropoutGroup, key, words);
        for (std::uint64_t i = 0; i < n; ++i)
            out[done + i] = in[done + i] * (words[offset + i] >= threshold ? scale : Number(0));
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
