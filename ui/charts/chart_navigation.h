// Mouse, wheel and keys of a chart, turned into changes of the link and of the y range. Works on LineChart's public face.
#pragma once

#include "charts/chart_link.h"

#include <QObject>
#include <QPointF>
#include <QRectF>

class QKeyEvent;
class QMouseEvent;
class QWheelEvent;

namespace lathe::charts {

class LineChart;

class ChartNavigation : public QObject {
    Q_OBJECT
public:
    /// Watches the chart's canvas and keys.
    ChartNavigation(LineChart* chart, ChartLink* link);
    bool key(QKeyEvent* event);

Q_SIGNALS:
    void boxChanged(const QRectF& box);       ///< while a zoom box is drawn; empty: none
    void clicked(QPointF position);           ///< pressed and let go at one place

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    enum class Drag { None, Box, Pan };
    void press(QMouseEvent* event);
    void move(QMouseEvent* event);
    void release(QMouseEvent* event);
    void wheel(QWheelEvent* event);
    void showAll();
    void zoom(double around, double factor);
    void pan(double distance);
    double xAt(double pixel) const;
    double yAt(double pixel) const;

    LineChart* m_chart;
    ChartLink* m_link;
    Drag m_drag = Drag::None;
    QPointF m_press, m_last;
    QRectF m_box;
};

}  // namespace lathe::charts
