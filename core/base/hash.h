// Content identity: XXH3 (128 bit). Detects damage and equal content; not a defence against forgery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace lathe {

/// 32 lower-case hexadecimal digits.
std::string hashHex(std::span<const std::byte> bytes);
std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed = 0);

/// The same hash over content that arrives in parts.
class Hasher {
public:
    Hasher();
    ~Hasher();
    Hasher(const Hasher&) = delete;
    Hasher& operator=(const Hasher&) = delete;

    void update(std::span<const std::byte> bytes);
    std::string hex() const;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

}  // namespace lathe
