#include "charts/curve_item.h"

#include "charts/curve_painter.h"

#include <QPainter>

#include <algorithm>
#include <bit>
#include <cmath>

namespace lathe::charts {

namespace {
constexpr double kPixelsPerEvaluation = 40;
constexpr double kReach = 7;            // how far a dot, half a line, or a strip at the edge reaches beyond its point
constexpr int kSnapping = 6;            // bits of the points a column from which columns may begin at whole buckets …
constexpr std::size_t kBucket = 64;     // … of at most this many points
}

void CurveItem::setArea(const QRectF& area) {
    if (area == m_area) return;
    prepareGeometryChange();
    m_area = area;
    invalidate();
}

void CurveItem::invalidate() {
    m_stale = true;
    update();
}

void CurveItem::grow() {
    const double ratio = m_image.devicePixelRatio();
    const int width = m_image.width();
    if (m_stale || m_image.isNull()) return update();
    const int left = firstChange(drawnNow(width, ratio), width, ratio);
    if (left >= width) return;
    m_grown = true;
    const double from = std::floor(left / ratio);
    update(m_area.adjusted(from, 0, 0, 0));
}

std::vector<CurveItem::Drawn> CurveItem::drawnNow(int width, double ratio) const {
    std::vector<Drawn> drawn;
    for (const Curve& curve : m_scene->curves)
        for (const CurvePiece& piece : curve.pieces) {
            const session::Series& series = *piece.piece.series;
            const std::size_t end = std::min(piece.piece.end, series.size());
            const std::size_t a = std::max(piece.piece.begin, series.lowerBound(m_scene->axis, m_scene->x.lo));
            const std::size_t b = std::min(end, series.lowerBound(m_scene->axis, m_scene->x.hi)), n = b > a ? b - a : 0;
            // The limits of CurvePainter and of the pyramids, which cut at powers of two points a column.
            const int sparse = double(n) < width / ratio / 9 ? 0 : n < std::size_t(width) * 3 / 2 ? 1 : 2;
            drawn.push_back({end, sparse + 3 * int(std::bit_width(n / std::size_t(std::max(1, width))))});
        }
    return drawn;
}

int CurveItem::firstChange(const std::vector<Drawn>& now, int width, double ratio) const {
    if (m_stale || m_marked || now.size() != m_drawn.size()) return 0;
    double first = width;
    std::size_t i = 0;
    for (const Curve& curve : m_scene->curves)
        for (const CurvePiece& piece : curve.pieces) {
            const Drawn& was = m_drawn[i];
            const Drawn& is = now[i++];
            if (was.density != is.density || is.end < was.end) return 0;
            if (is.end == was.end) continue;
            if (was.end <= piece.piece.begin) return 0;  // its first point: it may be joined to the piece before it
            const std::size_t old = was.end - 1;
            const std::size_t back = is.density >= 3 * kSnapping ? std::min(old - piece.piece.begin, kBucket) : 0;
            const double x = m_scene->x.unit(piece.piece.series->xAt(old - back, m_scene->axis)) * width;
            first = std::min(first, x - kReach * ratio - 2);
        }
    return int(std::clamp(first, 0.0, double(width)));
}

void CurveItem::render(double ratio) {
    const QSize size = (m_area.size() * ratio).toSize().expandedTo({1, 1});
    m_stale = m_stale || m_image.size() != size || m_image.devicePixelRatio() != ratio;
    if (m_image.size() != size) m_image = QImage(size, QImage::Format_ARGB32_Premultiplied);
    std::vector<Drawn> now = drawnNow(size.width(), ratio);
    int left = firstChange(now, size.width(), ratio);
    m_image.setDevicePixelRatio(1);
    for (bool done = false; !done;) {
        if (left == 0) m_image.fill(Qt::transparent);
        else for (int y = 0; y < size.height(); ++y) std::fill_n(reinterpret_cast<QRgb*>(m_image.scanLine(y)) + left, size.width() - left, QRgb(0));
        CurvePainter painter(m_image, *m_scene, ratio, left);
        painter.paint();
        m_marked = painter.marked();
        done = left == 0 || !m_marked;
        if (done && left > 0) ++m_strips;
        if (!done) update();  // triangles reach beyond the strip
        left = 0;
    }
    m_image.setDevicePixelRatio(ratio);
    m_drawn = std::move(now);
    m_stale = m_grown = false;
    ++m_renders;
}

void CurveItem::paint(QPainter* painter, const QStyleOptionGraphicsItem*, QWidget*) {
    if (m_area.isEmpty()) return;
    const double ratio = painter->device()->devicePixelRatioF();
    if (m_stale || m_grown || m_image.devicePixelRatio() != ratio) render(ratio);
    painter->drawImage(m_area.topLeft(), m_image);
}

int CurveItem::eventAt(QPointF position) const {
    if (position.y() < m_area.top() - 2 || position.y() > m_area.top() + 2 * kDiamond + 3) return -1;
    int nearest = -1;
    double best = kDiamond + 3;
    for (const std::size_t i : shownEvents(*m_scene, m_area.width())) {
        const double x = std::clamp(m_scene->x.unit(m_scene->events[i].x) * m_area.width(), kDiamond, m_area.width() - kDiamond);
        const double distance = std::abs(m_area.left() + x - position.x());
        if (!(distance < best)) continue;
        best = distance;
        nearest = int(i);
    }
    return nearest;
}

std::vector<std::size_t> shownEvents(const Scene& scene, double width) {
    std::vector<std::size_t> shown;
    const auto evaluations = std::count_if(scene.events.begin(), scene.events.end(), [&](const ChartEvent& event) {
        return event.kind == EventKind::Evaluation && event.x >= scene.x.lo && event.x <= scene.x.hi;
    });
    std::vector<bool> taken(std::size_t(std::max(1.0, width)) + 1);  // by pixel: thousands of events stay cheap
    for (const EventKind kind : {EventKind::Error, EventKind::Warning, EventKind::Pause, EventKind::Resume, EventKind::Checkpoint, EventKind::Other, EventKind::Evaluation}) {
        if (kind == EventKind::Evaluation && double(evaluations) > width / kPixelsPerEvaluation) break;
        for (std::size_t i = 0; i < scene.events.size(); ++i) {
            const double unit = scene.events[i].kind == kind ? scene.x.unit(scene.events[i].x) : -1;
            if (!(unit >= 0 && unit <= 1)) continue;
            const auto x = std::size_t(unit * width);
            const std::size_t from = x - std::min<std::size_t>(x, std::size_t(2 * kDiamond)), to = std::min(taken.size(), x + std::size_t(2 * kDiamond) + 1);
            if (std::find(taken.begin() + std::ptrdiff_t(from), taken.begin() + std::ptrdiff_t(to), true) != taken.begin() + std::ptrdiff_t(to)) continue;
            taken[std::min(x, taken.size() - 1)] = true;
            shown.push_back(i);
        }
    }
    return shown;
}

}  // namespace lathe::charts
