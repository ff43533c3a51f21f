// Anti-aliased runs and segments written straight into an image: five to ten times quicker than a wide QPainter line.
#pragma once

#include <QImage>
#include <QPointF>
#include <QRgb>

namespace lathe::charts {

/// A vertical run in pixel column `x` of a premultiplied ARGB32 image, from `top` to `bottom` in pixels.
void fillColumn(QImage& image, int x, double top, double bottom, QRgb color);
/// A segment `2 * half` pixels wide; pixels left of column `left` are not touched.
void drawSegment(QImage& image, QPointF a, QPointF b, double half, QRgb color, int left = 0);

}  // namespace lathe::charts
