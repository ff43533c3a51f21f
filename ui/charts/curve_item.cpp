#include "charts/curve_item.h"

#include "charts/curve_painter.h"

#include <QPainter>

#include <cmath>

namespace lathe::charts {

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
    for (std::size_t i = 0; i < m_scene->events.size(); ++i) {
        const double distance = std::abs(m_area.left() + m_scene->x.unit(m_scene->events[i].x) * m_area.width() - position.x());
        if (!(distance < best)) continue;
        best = distance;
        nearest = int(i);
    }
    return nearest;
}

}  // namespace lathe::charts
