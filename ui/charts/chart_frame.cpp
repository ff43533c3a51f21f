#include "charts/chart_frame.h"

#include "charts/fonts.h"

#include <QCategoryAxis>
#include <QChart>
#include <QGraphicsScene>
#include <QGraphicsView>
#include <QLegend>

#include <cmath>

namespace lathe::charts {

ChartFrame::ChartFrame(QWidget* parent) : m_chart(new QChart), m_x(new QCategoryAxis), m_y(new QCategoryAxis) {
    // Not a QChartView: that one takes on the minimum size of its chart and would not let a card get small.
    m_view = new QGraphicsView(parent);
    auto* scene = new QGraphicsScene(m_view);
    scene->addItem(m_chart);
    m_view->setScene(scene);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setFocusPolicy(Qt::NoFocus);
    m_view->viewport()->setMouseTracking(true);
    m_view->setViewportUpdateMode(QGraphicsView::MinimalViewportUpdate);
    m_view->setOptimizationFlag(QGraphicsView::DontSavePainterState);
    m_view->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_view->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_chart->setMinimumSize(0, 0);
    m_chart->setAnimationOptions(QChart::NoAnimation);
    m_chart->setMargins({});
    m_chart->setBackgroundRoundness(0);
    m_chart->legend()->hide();
    m_chart->addAxis(m_x, Qt::AlignBottom);
    m_chart->addAxis(m_y, Qt::AlignLeft);
    for (QCategoryAxis* axis : {m_x, m_y}) {
        axis->setLabelsPosition(QCategoryAxis::AxisLabelsPositionOnValue);
        axis->setRange(0, 1);
        axis->setStartValue(-1);  // the first tick may stand at 0
        axis->setTruncateLabels(false);
        axis->setLabelsFont(captionFont());
        axis->setTitleVisible(false);
    }
}

QGraphicsItem* ChartFrame::item() const { return m_chart; }

void ChartFrame::setColors(const Palette& palette) {
    m_view->setBackgroundBrush(palette.surface);
    m_chart->setBackgroundBrush(palette.surface);
    m_chart->setBackgroundPen(Qt::NoPen);
    m_chart->setPlotAreaBackgroundVisible(false);
    for (QCategoryAxis* axis : {m_x, m_y}) {
        axis->setLabelsColor(palette.muted);
        axis->setGridLineColor(palette.grid);
        axis->setLinePenColor(palette.border);
    }
}

void ChartFrame::layOut(QSizeF size, const QRectF& plot) {
    m_view->setSceneRect(QRectF(QPointF(), size));
    m_chart->resize(size);
    if (plot == m_chart->plotArea()) return;
    m_chart->setPlotArea(plot);  // fixed: texts never push the plot about
    m_shownX.clear();            // axes follow a new plot area only when they are laid out anew
    m_shownY.clear();
}

void ChartFrame::setAxesVisible(bool on) {
    for (QCategoryAxis* axis : {m_x, m_y})
        if (axis->isVisible() != on) axis->setVisible(on);
}

void ChartFrame::setX(const AxisMap& axis, const std::vector<Tick>& ticks) { show(m_x, m_shownX, axis, ticks); }
void ChartFrame::setY(const AxisMap& axis, const std::vector<Tick>& ticks) { show(m_y, m_shownY, axis, ticks); }

void ChartFrame::show(QCategoryAxis* axis, std::vector<Shown>& shown, const AxisMap& map, const std::vector<Tick>& ticks) {
    std::vector<Shown> wanted;
    for (const Tick& tick : ticks)
        if (const double unit = map.unit(tick.value); unit > -1e-9 && unit < 1 + 1e-9) wanted.push_back({std::min(1.0, std::max(0.0, unit)), tick.text});
    if (wanted == shown) return;
    const QSignalBlocker quiet(axis);  // one layout at the end instead of one for each label
    for (const QString& label : axis->categoriesLabels()) axis->remove(label);
    axis->setStartValue(-1);
    for (const Shown& each : wanted) axis->append(each.text, each.unit);
    shown = std::move(wanted);
    axis->blockSignals(false);
    Q_EMIT axis->categoriesChanged();
}

}  // namespace lathe::charts
