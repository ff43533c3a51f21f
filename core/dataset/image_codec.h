// What image_file.cpp needs of a codec. A codec reads from a file that it does not own and reports failures as text.
// libjpeg and libpng report through longjmp: it stays inside the codec and never crosses an object with a destructor.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

namespace lathe::dataset {

struct StoredSize {
    std::uint32_t width = 0, height = 0;
    int channels = 0;             ///< 1 or 3, after decoding
    int orientation = 1;          ///< EXIF, 1 … 8
    std::uint64_t workBytes = 0;  ///< what decoding holds beside the pixels
};

class ImageCodec {
public:
    virtual ~ImageCodec() = default;
    virtual bool readHeader(StoredSize& size) = 0;
    /// Requires: readHeader() succeeded, `pixels` holds width * height * channels bytes.
    virtual bool readPixels(std::span<std::uint8_t> pixels) = 0;
    /// Why the last call failed: "is cut short or damaged (…)".
    const std::string& why() const { return m_why; }

protected:
    std::string m_why;
};

/// `file` stands at its beginning and stays open longer than the codec.
std::unique_ptr<ImageCodec> jpegCodec(std::FILE* file);
std::unique_ptr<ImageCodec> pngCodec(std::FILE* file);

/// The orientation in EXIF data (a TIFF header and what follows); 1 when there is none.
int exifOrientation(std::span<const std::uint8_t> tiff);

}  // namespace lathe::dataset
