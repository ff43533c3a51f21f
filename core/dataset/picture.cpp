#include "dataset/picture.h"

#include "plan/random.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lathe::dataset {
namespace {

constexpr int kWeightBits = 22;

/// One output position: which input pixels count, and how much each.
struct Tap {
    int first = 0;
    std::vector<std::int32_t> weights;
};

/// Taps of the output positions [begin, begin + count) of a line that shrinks or grows from `input` to `output` pixels.
std::vector<Tap> tapsFor(int input, std::int64_t output, std::int64_t begin, int count) {
    const double scale = static_cast<double>(input) / static_cast<double>(output);
    const double support = std::max(1.0, scale);
    std::vector<Tap> taps(static_cast<std::size_t>(count));
    std::vector<double> raw;
    for (int x = 0; x < count; ++x) {
        const double centre = (static_cast<double>(begin + x) + 0.5) * scale;
        const int first = std::max(0, static_cast<int>(centre - support + 0.5));
        const int last = std::min(input, static_cast<int>(centre + support + 0.5));
        raw.clear();
        double sum = 0;
        for (int i = first; i < last; ++i) {
            raw.push_back(std::max(0.0, 1.0 - std::abs((i - centre + 0.5) / support)));
            sum += raw.back();
        }
        Tap& tap = taps[static_cast<std::size_t>(x)];
        tap.first = first;
        for (const double weight : raw)
            tap.weights.push_back(static_cast<std::int32_t>(std::lround(weight / sum * (1 << kWeightBits))));
    }
    return taps;
}

std::uint8_t rounded(std::int32_t sum) {
    return static_cast<std::uint8_t>(std::clamp((sum + (1 << (kWeightBits - 1))) >> kWeightBits, 0, 255));
}

/// `lines` independent lines, the pixels of each `stride` bytes apart.
struct Layout {
    int lines;
    std::size_t inputLine, inputStride, outputLine, outputStride;
};

void filterLines(const std::uint8_t* input, std::uint8_t* output, const Layout& layout, const std::vector<Tap>& taps,
                 int channels) {
    for (int line = 0; line < layout.lines; ++line) {
        const std::uint8_t* from = input + static_cast<std::size_t>(line) * layout.inputLine;
        std::uint8_t* to = output + static_cast<std::size_t>(line) * layout.outputLine;
        for (const Tap& tap : taps) {
            const std::uint8_t* at = from + static_cast<std::size_t>(tap.first) * layout.inputStride;
            for (int c = 0; c < channels; ++c) {
                std::int32_t sum = 0;  // at most 255 * 2^22
                const std::uint8_t* pixel = at + c;
                for (const std::int32_t weight : tap.weights) {
                    sum += weight * *pixel;
                    pixel += layout.inputStride;
                }
                to[c] = rounded(sum);
            }
            to += layout.outputStride;
        }
    }
}

Picture emptyPicture(int width, int height, int channels) {
    Picture picture{width, height, channels, {}};
    picture.pixels.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * static_cast<std::size_t>(channels));
    return picture;
}

/// A part of the scaled picture. Only what the part needs is computed, however long the whole would become.
struct Region {
    std::int64_t left, top;
    int width, height;
};

Picture scaledPart(const Picture& picture, std::int64_t width, std::int64_t height, const Region& part) {
    const auto channels = static_cast<std::size_t>(picture.channels);
    const std::vector<Tap> across = tapsFor(picture.width, width, part.left, part.width);
    std::vector<Tap> down = tapsFor(picture.height, height, part.top, part.height);
    const int firstRow = down.front().first;
    const int endRow = down.back().first + static_cast<int>(down.back().weights.size());
    for (Tap& tap : down) tap.first -= firstRow;

    const std::size_t inputRow = static_cast<std::size_t>(picture.width) * channels;
    const std::size_t outputRow = static_cast<std::size_t>(part.width) * channels;
    Picture rows = emptyPicture(part.width, endRow - firstRow, picture.channels);
    filterLines(picture.pixels.data() + static_cast<std::size_t>(firstRow) * inputRow, rows.pixels.data(),
                {rows.height, inputRow, channels, outputRow, channels}, across, picture.channels);
    Picture result = emptyPicture(part.width, part.height, picture.channels);
    filterLines(rows.pixels.data(), result.pixels.data(), {part.width, channels, outputRow, channels, outputRow}, down,
                picture.channels);
    return result;
}

}  // namespace

