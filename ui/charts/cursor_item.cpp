#include "charts/cursor_item.h"

#include <QPainter>

#include <cmath>

namespace lathe::charts {

void CursorItem::setArea(const QRectF& area) {
    if (area == m_area) return;
    prepareGeometryChange();
    m_area = area;
    update();
}

void CursorItem::show(double x, std::vector<Dot> dots) {
    const bool shown = std::isfinite(x);
    if (!shown && !m_shown) return;
    m_shown = shown;
    m_x = x;
    m_dots = std::move(dots);
    update();
}

void CursorItem::setBox(const QRectF& box) {
    if (box == m_box) return;
    m_box = box;
    update();
}

void CursorItem::paint(QPainter* painter, const QStyleOptionGraphicsItem*, QWidget*) {
    if (!m_box.isEmpty()) {
        QColor fill = m_palette->accent;
        fill.setAlphaF(0.15f);
        painter->setPen(QPen(m_palette->accent, 1));
        painter->setBrush(fill);
        painter->drawRect(m_box);
    }
    if (!m_shown) return;
    painter->setPen(QPen(m_palette->faint, 1));
    const double x = std::round(m_x) + 0.5;
    painter->drawLine(QPointF(x, m_area.top()), QPointF(x, m_area.bottom()));
    painter->setRenderHint(QPainter::Antialiasing);
    for (const Dot& dot : m_dots) {
        painter->setPen(QPen(m_palette->surface, 1.5));
        painter->setBrush(dot.color);
        painter->drawEllipse(dot.place, 3.6, 3.6);
    }
}

}  // namespace lathe::charts
