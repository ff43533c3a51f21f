// IDX files: two zero bytes, a type byte, the number of dimensions, each dimension as a big-endian 32-bit number, then the
// values, big-endian, last dimension fastest.
//   Pictures: unsigned bytes, [records, height, width], or four dimensions: [records, channels, height, width] where the
//             second is 1 or 3, else [records, height, width, channels] where the last is.
//   Features: any type, [records, features], taken as they are (no division by 255).
//   Answers:  any type, [records]; class numbers from 0, or the values of a regression.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lathe::dataset {

struct IdxArray {
    std::uint8_t type = 0x08;  ///< 08 u8, 09 i8, 0B i16, 0C i32, 0D f32, 0E f64
    std::vector<std::int64_t> dimensions;
    std::vector<std::byte> bytes;

    std::size_t count() const;             ///< product of the dimensions
    double value(std::size_t index) const;
};

/// `key` is named by errors. The file must hold exactly what its header says.
Result<IdxArray> readIdx(const std::filesystem::path& path, const std::string& key);

/// Whether the content (unpacked) begins like an IDX file.
bool looksLikeIdx(const std::filesystem::path& path);

/// The label file that lies beside an images file by the usual naming (…-images-idx3-ubyte -> …-labels-idx1-ubyte,
/// images.idx3-ubyte -> labels.idx1-ubyte, each also .gz), or an empty path.
std::filesystem::path labelsBeside(const std::filesystem::path& images);

}  // namespace lathe::dataset
