#include "dataset/image_file.h"

#include "dataset/byte_source.h"
#include "dataset/image_codec.h"
#include "dataset/wording.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace lathe::dataset {
namespace {

constexpr std::uint64_t kMaxPixels = 100'000'000;
constexpr std::uint64_t kDecodeBytes = std::uint64_t{1} << 30;
constexpr std::size_t kTailBytes = 4096;
constexpr std::uint32_t kOrientationTag = 0x0112;

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

enum class Kind { Jpeg, Png, Other };

/// Waits until the bytes fit beside what other threads decode; a picture larger than the bound decodes alone.
class DecodeTicket {
public:
    explicit DecodeTicket(std::uint64_t bytes) : m_bytes(bytes) {
        std::unique_lock lock(s_mutex);
        s_released.wait(lock, [&] { return s_inUse == 0 || s_inUse + m_bytes <= kDecodeBytes; });
        s_inUse += m_bytes;
    }
    ~DecodeTicket() {
        {
            const std::lock_guard lock(s_mutex);
            s_inUse -= m_bytes;
        }
        s_released.notify_all();
    }
    DecodeTicket(const DecodeTicket&) = delete;
    DecodeTicket& operator=(const DecodeTicket&) = delete;

private:
    static inline std::mutex s_mutex;
    static inline std::condition_variable s_released;
    static inline std::uint64_t s_inUse = 0;
    std::uint64_t m_bytes;
};

Error badImage(const std::filesystem::path& path, const std::string& why) {
    return Error{ErrorCode::Data, path.string() + " " + why, {}, {}};
}

/// What a file that is neither JPEG nor PNG seems to be.
std::string otherKind(std::string_view head) {
    const auto has = [&](std::size_t at, std::string_view mark) {
        return head.size() >= at + mark.size() && head.substr(at, mark.size()) == mark;
    };
    std::string kind;
    if (has(0, "BM")) kind = "BMP";
    else if (has(0, "GIF8")) kind = "GIF";
    else if (has(0, "RIFF") && has(8, "WEBP")) kind = "WebP";
    else if (has(0, std::string_view("II*\0", 4)) || has(0, std::string_view("MM\0*", 4))) kind = "TIFF";
    else if (has(4, "ftyp")) kind = "HEIC, AVIF or video";
    if (kind.empty()) return "is no JPEG or PNG picture";
    return "is a " + kind + " file: convert it to JPEG or PNG";
}

struct OpenedImage {
    File file;
    Kind kind = Kind::Other;
    std::unique_ptr<ImageCodec> codec;
    StoredSize size;
};

Result<OpenedImage> openImage(const std::filesystem::path& path) {
    LATHE_TRY_ASSIGN(const OpenFile opened, openRegular(path));
    OpenedImage image;
    image.file.reset(::fdopen(opened.descriptor, "rb"));
    if (!image.file) {
        ::close(opened.descriptor);
        return badImage(path, "cannot be read: memory is exhausted");
    }
    std::array<char, 16> bytes{};
    const std::string_view head(bytes.data(), std::fread(bytes.data(), 1, bytes.size(), image.file.get()));
    if (head.empty()) return badImage(path, "is empty");
    if (head.starts_with("\xFF\xD8\xFF")) image.kind = Kind::Jpeg;
    else if (head.starts_with("\x89PNG\r\n\x1A\n")) image.kind = Kind::Png;
    else return badImage(path, otherKind(head));
    std::rewind(image.file.get());
    image.codec = image.kind == Kind::Jpeg ? jpegCodec(image.file.get()) : pngCodec(image.file.get());
    if (!image.codec->readHeader(image.size)) return badImage(path, image.codec->why());
    const std::uint64_t pixels = std::uint64_t{image.size.width} * image.size.height;
    if (pixels == 0) return badImage(path, "has no pixels");
    if (pixels > kMaxPixels)
        return badImage(path, "is too large: " + std::to_string(image.size.width) + " x " + std::to_string(image.size.height) +
                                  " pixels, the limit is 100 megapixels");
    return image;
}

/// Whether the end mark stands among the last bytes. Where it does not, only decoding can tell.
bool endsWhole(const OpenedImage& image) {
    std::FILE* file = image.file.get();
    std::fseek(file, 0, SEEK_END);
    const long size = std::ftell(file);
    std::fseek(file, std::max(0L, size - static_cast<long>(kTailBytes)), SEEK_SET);
    std::array<char, kTailBytes> bytes{};
    const std::string_view tail(bytes.data(), std::fread(bytes.data(), 1, bytes.size(), file));
    return tail.find(image.kind == Kind::Jpeg ? "\xFF\xD9" : "IEND") != std::string_view::npos;
}

/// EXIF orientation: how rows and columns as stored become those to be seen.
Picture upright(Picture picture, int orientation) {
    if (orientation <= 1 || orientation > 8) return picture;
    const bool swap = orientation >= 5;
    const bool mirrorX = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    const bool mirrorY = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    Picture result{swap ? picture.height : picture.width, swap ? picture.width : picture.height, picture.channels, {}};
    result.pixels.resize(picture.pixels.size());
    const auto channels = static_cast<std::size_t>(picture.channels);
    std::uint8_t* to = result.pixels.data();
    for (int y = 0; y < result.height; ++y)
        for (int x = 0; x < result.width; ++x) {
            const int across = swap ? y : x, down = swap ? x : y;
            const int fromX = mirrorX ? picture.width - 1 - across : across;
            const int fromY = mirrorY ? picture.height - 1 - down : down;
            const std::size_t at = (static_cast<std::size_t>(fromY) * static_cast<std::size_t>(picture.width) +
                                    static_cast<std::size_t>(fromX)) * channels;
            to = std::copy_n(&picture.pixels[at], channels, to);
        }
    return result;
}

}  // namespace

