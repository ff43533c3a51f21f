#include "charts/curve_item.h"

#include "charts/curve_painter.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace lathe::charts {

namespace {
constexpr double kPixelsPerEvaluation = 40;
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

void CurveItem::render(double ratio) {
    const QSize size = (m_area.size() * ratio).toSize().expandedTo({1, 1});
    if (m_image.size() != size) m_image = QImage(size, QImage::Format_ARGB32_Premultiplied);
    m_image.setDevicePixelRatio(1);
    m_image.fill(Qt::transparent);
    CurvePainter(m_image, *m_scene, ratio).paint();
    m_image.setDevicePixelRatio(ratio);
    m_stale = false;
    ++m_renders;
}

void CurveItem::paint(QPainter* painter, const QStyleOptionGraphicsItem*, QWidget*) {
    if (m_area.isEmpty()) return;
    const double ratio = painter->device()->devicePixelRatioF();
    if (m_stale || m_image.devicePixelRatio() != ratio) render(ratio);
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
