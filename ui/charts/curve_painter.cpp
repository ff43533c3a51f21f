#include "charts/curve_painter.h"

#include "charts/raster.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace lathe::charts {

using session::PixelColumn;
using session::Series;

namespace {
constexpr double kLine = 1.5, kAbandonedLine = 1.2, kRawLine = 1.0;
constexpr double kDot = 2.4;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

QColor colorOf(EventKind kind, const Palette& palette) {
    switch (kind) {
    case EventKind::Error: return palette.danger;
    case EventKind::Warning: return palette.warning;
    case EventKind::Pause: return palette.paused;
    case EventKind::Resume: return palette.accent;
    case EventKind::Evaluation: return palette.success;
    case EventKind::Checkpoint:
    case EventKind::Other: break;
    }
    return palette.muted;
}

}  // namespace

CurvePainter::CurvePainter(QImage& image, const Scene& scene, double ratio, int left) : m_image(image), m_scene(scene), m_ratio(ratio), m_left(left) {
    const auto width = std::size_t(image.width());
    for (auto* flags : {&m_nonFinite, &m_nonPositive, &m_above, &m_below}) flags->assign(width, 0);
}

bool CurvePainter::marked() const {
    const auto any = [](const std::vector<unsigned char>& flags) { return std::find(flags.begin(), flags.end(), 1) != flags.end(); };
    return any(m_nonFinite);
}

void CurvePainter::paint() {
    // Back to front, over all curves: the noise of one must not hide the smoothed line of another.
    for (const Pass pass : {Pass{true, false}, Pass{true, true}, Pass{false, false}, Pass{false, true}}) paintPass(pass);
    paintEvents();
    if (m_scene.markClipped) {
        paintFlags(m_above, m_scene.palette->muted, Edge::Top, false);
        paintFlags(m_below, m_scene.palette->muted, Edge::Bottom, false);
    }
    paintFlags(m_nonPositive, m_scene.palette->warning, Edge::Bottom, false);
    paintFlags(m_nonFinite, m_scene.palette->danger, Edge::Bottom, true);
}

void CurvePainter::paintPass(Pass pass) {
    for (const Curve& curve : m_scene.curves) {
        if (!curve.visible) continue;
        const CurvePiece* before = nullptr;
        for (const CurvePiece& piece : curve.pieces) {
            if (piece.piece.abandoned != pass.abandoned) continue;
            const bool smoothed = piece.smoothing != nullptr;
            // An unsmoothed line belongs to the last pass of its kind, so that it lies above raw noise.
            if (smoothed || pass.smooth) paintPiece(curve, piece, smoothed && pass.smooth);
            if (pass.smooth && before && piece.piece.joined) join(curve, *before, piece);
            before = &piece;
        }
    }
}

CurvePainter::Stroke CurvePainter::strokeOf(const Curve& curve, const CurvePiece& piece, bool smooth) const {
    const Palette& palette = *m_scene.palette;
    const bool abandoned = piece.piece.abandoned;
    Stroke stroke{abandoned ? mix(curve.color, palette.surface, 0.62) : curve.color, abandoned ? kAbandonedLine : kLine};
    if (piece.smoothing && !smooth) stroke = {mix(stroke.color, palette.surface, abandoned ? 0.55 : palette.dark ? 0.66 : 0.70), kRawLine};
    if (smooth) stroke.width *= 1.15;
    stroke.width *= m_ratio;
    return stroke;
}

void CurvePainter::paintPiece(const Curve& curve, const CurvePiece& piece, bool smooth) {
    const Series& series = *piece.piece.series;
    const AxisMap& x = m_scene.x;
    const std::size_t a = std::max(piece.piece.begin, series.lowerBound(m_scene.axis, x.lo));
    const std::size_t b = std::min(piece.piece.end, series.lowerBound(m_scene.axis, x.hi));
    const std::size_t inView = b > a ? b - a : 0;
    if (!smooth) {
        series.columns(m_scene.axis, x.lo, x.hi, m_image.width(), m_columns, piece.piece.begin, piece.piece.end);
        flagColumns();
    }
    const Stroke stroke = strokeOf(curve, piece, smooth);
    if (inView < std::size_t(m_image.width()) * 3 / 2) {
        const bool everyPoint = curve.points || (!smooth && double(inView) < m_image.width() / m_ratio / 9);
        paintPoints(piece, smooth, everyPoint, stroke);
        return;
    }
    if (smooth) piece.smoothing->columns(m_scene.axis, x.lo, x.hi, m_image.width(), m_columns, piece.piece.begin, piece.piece.end);
    paintColumns(stroke);
}

