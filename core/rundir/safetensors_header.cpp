#include "rundir/safetensors_header.h"

#include "base/descriptor.h"
#include "base/file_system.h"
#include "rundir/json_reader.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <span>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace lathe::rundir {

using nlohmann::json;

static constexpr std::uint64_t kMaxHeaderBytes = 16u << 20;
static constexpr std::size_t kMaxTensors = 1'000'000;
static constexpr std::size_t kMaxNameBytes = 1024;
static constexpr std::size_t kMaxRank = 8;
static constexpr std::size_t kDataAlignment = 64;
static constexpr const char* kMetadata = "__metadata__";

std::size_t elementBytes(std::string_view dtype) {
    static constexpr std::array<std::pair<std::string_view, std::size_t>, 10> kTypes = {{
        {"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8}, {"I32", 4}, {"I16", 2}, {"I8", 1}, {"U8", 1}, {"BOOL", 1},
    }};
    for (const auto& [word, bytes] : kTypes) {
        if (word == dtype) return bytes;
    }
    return 0;
}

std::optional<std::uint64_t> tensorBytes(std::string_view dtype, const std::vector<std::int64_t>& shape) {
    std::uint64_t bytes = elementBytes(dtype);
    if (bytes == 0 || shape.size() > kMaxRank) return std::nullopt;
    for (const std::int64_t length : shape) {
        if (length < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(length), &bytes)) return std::nullopt;
    }
    if (bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return bytes;
}

static Error corrupt(const std::string& file, const std::string& why) {
    return {ErrorCode::Corrupt, file + " is damaged or not a safetensors file: " + why, {}, {}};
}

static Result<std::uint64_t> headerLength(std::string_view start, std::uint64_t fileBytes, const std::string& file) {
    if (start.size() < 8 || fileBytes < 8) return corrupt(file, "shorter than 8 bytes");
    std::uint64_t length = 0;
    for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<unsigned char>(start[static_cast<std::size_t>(i)]);
    if (length > kMaxHeaderBytes) return corrupt(file, "its header claims " + std::to_string(length) + " bytes, at most 16 MiB are allowed");
    if (length > fileBytes - 8) return corrupt(file, "its header is longer than the file");
    return length;
}

static Result<TensorRange> readRange(const json& entry, const std::string& name, std::uint64_t dataStart, std::uint64_t fileBytes,
                                     const std::string& file) {
    JsonReader reader(entry, file, name.substr(0, 200) + ".");
    TensorRange range;
    range.dtype = reader.text("dtype");
    range.shape = reader.integers("shape");
    const std::vector<std::int64_t> offsets = reader.integers("data_offsets");
    LATHE_TRY(reader.check());
    const auto bad = [&](const std::string& why) { return corrupt(file, "tensor \"" + name.substr(0, 200) + "\" " + why); };
    if (elementBytes(range.dtype) == 0) return bad("has the unknown type \"" + range.dtype.substr(0, 20) + "\"");
    const auto bytes = tensorBytes(range.dtype, range.shape);
    if (!bytes) return bad("has a shape that is not possible");
    if (offsets.size() != 2 || offsets[0] < 0 || offsets[1] < offsets[0]) return bad("has bad data_offsets");
    range.begin = static_cast<std::uint64_t>(offsets[0]);
    range.end = static_cast<std::uint64_t>(offsets[1]);
    if (range.end > fileBytes - dataStart) return bad("reaches beyond the end of the file");
    if (range.end - range.begin != *bytes) return bad("has another size than its shape and type say");
    range.begin += dataStart;
    range.end += dataStart;
    return range;
}

/// Sorted by place the tensors must follow each other and fill the file to its end.
static Result<void> checkCover(const SafetensorsHeader& header, std::uint64_t dataStart, std::uint64_t fileBytes, const std::string& file) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    ranges.reserve(header.tensors.size());
    for (const auto& [name, range] : header.tensors) ranges.emplace_back(range.begin, range.end);
    std::sort(ranges.begin(), ranges.end());
    std::uint64_t place = dataStart;
    for (const auto& [begin, end] : ranges) {
        if (begin < place) return corrupt(file, "two tensors overlap");
        if (begin > place) return corrupt(file, "there is a hole between two tensors");
        place = end;
    }
    if (place != fileBytes) return corrupt(file, std::to_string(fileBytes - place) + " bytes belong to no tensor");
    return {};
}