Picture withChannels(Picture picture, int channels) {
    if (picture.channels == channels) return picture;
    Picture result = emptyPicture(picture.width, picture.height, channels);
    const std::size_t pixels = picture.pixels.size() / static_cast<std::size_t>(picture.channels);
    const std::uint8_t* from = picture.pixels.data();
    std::uint8_t* to = result.pixels.data();
    for (std::size_t i = 0; i < pixels; ++i) {
        if (channels == 1) {
            const unsigned sum = 19595u * from[3 * i] + 38470u * from[3 * i + 1] + 7471u * from[3 * i + 2];
            to[i] = static_cast<std::uint8_t>((sum + 32768u) >> 16);
        } else {
            to[3 * i] = to[3 * i + 1] = to[3 * i + 2] = from[i];
        }
    }
    return result;
}

Picture scaled(const Picture& picture, int width, int height) {
    LATHE_ASSERT(width > 0 && height > 0 && picture.width > 0 && picture.height > 0);
    if (width == picture.width && height == picture.height) return picture;
    return scaledPart(picture, width, height, {0, 0, width, height});
}

Picture toSquare(const Picture& picture, int side, bool stretch) {
    LATHE_ASSERT(side > 0 && picture.width > 0 && picture.height > 0);
    if (stretch || picture.width == picture.height) return scaled(picture, side, side);
    const int shortSide = std::min(picture.width, picture.height);
    const std::int64_t width = std::int64_t{side} * picture.width / shortSide;
    const std::int64_t height = std::int64_t{side} * picture.height / shortSide;
    return scaledPart(picture, width, height, {(width - side) / 2, (height - side) / 2, side, side});
}

Picture fitted(const Picture& picture, int side) {
    LATHE_ASSERT(side > 0);
    const int longSide = std::max(picture.width, picture.height);
    if (longSide <= side) return picture;
    const auto shrunk = [&](int length) { return std::max(1, static_cast<int>(std::int64_t{side} * length / longSide)); };
    return scaled(picture, shrunk(picture.width), shrunk(picture.height));
}

Picture PictureRule::apply(Picture picture) const {
    Picture alike = withChannels(std::move(picture), channels);
    return side > 0 ? toSquare(alike, side, stretch) : alike;
}

ImagenetScale imagenetScale(int channels) {
    if (channels == 1) return {{0.449}, {0.226}};
    return {{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}};
}

PixelWriter::PixelWriter(int width, int height, int channels, bool imagenet)
    : m_width(width), m_height(height), m_channels(channels),
      m_pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height)) {
    LATHE_ASSERT(channels == 1 || channels == 3);
    const ImagenetScale scale = imagenetScale(channels);
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
        for (std::size_t v = 0; v < 256; ++v) {
            const double unit = static_cast<double>(v) / 255.0;
            m_double[c][v] = imagenet ? (unit - scale.mean[c]) / scale.deviation[c] : unit;
            m_single[c][v] = imagenet ? static_cast<float>(m_double[c][v]) : static_cast<float>(v) / 255.0f;
        }
    }
}

template <typename T>
void PixelWriter::write(std::span<const std::uint8_t> pixels, std::int64_t sample, const Augmentation* augmentation,
                        std::span<T> out) const {
    LATHE_ASSERT(pixels.size() == elements() && out.size() == elements());
    bool flip = false;
    std::int64_t right = 0, down = 0;
    if (augmentation != nullptr && (augmentation->flip || augmentation->shift > 0)) {
        // 40 bits of the place are the sample's, 24 the epoch's
        const std::uint64_t place = static_cast<std::uint64_t>(augmentation->epoch) << 40 ^ static_cast<std::uint64_t>(sample);
        plan::Stream stream(augmentation->seed, plan::Purpose::Augmentation, place, augmentation->copy);
        flip = stream.below(2) == 1 && augmentation->flip;
        const std::int64_t reach = std::max<std::int64_t>(augmentation->shift, 0);
        right = static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(2 * reach + 1))) - reach;
        down = static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(2 * reach + 1))) - reach;
    }
    T* to = out.data();
    for (int c = 0; c < m_channels; ++c) {
        const auto& values = table(T{}, static_cast<std::size_t>(c));
        for (std::int64_t y = 0; y < m_height; ++y) {
            const std::int64_t fromY = y - down;
            const bool rowInside = fromY >= 0 && fromY < m_height;
            for (std::int64_t x = 0; x < m_width; ++x) {
                const std::int64_t fromX = flip ? m_width - 1 - (x - right) : x - right;
                const bool inside = rowInside && fromX >= 0 && fromX < m_width;
                *to++ = values[inside ? pixels[static_cast<std::size_t>((fromY * m_width + fromX) * m_channels + c)] : 0];
            }
        }
    }
}

template void PixelWriter::write(std::span<const std::uint8_t>, std::int64_t, const Augmentation*, std::span<float>) const;
template void PixelWriter::write(std::span<const std::uint8_t>, std::int64_t, const Augmentation*, std::span<double>) const;

}  // namespace lathe::dataset
