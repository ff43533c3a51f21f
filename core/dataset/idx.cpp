#include "dataset/idx.h"

#include "dataset/byte_source.h"
#include "dataset/source.h"
#include "dataset/wording.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace lathe::dataset {
namespace {

constexpr std::size_t kMaxDimensions = 4;
constexpr std::size_t kChunkBytes = std::size_t{16} << 20;

/// 0 for a type that does not exist.
std::size_t bytesOfType(std::uint8_t type) {
    switch (type) {
        case 0x08: case 0x09: return 1;
        case 0x0B: return 2;
        case 0x0C: case 0x0D: return 4;
        case 0x0E: return 8;
        default: return 0;
    }
}

bool plausibleHeader(std::span<const std::byte, 4> magic) {
    const auto dimensions = std::to_integer<std::size_t>(magic[3]);
    return magic[0] == std::byte{0} && magic[1] == std::byte{0} &&
           bytesOfType(std::to_integer<std::uint8_t>(magic[2])) > 0 && dimensions >= 1 && dimensions <= kMaxDimensions;
}

template <typename Word>
Word bigEndian(const std::byte* bytes) {
    Word word = 0;
    for (std::size_t i = 0; i < sizeof(Word); ++i)
        word = static_cast<Word>(word << 8 | std::to_integer<Word>(bytes[i]));
    return word;
}

std::string shapeText(const std::vector<std::int64_t>& dimensions) {
    std::string text;
    for (const std::int64_t dimension : dimensions) text += (text.empty() ? "" : " x ") + std::to_string(dimension);
    return text;
}

Result<IdxArray> readHeader(ByteSource& source, const std::string& key) {
    const std::string name = source.path().string();
    std::array<std::byte, 4> magic{};
    LATHE_TRY_ASSIGN(const std::size_t got, source.read(magic));
    if (got < magic.size()) return dataError(name + " is " + (got == 0 ? "empty" : "too short to be an IDX file"), key);
    if (!plausibleHeader(magic))
        return dataError(name + " is not an IDX file: it must begin with 00 00, a type and 1 to 4 dimensions", key);
    IdxArray array;
    array.type = std::to_integer<std::uint8_t>(magic[2]);
    std::vector<std::byte> sizes(4 * std::to_integer<std::size_t>(magic[3]));
    LATHE_TRY_ASSIGN(const std::size_t sizeBytes, source.read(sizes));
    if (sizeBytes < sizes.size()) return dataError(name + " is cut short within its header", key);
    double total = static_cast<double>(bytesOfType(array.type));
    for (std::size_t i = 0; i < sizes.size(); i += 4) {
        array.dimensions.push_back(bigEndian<std::uint32_t>(&sizes[i]));
        total *= static_cast<double>(array.dimensions.back());
    }
    if (total <= 0) return dataError(name + " holds no records: its header says " + shapeText(array.dimensions), key);
    LATHE_TRY(checkMemory(source.path(), total, key));
    return array;
}

}  // namespace

std::size_t IdxArray::count() const {
    std::size_t product = 1;
    for (const std::int64_t dimension : dimensions) product *= static_cast<std::size_t>(dimension);
    return product;
}

double IdxArray::value(std::size_t index) const {
    const std::byte* at = &bytes.at(index * bytesOfType(type));
    switch (type) {
        case 0x08: return std::to_integer<std::uint8_t>(*at);
        case 0x09: return static_cast<std::int8_t>(std::to_integer<std::uint8_t>(*at));
        case 0x0B: return static_cast<std::int16_t>(bigEndian<std::uint16_t>(at));
        case 0x0C: return static_cast<std::int32_t>(bigEndian<std::uint32_t>(at));
        case 0x0D: return std::bit_cast<float>(bigEndian<std::uint32_t>(at));
        default: return std::bit_cast<double>(bigEndian<std::uint64_t>(at));
    }
}

Result<IdxArray> readIdx(const std::filesystem::path& path, const std::string& key) {
    auto opened = ByteSource::open(path);
    if (!opened.ok()) {
        Error error = std::move(opened).error();
        error.key = key;
        return error;
    }
    ByteSource& source = *opened;
    LATHE_TRY_ASSIGN(IdxArray array, readHeader(source, key));
    const std::size_t wanted = array.count() * bytesOfType(array.type);
    const auto lengthError = [&](const std::string& holds) {
        return dataError(path.string() + " does not hold what its header says: " + shapeText(array.dimensions) + " values need " +
                             std::to_string(wanted) + " bytes, the file has " + holds + ". Fetch or write it again",
                         key);
    };
    // grown with what really comes, so that a header that promises too much costs nothing
    while (array.bytes.size() < wanted) {
        const std::size_t before = array.bytes.size();
        array.bytes.resize(std::min(wanted, before + std::max(kChunkBytes, before)));
        LATHE_TRY_ASSIGN(const std::size_t got, source.read(std::span(array.bytes).subspan(before)));
        if (before + got < array.bytes.size()) return lengthError(std::to_string(before + got));
    }
    std::array<std::byte, 1> more{};
    LATHE_TRY_ASSIGN(const std::size_t extra, source.read(more));
    if (extra > 0) return lengthError("more");
    return array;
}

bool looksLikeIdx(const std::filesystem::path& path) {
    auto source = ByteSource::open(path);
    if (!source.ok()) return false;
    std::array<std::byte, 4> magic{};
    const auto got = source->read(magic);
    return got.ok() && *got == magic.size() && plausibleHeader(magic);
}

std::filesystem::path labelsBeside(const std::filesystem::path& images) {
    std::string name = images.filename().string();
    if (name.ends_with(".gz")) name.resize(name.size() - 3);
    const auto replaceLast = [&](const std::string& what, const std::string& with) {
        const std::size_t at = name.rfind(what);
        if (at != std::string::npos) name.replace(at, what.size(), with);
        return at != std::string::npos;
    };
    if (!replaceLast("images", "labels")) return {};
    std::vector<std::string> candidates{name};
    for (const char* dimensions : {"idx2", "idx3", "idx4"})
        if (replaceLast(dimensions, "idx1")) candidates.insert(candidates.begin(), name);
    for (const std::string& candidate : candidates)
        for (const char* suffix : {"", ".gz"}) {
            const std::filesystem::path path = images.parent_path() / (candidate + suffix);
            std::error_code ignored;
            if (std::filesystem::is_regular_file(path, ignored)) return path;
        }
    return {};
}

}  // namespace lathe::dataset
