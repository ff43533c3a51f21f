// CRC-32C (Castagnoli polynomial, as in RFC 3720) and its masked form, with which TensorFlow's record files protect
// lengths and payloads. Debian's package for it is one function of these few lines.
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lathe::tensorboard {

std::uint32_t crc32c(std::span<const std::byte> bytes);
/// Rotated right by 15 bits, plus 0xa282ead8.
std::uint32_t maskedCrc(std::span<const std::byte> bytes);

}  // namespace lathe::tensorboard