void CurvePainter::flagColumns() {
    const AxisMap& y = m_scene.y;
    for (std::size_t k = 0; k < m_columns.size(); ++k) {
        const PixelColumn& column = m_columns[k];
        if (!column.count) continue;
        m_nonFinite[k] |= column.extent.nonFinite > 0;
        if (!column.extent.hasFinite()) continue;
        if (y.log && column.extent.min <= 0) m_nonPositive[k] = 1;
        m_above[k] |= double(column.extent.max) > y.hi;
        m_below[k] |= double(column.extent.min) < y.lo && !(y.log && column.extent.min <= 0);
    }
}

// Many points: the range of each column, stretched to touch the one before, so that no gap shows.
void CurvePainter::paintColumns(const Stroke& stroke) {
    const QRgb color = qPremultiply(stroke.color.rgba());
    const double height = m_image.height(), half = stroke.width / 2;
    const int reach = int(1.5 * half) + 2;  // of a steep segment beyond its ends
    const AxisMap& y = m_scene.y;
    const auto toPixel = [&](float value) { return std::clamp((1 - y.unit(double(value))) * height, -height, 2 * height); };
    double previousTop = 0, previousBottom = 0, previousX = 0;
    bool joined = false;
    for (std::size_t k = 0; k < m_columns.size(); ++k) {
        const PixelColumn& column = m_columns[k];
        if (!column.count) continue;  // no point here: the line goes on over it
        const float low = y.log && column.extent.min <= 0 ? column.extent.minPositive : column.extent.min;
        if (!column.extent.hasFinite() || !std::isfinite(low)) {
            joined = false;
            continue;
        }
        const double top = toPixel(column.extent.max), bottom = toPixel(low);
        const double middle = (top + bottom) / 2, previousMiddle = (previousTop + previousBottom) / 2;
        if (int(k) + reach < m_left) {  // only where the line comes from
        } else if (joined && bottom - top <= 1.3 * std::abs(middle - previousMiddle) + 1.5) {
            // The slope explains the height: a smooth line, which whole columns would turn into stairs.
            drawSegment(m_image, {previousX + 0.5, previousMiddle}, {double(k) + 0.5, middle}, half, color, m_left);
            if (int(k) >= m_left) fillColumn(m_image, int(k), top, bottom, color);
        } else if (int(k) < m_left) {
        } else if (joined) {
            fillColumn(m_image, int(k), std::min(top, previousBottom) - half, std::max(bottom, previousTop) + half, color);
        } else {
            fillColumn(m_image, int(k), top - half, bottom + half, color);
        }
        joined = true;
        previousX = double(k);
        previousTop = top;
        previousBottom = bottom;
    }
}

// Few points: true segments.
void CurvePainter::paintPoints(const CurvePiece& piece, bool smooth, bool everyPoint, const Stroke& stroke) {
    const Series& series = *piece.piece.series;
    const session::NumberColumn& xs = series.column(m_scene.axis);
    std::size_t a = std::max(piece.piece.begin, series.lowerBound(m_scene.axis, m_scene.x.lo));
    const std::size_t b = std::min({piece.piece.end, series.size(), series.lowerBound(m_scene.axis, m_scene.x.hi) + 1});
    if (a > piece.piece.begin) --a;  // the segments that cross the edges
    if (b <= a) return;
    const double width = m_image.width(), height = m_image.height();
    const QRgb color = qPremultiply(stroke.color.rgba());
    std::vector<QPointF> dots;
    QPointF previous;
    bool havePrevious = false, lone = false;
    for (std::size_t i = a; i < b; ++i) {
        const double value = smooth ? piece.smoothing->at(i) : double(series.at(i));
        const double unit = std::isfinite(value) ? m_scene.y.unit(value) : kNaN;
        if (std::isnan(unit)) {
            if (lone) dots.push_back(previous);
            havePrevious = lone = false;
            continue;
        }
        const QPointF point(m_scene.x.unit(xs.at(i)) * width, std::clamp((1 - unit) * height, -2 * height, 3 * height));
        if (havePrevious && std::max(previous.x(), point.x()) + 1 + stroke.width > m_left) drawSegment(m_image, previous, point, stroke.width / 2, color, m_left);
        lone = !havePrevious;
        havePrevious = true;
        previous = point;
        if (everyPoint) dots.push_back(point);
    }
    if (lone) dots.push_back(previous);
    paintDots(dots, stroke.color);
}

