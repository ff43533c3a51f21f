// Pictures in memory and the one way from a stored picture to the input of a model:
//   channels -> resize -> (kept as bytes) -> flip, shift -> normalize, as channel, row, column.
//
// Channels: gray of colour is (19595 R + 38470 G + 7471 B + 32768) >> 16 (ITU-R 601); colour of gray repeats it.
// Resize: separable triangle filter whose half width is max(1, input / output) input pixels (so shrinking averages, no
// aliasing), first along rows, then along columns, each result rounded to a byte; weights are 22-bit integers, hence equal
// on every machine. This is what Pillow calls BILINEAR.
// crop: the short side becomes `side`, the long one floor(side * long / short), then the middle `side` pixels from
// (long - side) / 2 rounded down. stretch: both sides become `side`.
// Normalize: unit v / 255; imagenet (v / 255 - mean) / deviation with ImageNet's usual values, for gray 0.449 and 0.226.
// Augmentation: the flip is drawn first, then the shifts right and down; what a shift uncovers is black (0 before normalize).
#pragma once

#include "config/sections.h"
#include "dataset/dataset.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace lathe::dataset {

/// Rows from top to bottom, channels of a pixel side by side.
struct Picture {
    int width = 0, height = 0, channels = 0;  ///< channels 1 or 3
    std::vector<std::uint8_t> pixels;
};

Picture withChannels(Picture picture, int channels);
/// The whole picture scaled. Requires: sizes > 0.
Picture scaled(const Picture& picture, int width, int height);
/// "crop" or "stretch" to a square.
Picture toSquare(const Picture& picture, int side, bool stretch);
/// The largest size of the same shape that fits into side x side; small pictures stay as they are.
Picture fitted(const Picture& picture, int side);

/// How pictures become alike: what data.image_size, channels, resize and normalize say, with "auto" decided.
struct PictureRule {
    int channels = 1;
    int side = 0;        ///< 0: sizes stay
    bool stretch = false;
    bool imagenet = false;

    Picture apply(Picture picture) const;
};

/// What "imagenet" takes from each channel and then divides it by.
struct ImagenetScale {
    std::vector<double> mean, deviation;
};
ImagenetScale imagenetScale(int channels);

/// Bytes to inputs. Thread: immutable.
class PixelWriter {
public:
    PixelWriter() = default;
    PixelWriter(int width, int height, int channels, bool imagenet);

    std::size_t elements() const { return m_pixels * static_cast<std::size_t>(m_channels); }
    /// Requires: pixels and out hold elements().
    template <typename T>
    void write(std::span<const std::uint8_t> pixels, std::int64_t sample, const Augmentation* augmentation,
               std::span<T> out) const;

private:
    const std::array<float, 256>& table(float, std::size_t channel) const { return m_single[channel]; }
    const std::array<double, 256>& table(double, std::size_t channel) const { return m_double[channel]; }

    int m_width = 0, m_height = 0, m_channels = 0;
    std::size_t m_pixels = 0;
    std::array<std::array<float, 256>, 3> m_single{};
    std::array<std::array<double, 256>, 3> m_double{};
};

extern template void PixelWriter::write(std::span<const std::uint8_t>, std::int64_t, const Augmentation*,
                                        std::span<float>) const;
extern template void PixelWriter::write(std::span<const std::uint8_t>, std::int64_t, const Augmentation*,
                                        std::span<double>) const;

}  // namespace lathe::dataset
