#include "charts/raster.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace lathe::charts {

namespace {

/// `source` is premultiplied, `coverage` 0..255.
void blend(QRgb* target, std::uint32_t source, std::uint32_t coverage) {
    const std::uint32_t redBlue = (source & 0xff00ff) * coverage, alphaGreen = ((source >> 8) & 0xff00ff) * coverage;
    const std::uint32_t inverse = 255 - ((alphaGreen >> 24) & 0xff);
    const std::uint32_t oldRedBlue = (*target & 0xff00ff) * inverse, oldAlphaGreen = ((*target >> 8) & 0xff00ff) * inverse;
    *target = (((redBlue + oldRedBlue) >> 8) & 0xff00ff) | ((alphaGreen + oldAlphaGreen) & 0xff00ff00);
}

/// A run from `from` to `to` along a line of `length` pixels that are `step` apart.
void fillRun(QRgb* line, std::ptrdiff_t step, int length, double from, double to, QRgb color) {
    from = std::clamp(from, 0.0, double(length));
    to = std::clamp(to, 0.0, double(length));
    int i = int(from);
    const int last = int(to);
    QRgb* pixel = line + i * step;
    if (i == last) {
        if (i < length) blend(pixel, color, std::uint32_t((to - from) * 255));
        return;
    }
    const bool opaque = color >> 24 == 255;
    if (from > i) {
        blend(pixel, color, std::uint32_t((i + 1 - from) * 255));
        ++i;
        pixel += step;
    }
    for (; i < last; ++i, pixel += step) {
        if (opaque) *pixel = color;
        else blend(pixel, color, 255);
    }
    if (last < length) blend(pixel, color, std::uint32_t((to - last) * 255));
}

}  // namespace

void fillColumn(QImage& image, int x, double top, double bottom, QRgb color) {
    fillRun(reinterpret_cast<QRgb*>(image.bits()) + x, image.bytesPerLine() / 4, image.height(), top, bottom, color);
}

void drawSegment(QImage& image, QPointF a, QPointF b, double half, QRgb color, int left) {
    const int width = image.width(), height = image.height();
    const std::ptrdiff_t stride = image.bytesPerLine() / 4;
    QRgb* const bits = reinterpret_cast<QRgb*>(image.bits());
    const double dx = b.x() - a.x(), dy = b.y() - a.y();
    const double halfRun = half * std::hypot(dx, dy) / std::max({std::abs(dx), std::abs(dy), 1e-9});
    // Runs across the long axis; ends outside the image are cut before the loop, however far away they are.
    if (std::abs(dx) >= std::abs(dy)) {
        if (dx < 0) std::swap(a, b);
        const double slope = dx == 0 ? 0 : dy / dx;
        const int first = int(std::clamp(a.x() - 0.5, double(left), double(width))), last = int(std::clamp(b.x() + 0.5, -1.0, width - 1.0));
        for (int x = first; x <= last; ++x) {
            const double y = a.y() + slope * (std::clamp(x + 0.5, a.x(), b.x()) - a.x());
            fillRun(bits + x, stride, height, y - halfRun, y + halfRun, color);
        }
    } else {
        if (dy < 0) std::swap(a, b);
        const double slope = dx / dy;
        const int first = int(std::clamp(a.y() - 0.5, 0.0, double(height))), last = int(std::clamp(b.y() + 0.5, -1.0, height - 1.0));
        for (int y = first; y <= last; ++y) {
            const double x = a.x() + slope * (std::clamp(y + 0.5, a.y(), b.y()) - a.y());
            if (x + halfRun > left) fillRun(bits + y * stride, 1, width, std::max(double(left), x - halfRun), x + halfRun, color);
        }
    }
}

}  // namespace lathe::charts
