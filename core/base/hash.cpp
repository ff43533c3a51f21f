#include "base/hash.h"

#include "base/error.h"

#include <array>
#ifdef LATHE_XXH_DISPATCH
#include <xxh_x86dispatch.h>   // the same hashes by the widest instructions that the processor has: several times as fast
#else
#include <xxhash.h>
#endif

namespace lathe {
namespace {

std::string toHex(XXH128_hash_t digest) {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, digest);
    constexpr std::array kDigits{'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
    std::string text;
    text.reserve(32);
    for (const unsigned char byte : canonical.digest) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

}  // namespace

std::string hashHex(std::span<const std::byte> bytes) { return toHex(XXH3_128bits(bytes.data(), bytes.size())); }

std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed) {
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

struct Hasher::State {
    XXH3_state_t* xxh = XXH3_createState();
    ~State() { XXH3_freeState(xxh); }
};

Hasher::Hasher() : m_state(std::make_unique<State>()) {
    LATHE_ASSERT(m_state->xxh != nullptr);
    XXH3_128bits_reset(m_state->xxh);
}
Hasher::~Hasher() = default;

void Hasher::update(std::span<const std::byte> bytes) { XXH3_128bits_update(m_state->xxh, bytes.data(), bytes.size()); }
std::string Hasher::hex() const { return toHex(XXH3_128bits_digest(m_state->xxh)); }

}  // namespace lathe
