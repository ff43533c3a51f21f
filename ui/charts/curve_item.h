// Paints all curves of a chart from their pyramids into one image of device resolution: the range of every pixel column,
// so that a spike of one step shows at any zoom. Hovering only copies the image; where curves only grew at their right
// end, only that strip is painted anew.
#pragma once

#include "charts/axis_map.h"
#include "charts/curve.h"
#include "charts/palette.h"

#include <QGraphicsItem>
#include <QImage>

#include <vector>

namespace lathe::charts {

/// What to paint and how it maps.
struct Scene {
    std::vector<Curve> curves;
    std::vector<ChartEvent> events;
    session::XAxis axis = session::XAxis::Step;
    AxisMap x, y;
    const Palette* palette = &Palette::light();
    bool markClipped = false;  ///< columns that reach beyond the y range are told at the edge
};

class CurveItem : public QGraphicsItem {
public:
    CurveItem(QGraphicsItem* parent, const Scene* scene) : QGraphicsItem(parent), m_scene(scene) {}

    void setArea(const QRectF& area);
    const QRectF& area() const { return m_area; }
    /// The scene changed: painted anew at the next paint.
    void invalidate();
    /// Points were appended and nothing else changed: only what is right of the old ends is painted at the next paint.
    void grow();
    int renders() const { return m_renders; }
    bool isPending() const { return m_stale || m_grown; }  ///< something is to be painted
    int strips() const { return m_strips; }  ///< how many of them painted a part only
    /// Index into Scene::events at a place in the parent's coordinates, -1: none.
    int eventAt(QPointF position) const;

    QRectF boundingRect() const override { return m_area; }
    void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

private:
    /// A piece as it was painted: how many points, and how dense. Another density is another way to paint all of it.
    struct Drawn {
        std::size_t end = 0;
        int density = 0;
    };
    std::vector<Drawn> drawnNow(int width, double ratio) const;
    /// Leftmost pixel column that differs now from what was painted; 0: all, the width: nothing.
    int firstChange(const std::vector<Drawn>& now, int width, double ratio) const;
    void render(double ratio);

    const Scene* m_scene;
    QRectF m_area;
    QImage m_image;
    std::vector<Drawn> m_drawn;
    bool m_stale = true, m_grown = false;
    bool m_marked = false;    ///< there are marks with triangles, which flow together: all is painted each time
    int m_renders = 0, m_strips = 0;
};

/// Half the width of an event's diamond.
constexpr double kDiamond = 4;

/// Events in view that have room on a plot of this width, by index: errors first, evaluations last and only
/// while they are few (their points are in the chart anyway). A diamond that would lie on another one is left out.
std::vector<std::size_t> shownEvents(const Scene& scene, double width);

}  // namespace lathe::charts
