// Header of a safetensors file, strictly checked: little-endian u64 length, JSON, then the bytes of the tensors without
// holes or overlap. Source of the format: huggingface/safetensors README. Knows no LibTorch.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lathe::rundir {

struct TensorRange {
    std::string dtype;                ///< F64 F32 F16 BF16 I64 I32 I16 I8 U8 BOOL
    std::vector<std::int64_t> shape;  ///< rank <= 8
    std::uint64_t begin = 0, end = 0; ///< offsets from the first byte of the file
};

struct SafetensorsHeader {
    std::map<std::string, TensorRange> tensors;
    std::map<std::string, std::string> metadata;
};

std::size_t elementBytes(std::string_view dtype);  ///< 0: unknown
/// Bytes of a whole tensor; nothing for an unknown type, a negative length, a rank over 8 or a size beyond 2^63.
std::optional<std::uint64_t> tensorBytes(std::string_view dtype, const std::vector<std::int64_t>& shape);
/// `start` holds the file's beginning, at least the whole header; `fileBytes` the size from fstat.
Result<SafetensorsHeader> parseSafetensorsHeader(std::string_view start, std::uint64_t fileBytes, const std::string& fileName);
/// Reads only the header of a file (one that a person named, or a descriptor from openBelow).
Result<SafetensorsHeader> readSafetensorsHeader(const std::string& path);
Result<SafetensorsHeader> readSafetensorsHeader(int fd, const std::string& fileName);
/// Length field and JSON, padded with spaces so that the data start 64-byte aligned; `tensors` in the order of their data,
/// sizes filled into begin/end.
std::string makeSafetensorsHeader(std::vector<std::pair<std::string, TensorRange>>& tensors, const std::map<std::string, std::string>& metadata);

}  // namespace lathe::rundir