int exifOrientation(std::span<const std::uint8_t> tiff) {
    if (tiff.size() < 8) return 1;
    const bool little = tiff[0] == 'I' && tiff[1] == 'I';
    if (!little && !(tiff[0] == 'M' && tiff[1] == 'M')) return 1;
    // bytes behind the end read as 0, which is no orientation
    const auto number = [&](std::size_t at, std::size_t bytes) {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < bytes; ++i) {
            const std::size_t place = at + (little ? bytes - 1 - i : i);
            value = value << 8 | (place < tiff.size() ? tiff[place] : 0u);
        }
        return value;
    };
    const std::size_t directory = number(4, 4);
    const std::size_t entries = number(directory, 2);
    for (std::size_t i = 0; i < entries && directory + 2 + 12 * (i + 1) <= tiff.size(); ++i) {
        const std::size_t entry = directory + 2 + 12 * i;
        if (number(entry, 2) != kOrientationTag) continue;
        const std::uint32_t value = number(entry + 8, 2);
        return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
    }
    return 1;
}

Result<ImageHeader> readImageHeader(const std::filesystem::path& path) {
    LATHE_TRY_ASSIGN(const OpenedImage image, openImage(path));
    ImageHeader header{static_cast<int>(image.size.width), static_cast<int>(image.size.height), image.size.channels == 3, false};
    if (image.size.orientation >= 5) std::swap(header.width, header.height);
    header.whole = endsWhole(image);
    return header;
}

Result<Picture> decodeImage(const std::filesystem::path& path, const PictureRule* rule) {
    LATHE_TRY_ASSIGN(const OpenedImage image, openImage(path));
    const std::uint64_t bytes = std::uint64_t{image.size.width} * image.size.height * static_cast<std::uint64_t>(image.size.channels);
    const DecodeTicket ticket(2 * bytes + image.size.workBytes);
    Picture picture{static_cast<int>(image.size.width), static_cast<int>(image.size.height), image.size.channels, {}};
    picture.pixels.resize(bytes);
    if (!image.codec->readPixels(picture.pixels)) return badImage(path, image.codec->why());
    picture = upright(std::move(picture), image.size.orientation);
    return rule != nullptr ? rule->apply(std::move(picture)) : std::move(picture);
}

}  // namespace lathe::dataset
