// The QtCharts part of a chart: background, grid, axes with our own ticks and texts. Both axes run from 0 to 1 and every
// tick is placed by its unit, so that QtCharts sees neither logarithms nor extreme numbers. chart_frame.cpp is the only
// file that includes QtCharts.
#pragma once

#include "charts/axis_map.h"
#include "charts/palette.h"

#include <QRectF>
#include <QSizeF>

#include <vector>

class QGraphicsItem;
class QGraphicsView;
class QWidget;

class QChart;
class QCategoryAxis;

namespace lathe::charts {

class ChartFrame {
public:
    /// The view is a child of `parent`, which owns it.
    explicit ChartFrame(QWidget* parent);

    QGraphicsView* view() const { return m_view; }
    QGraphicsItem* item() const;   ///< parent for curves
    void setColors(const Palette& palette);
    void layOut(QSizeF size, const QRectF& plot);
    /// Touches QtCharts only where a text or a place changed: that costs milliseconds.
    void setAxesVisible(bool on);
    void setX(const AxisMap& axis, const std::vector<Tick>& ticks);
    void setY(const AxisMap& axis, const std::vector<Tick>& ticks);

private:
    struct Shown {
        double unit = 0;
        QString text;
        bool operator==(const Shown&) const = default;
    };
    static void show(QCategoryAxis* axis, std::vector<Shown>& shown, const AxisMap& map, const std::vector<Tick>& ticks);

    QGraphicsView* m_view;
    QChart* m_chart;
    QCategoryAxis *m_x, *m_y;
    std::vector<Shown> m_shownX, m_shownY;
};

}  // namespace lathe::charts
