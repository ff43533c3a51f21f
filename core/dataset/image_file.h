// JPEG and PNG files, recognised by content, decoded by libjpeg-turbo and libpng.
//
// JPEG: baseline and progressive, gray and colour, CMYK as Adobe writes it (inverted). A file that is cut short or has bad
// codes is refused, not shown half grey. PNG: every kind; 16 bits are scaled to 8; an alpha channel is left off and the
// colours stay as stored. Colour profiles are not applied. The orientation in EXIF data is (JPEG and PNG).
// Limits: 100 megapixels a picture; all pictures being decoded at one time may take 1 GiB (a single larger one goes alone).
// Errors are ErrorCode::Data, "<path> <why>".
// Thread: safe from any thread.
#pragma once

#include "base/result.h"
#include "dataset/picture.h"

#include <filesystem>

namespace lathe::dataset {

struct ImageHeader {
    int width = 0, height = 0;  ///< as it is to be seen
    bool colour = false;        ///< three channels or a palette
    bool whole = false;         ///< its end mark is where it should be
};
/// Reads as little as it can.
Result<ImageHeader> readImageHeader(const std::filesystem::path& path);

/// As it is to be seen, 1 channel (gray files) or 3; `rule` null: as stored.
Result<Picture> decodeImage(const std::filesystem::path& path, const PictureRule* rule = nullptr);

}  // namespace lathe::dataset
