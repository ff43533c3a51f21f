#include "tensorboard/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

namespace lathe::tensorboard {

static constexpr std::array<std::uint32_t, 256> kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = value & 1 ? value >> 1 ^ 0x82f63b78u : value >> 1;
        table[i] = value;
    }
    return table;
}();

static std::uint32_t byTable(std::uint32_t crc, std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) crc = kTable[(crc ^ static_cast<std::uint32_t>(byte)) & 0xff] ^ crc >> 8;
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static std::uint32_t byInstruction(std::uint32_t crc, std::span<const std::byte> bytes) {
    std::uint64_t wide = crc;
    std::size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, sizeof word);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = static_cast<std::uint32_t>(wide);
    for (; at < bytes.size(); ++at) crc = __builtin_ia32_crc32qi(crc, static_cast<unsigned char>(bytes[at]));
    return crc;
}
#endif

std::uint32_t crc32c(std::span<const std::byte> bytes) {
#if defined(__x86_64__)
    static const bool hasInstruction = __builtin_cpu_supports("sse4.2") != 0;
    if (hasInstruction) return ~byInstruction(~0u, bytes);
#endif
    return ~byTable(~0u, bytes);
}

std::uint32_t maskedCrc(std::span<const std::byte> bytes) {
    return std::rotr(crc32c(bytes), 15) + 0xa282ead8u;
}

}  // namespace lathe::tensorboard
