// A chart: title with the read-out, curves, axes, events; mouse and keys. The only part of Lathe that uses QtCharts, and
// only as a frame: curves are painted by CurveItem, ranges are owned here and pushed to the axes.
//
// Wheel zooms at the cursor, Shift-wheel and Ctrl/Shift/middle drag pan, drag zooms into a box (a flat one only along x),
// double-click or Home shows everything; F follow, L logarithmic, + - zoom, arrows pan, 1 to 9 hide and show a curve.
#pragma once

#include "charts/axis_map.h"
#include "charts/chart_link.h"
#include "charts/curve.h"
#include "charts/palette.h"

#include <QWidget>

#include <memory>
#include <vector>

namespace lathe::charts {

class ChartNavigation;

class LineChart : public QWidget {
    Q_OBJECT
public:
    /// `link` outlives the chart.
    LineChart(const QString& title, ChartLink* link, QWidget* parent = nullptr);
    ~LineChart() override;

    void setCurves(std::vector<Curve> curves);  ///< keeps what the person hid, by name
    const std::vector<Curve>& curves() const;
    void setCurveVisible(int index, bool visible);
    void setEvents(std::vector<ChartEvent> events);
    void setColors(const Palette& palette);
    void setTitle(const QString& title);        ///< also its accessible name
    void setUnit(const QString& unit);          ///< behind the title
    /// Shown in the middle while there is no curve: "Waiting for the first update".
    void setPlaceholder(const QString& text);
    QString placeholder() const;                ///< empty while there are points

    void setLogY(bool on);
    bool logY() const;
    /// The y range leaves out the lowest and highest 5 % and the first steps of a run; the data are all still drawn.
    void setIgnoreOutliers(bool on);
    bool ignoreOutliers() const;
    void setYRange(double lo, double hi);       ///< fixed, until resetY()
    void resetY();
    const AxisMap& yAxis() const;
    QRectF plotArea() const;                    ///< in coordinates of canvas()
    QWidget* canvas() const;                    ///< receives mouse and wheel
    QString readOut() const;                    ///< plain text of the title's values at the cursor
    QString note() const;                       ///< "1,234,567 points · 3 not shown"
    /// Lines of the legend, and how many lines of room it has at least.
    int legendLines() const;
    void setLeastLegendLines(int lines);
    /// Draws what changed. Cheap when nothing did or when hidden.
    void refresh();
    int paints() const;                         ///< how often curves were rendered, for tests
    int strips() const;                         ///< how many of them only at the growing end
    std::size_t shownPoints() const;            ///< painted, or too close to what is painted to be told from it; 0 while some wait to be painted

Q_SIGNALS:
    void eventClicked(const lathe::charts::ChartEvent& event);
    void legendLinesChanged();
    void curveVisibilityChanged(const QString& name, bool visible);

protected:
    void showEvent(QShowEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
    ChartNavigation* m_navigation = nullptr;
};

}  // namespace lathe::charts