void CurvePainter::paintDots(const std::vector<QPointF>& dots, const QColor& color) {
    if (dots.empty()) return;
    QPainter painter(&m_image);
    begin(painter);
    painter.setBrush(color);
    for (const QPointF& dot : dots)
        if (dot.x() + kDot * m_ratio + 1 > m_left) painter.drawEllipse(dot, kDot * m_ratio, kDot * m_ratio);
}

void CurvePainter::begin(QPainter& painter) const {
    if (m_left > 0) painter.setClipRect(m_left, 0, m_image.width() - m_left, m_image.height());
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
}

// The surviving line goes on: the last point of a piece leads to the first of the next.
void CurvePainter::join(const Curve& curve, const CurvePiece& from, const CurvePiece& to) {
    const std::size_t last = std::min(from.piece.end, from.piece.series->size()), first = to.piece.begin;
    if (last <= from.piece.begin || first >= to.piece.series->size()) return;
    const auto place = [&](const CurvePiece& piece, std::size_t i) {
        const double value = piece.smoothing ? piece.smoothing->at(i) : double(piece.piece.series->at(i));
        return QPointF(m_scene.x.unit(piece.piece.series->xAt(i, m_scene.axis)) * m_image.width(),
                       (1 - (std::isfinite(value) ? m_scene.y.unit(value) : kNaN)) * m_image.height());
    };
    const QPointF a = place(from, last - 1), b = place(to, first);
    if (!std::isfinite(a.y()) || !std::isfinite(b.y()) || b.x() < 0 || a.x() > m_image.width()) return;
    const Stroke stroke = strokeOf(curve, to, to.smoothing != nullptr);
    drawSegment(m_image, a, b, stroke.width / 2, qPremultiply(stroke.color.rgba()), m_left);
}

void CurvePainter::paintEvents() {
    QPainter painter(&m_image);
    begin(painter);
    const double r = kDiamond * m_ratio;
    for (const std::size_t i : shownEvents(m_scene, m_image.width() / m_ratio)) {
        const ChartEvent& event = m_scene.events[i];
        const double x = std::clamp(m_scene.x.unit(event.x) * m_image.width(), r, m_image.width() - r);
        painter.setBrush(colorOf(event.kind, *m_scene.palette));
        painter.drawPolygon(QPolygonF({{x, 0}, {x + r, r}, {x, 2 * r}, {x - r, r}}));
    }
}

// Flagged columns that are close become one strip: 100,000 of them cost one rectangle.
void CurvePainter::paintFlags(const std::vector<unsigned char>& flags, const QColor& color, Edge edge, bool triangle) {
    QPainter painter(&m_image);
    begin(painter);
    painter.setBrush(color);
    const double height = m_image.height(), strip = 3 * m_ratio, y = edge == Edge::Top ? 0 : height - strip;
    for (int k = 0, n = m_image.width(); k < n;) {
        if (!flags[std::size_t(k)]) {
            ++k;
            continue;
        }
        int end = k, gap = 0;
        while (end + gap < n && gap <= 3 * m_ratio) {
            if (flags[std::size_t(end + gap)]) {
                end += gap + 1;
                gap = 0;
            } else {
                ++gap;
            }
        }
        const double width = std::max(double(end - k), 2 * m_ratio), middle = k + (end - k) / 2.0;
        painter.drawRect(QRectF(middle - width / 2, y, width, strip));
        if (triangle)
            painter.drawPolygon(QPolygonF({{middle, height - 11 * m_ratio}, {middle + 5 * m_ratio, height - strip}, {middle - 5 * m_ratio, height - strip}}));
        k = end;
    }
}

}  // namespace lathe::charts
