// Cross-hair, the dots on the curves, and the box of a zoom being drawn; above the curves, so that moving it leaves their
// image alone.
#pragma once

#include "charts/palette.h"

#include <QGraphicsItem>

#include <vector>

namespace lathe::charts {

class CursorItem : public QGraphicsItem {
public:
    struct Dot {
        QPointF place;
        QColor color;
    };
    explicit CursorItem(QGraphicsItem* parent) : QGraphicsItem(parent) {}

    void setArea(const QRectF& area);
    void setColors(const Palette& palette) { m_palette = &palette; }
    /// `x` in the parent's coordinates; NaN hides the line.
    void show(double x, std::vector<Dot> dots);
    void setBox(const QRectF& box);
    const QRectF& box() const { return m_box; }

    QRectF boundingRect() const override { return m_area.adjusted(-5, -5, 5, 5); }
    void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

private:
    QRectF m_area, m_box;
    double m_x = 0;
    bool m_shown = false;
    std::vector<Dot> m_dots;
    const Palette* m_palette = &Palette::light();
};

}  // namespace lathe::charts