Result<SafetensorsHeader> parseSafetensorsHeader(std::string_view start, std::uint64_t fileBytes, const std::string& fileName) {
    LATHE_TRY_ASSIGN(const std::uint64_t length, headerLength(start, fileBytes, fileName));
    if (start.size() - 8 < length) return corrupt(fileName, "it ends inside its header");
    const std::string_view text = start.substr(8, static_cast<std::size_t>(length));
    if (text.empty() || text.front() != '{') return corrupt(fileName, "its header does not begin with {");
    LATHE_TRY_ASSIGN(const json object, parseStrict(text, fileName));
    if (!object.is_object()) return corrupt(fileName, "its header is not an object");
    if (object.size() > kMaxTensors + 1) return corrupt(fileName, "more than a million tensors");
    const std::uint64_t dataStart = 8 + length;
    SafetensorsHeader header;
    for (const auto& [name, entry] : object.items()) {
        if (name.size() > kMaxNameBytes) return corrupt(fileName, "a tensor's name is longer than 1 KiB");
        if (name == kMetadata) {
            JsonReader reader(object, fileName);
            header.metadata = reader.textMap(kMetadata);
            LATHE_TRY(reader.check());
            continue;
        }
        LATHE_TRY_ASSIGN(TensorRange range, readRange(entry, name, dataStart, fileBytes, fileName));
        header.tensors.emplace(name, std::move(range));
    }
    LATHE_TRY(checkCover(header, dataStart, fileBytes, fileName));
    return header;
}

Result<SafetensorsHeader> readSafetensorsHeader(int fd, const std::string& fileName) {
    struct stat info {};
    if (::fstat(fd, &info) != 0) return fileError("read", fileName, errno);
    if (!S_ISREG(info.st_mode)) return corrupt(fileName, "not a regular file");
    const auto fileBytes = static_cast<std::uint64_t>(info.st_size);
    if (fileBytes < 8) return corrupt(fileName, "shorter than 8 bytes");
    std::string start(8, '\0');
    LATHE_TRY(readAt(fd, 0, std::as_writable_bytes(std::span(start)), fileName));
    LATHE_TRY_ASSIGN(const std::uint64_t length, headerLength(start, fileBytes, fileName));
    start.resize(static_cast<std::size_t>(8 + length));
    LATHE_TRY(readAt(fd, 0, std::as_writable_bytes(std::span(start)), fileName));
    return parseSafetensorsHeader(start, fileBytes, fileName);
}

Result<SafetensorsHeader> readSafetensorsHeader(const std::string& path) {
    const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd) return fileError("read", path, errno);
    return readSafetensorsHeader(fd.get(), path);
}

std::string makeSafetensorsHeader(std::vector<std::pair<std::string, TensorRange>>& tensors, const std::map<std::string, std::string>& metadata) {
    json object = json::object();
    if (!metadata.empty()) object[kMetadata] = metadata;
    std::uint64_t place = 0;
    for (auto& [name, range] : tensors) {
        const auto bytes = tensorBytes(range.dtype, range.shape);
        LATHE_ASSERT(bytes.has_value() && !object.contains(name));
        range.begin = place;
        range.end = place + *bytes;
        place = range.end;
        object[name] = {{"dtype", range.dtype}, {"shape", range.shape}, {"data_offsets", {range.begin, range.end}}};
    }
    std::string text = object.dump();
    text.append((kDataAlignment - (8 + text.size()) % kDataAlignment) % kDataAlignment, ' ');
    std::string out;
    for (int i = 0; i < 8; ++i) out += static_cast<char>(static_cast<std::uint64_t>(text.size()) >> (8 * i) & 0xff);
    out += text;
    for (auto& [name, range] : tensors) {
        range.begin += out.size();
        range.end += out.size();
    }
    return out;
}

}  // namespace lathe::rundir
