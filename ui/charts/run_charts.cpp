#include "charts/run_charts.h"

#include "charts/curve_builder.h"
#include "charts/panels.h"
#include "charts/run_events.h"
#include "session/qt_text.h"
#include "session/run_session.h"

#include <QElapsedTimer>
#include <QGridLayout>
#include <QScrollArea>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::charts {

namespace {

enum Chart { Loss, LearningRate, GradientNorm, Throughput, kTrainingCharts };
constexpr int kSpacing = 10, kScrolledHeight = 250;  // of a chart on a page with more than two rows

}  // namespace

struct RunCharts::Impl {
    explicit Impl(RunCharts* widget);

    LineChart* addChart(const QString& title);
    void soon();
    void update();
    void rebuild();
    std::vector<Curve> curvesOf(const Panel& panel);
    QString placeholder() const;
    void updateRange();
    void layOut();
    void levelPlots();

    RunCharts* q;
    ChartLink link;
    QWidget* body;
    QGridLayout* grid;
    std::vector<LineChart*> charts;   ///< the four of a training run first
    std::vector<LineChart*> shown;    ///< in the order of the grid
    std::shared_ptr<session::RunSession> session;
    CurveBuilder builder;
    const Palette* palette = &Palette::light();
    QTimer timer;
    QElapsedTimer sinceUpdate;
    std::uint64_t shape = 0;
    bool stale = true, eventsStale = true, showAbandoned = true, ignoreOutliers = false, lossOnly = false;
    std::size_t others = 0;           ///< charts behind the first four that belong to this run
};

RunCharts::Impl::Impl(RunCharts* widget) : q(widget), body(new QWidget) {
    auto* column = new QVBoxLayout(widget);
    column->setContentsMargins(0, 0, 0, 0);
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(body);
    body->setAutoFillBackground(false);
    scroll->viewport()->setAutoFillBackground(false);
    column->addWidget(scroll);
    grid = new QGridLayout(body);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(kSpacing);
    for (const Panel& panel : trainingPanels({})) addChart(panel.title);
    layOut();
    builder.setSmoothing(0.9);
    timer.setSingleShot(true);
    QObject::connect(&timer, &QTimer::timeout, widget, [this] { update(); });
}

LineChart* RunCharts::Impl::addChart(const QString& title) {
    auto* chart = new LineChart(title, &link, body);
    chart->setColors(*palette);
    chart->hide();
    charts.push_back(chart);
    QObject::connect(chart, &LineChart::eventClicked, q, [widget = q](const ChartEvent& event) {
        if (!event.checkpoint.isEmpty()) Q_EMIT widget->checkpointClicked(event.checkpoint);
        else if (event.id >= 0) Q_EMIT widget->eventClicked(event.id);
    });
    QObject::connect(chart, &LineChart::legendLinesChanged, q, [this] { levelPlots(); });
    return chart;
}

RunCharts::RunCharts(QWidget* parent) : QWidget(parent), m_impl(std::make_unique<Impl>(this)) {}
RunCharts::~RunCharts() = default;

void RunCharts::setSession(std::shared_ptr<session::RunSession> session) {
    Impl& d = *m_impl;
    if (d.session) d.session->disconnect(this);
    // Curves point into the old session's data: out with them first.
    for (LineChart* chart : d.charts) {
        chart->setCurves({});
        chart->setEvents({});
    }
    d.builder.clear();
    d.session = std::move(session);
    d.stale = d.eventsStale = true;
    d.link.setAxis(d.link.axis(), 0, 1);
    if (!d.session) return;
    const session::RunSession* source = d.session.get();
    connect(source, &session::RunSession::loaded, this, [&d] { d.stale = d.eventsStale = true, d.soon(); });
    connect(source, &session::RunSession::pointsReceived, this, [&d] { d.soon(); });
    connect(source, &session::RunSession::stateChanged, this, [&d] { d.soon(); });
    for (const auto signal : {&session::RunSession::eventsReceived, &session::RunSession::checkpointsChanged})
        connect(source, signal, this, [&d] { d.eventsStale = true, d.soon(); });
    d.update();
}

void RunCharts::setColors(const Palette& palette) {
    m_impl->palette = &palette;
    for (LineChart* chart : m_impl->charts) chart->setColors(palette);
    m_impl->stale = true;
    m_impl->update();
}

void RunCharts::setSmoothing(double weight) {
    m_impl->builder.setSmoothing(std::clamp(weight, 0.0, 0.999));
    m_impl->stale = true;
    m_impl->soon();
}

double RunCharts::smoothing() const { return m_impl->builder.smoothing(); }

void RunCharts::setAxis(session::XAxis axis) {
    if (axis == m_impl->link.axis()) return;
    m_impl->link.setAxis(axis, 0, 1);
    m_impl->stale = m_impl->eventsStale = true;
    m_impl->update();
    m_impl->link.reset();
}

void RunCharts::setShowAbandoned(bool on) {
    if (m_impl->showAbandoned == on) return;
    m_impl->showAbandoned = on;
    m_impl->stale = m_impl->eventsStale = true;
    m_impl->update();
}

bool RunCharts::showAbandoned() const { return m_impl->showAbandoned; }

void RunCharts::setIgnoreOutliers(bool on) {
    m_impl->ignoreOutliers = on;
    // Dips of the throughput matter, and a rate has no outliers.
    for (std::size_t i = 0; i < m_impl->charts.size(); ++i) m_impl->charts[i]->setIgnoreOutliers(on && i != LearningRate && i != Throughput);
}

void RunCharts::setLogLoss(bool on) { m_impl->charts[Loss]->setLogY(on); }

void RunCharts::showLossOnly() {
    m_impl->lossOnly = true;
    m_impl->layOut();
}

ChartLink& RunCharts::link() { return m_impl->link; }
const std::vector<LineChart*>& RunCharts::charts() const { return m_impl->charts; }

void RunCharts::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_impl->update();
}

void RunCharts::hideEvent(QHideEvent* event) {
    m_impl->timer.stop();
    QWidget::hideEvent(event);
}

// What comes after a pause is painted at once, a burst costs one repaint, quiet costs nothing, and neither does a hidden page.
void RunCharts::Impl::soon() {
    if (!q->isVisible() || q->window()->isMinimized() || timer.isActive()) return;
    timer.start(sinceUpdate.isValid() ? int(std::max<qint64>(0, kRepaintMs - sinceUpdate.elapsed())) : 0);
}

void RunCharts::Impl::update() {
    if (!session || !q->isVisible()) return;
    sinceUpdate.start();
    session->takeNew();
    if (stale || session->data().shapeVersion() != shape) rebuild();
    if (eventsStale) {
        eventsStale = false;
        const std::vector<ChartEvent> events = eventsOf(*session, link.axis(), showAbandoned);
        for (LineChart* chart : charts) chart->setEvents(events);
    }
    for (LineChart* chart : charts) chart->setPlaceholder(placeholder());
    updateRange();
}

// Two columns; more than two rows are scrolled.
void RunCharts::Impl::layOut() {
    const auto has = [](const LineChart* chart) { return !chart->curves().empty(); };
    const bool standard = std::any_of(charts.begin(), charts.begin() + kTrainingCharts, has);
    const bool ours = !session || (session->summary().task != "command" && session->summary().task != "imported");
    std::vector<LineChart*> wanted;
    for (std::size_t i = 0; i < charts.size(); ++i) {
        // A training run of ours has all four, also before their first point; of another program only what it has is shown.
        const bool four = standard ? ours || has(charts[i]) : others == 0 && (ours || i == Loss);
        const bool own = i < kTrainingCharts ? four : i < kTrainingCharts + others;
        if (lossOnly ? i == Loss : own) wanted.push_back(charts[i]);
    }
    if (wanted == shown) return;
    for (LineChart* chart : charts) {
        grid->removeWidget(chart);
        if (std::find(wanted.begin(), wanted.end(), chart) == wanted.end()) chart->hide();
    }
    shown = std::move(wanted);
    const int rows = int(shown.size() + 1) / 2, columns = std::min<int>(2, int(shown.size()));
    for (std::size_t i = 0; i < shown.size(); ++i) {
        shown[i]->setMinimumHeight(rows > 2 ? kScrolledHeight : 150);
        const bool alone = i > 0 && i + 1 == shown.size() && i % 2 == 0;  // the last one of an odd number has the row
        grid->addWidget(shown[i], int(i / 2), int(i % 2), 1, alone ? 2 : 1);
        shown[i]->show();
    }
    for (int row = 0; row < std::max(rows, grid->rowCount()); ++row) grid->setRowStretch(row, row < rows ? 1 : 0);
    for (int column = 0; column < 2; ++column) grid->setColumnStretch(column, column < columns ? 1 : 0);
    levelPlots();
}

// A legend of two lines must not push its plot below the one beside it.
void RunCharts::Impl::levelPlots() {
    for (std::size_t row = 0; row < shown.size(); row += 2) {
        const std::size_t end = std::min(row + 2, shown.size());
        int lines = 1;
        for (std::size_t i = row; i < end; ++i) lines = std::max(lines, shown[i]->legendLines());
        for (std::size_t i = row; i < end; ++i) shown[i]->setLeastLegendLines(lines);
    }
}

void RunCharts::Impl::updateRange() {
    std::vector<const std::vector<Curve>*> all;
    for (const LineChart* chart : charts) all.push_back(&chart->curves());
    const XRange range = xRangeOf(all, link.axis());
    link.setDataRange(range.lo, range.hi);
}

void RunCharts::Impl::rebuild() {
    stale = false;
    shape = session->data().shapeVersion();
    eventsStale = true;
    const std::vector<std::string> names = session->data().names();
    std::vector<Panel> panels = trainingPanels(names);
    if (!lossOnly)
        for (Panel& panel : otherPanels(names)) panels.push_back(std::move(panel));
    others = panels.size() - kTrainingCharts;
    for (std::size_t i = 0; i < panels.size(); ++i) {
        LineChart* chart = i < charts.size() ? charts[i] : addChart(panels[i].title);
        chart->setTitle(panels[i].title);
        if (i >= kTrainingCharts) {
            chart->setIgnoreOutliers(ignoreOutliers);
            chart->setUnit(session::toQt(session->data().unit(panels[i].lines.front().series)));
        }
        chart->setCurves(curvesOf(panels[i]));
    }
    for (std::size_t i = panels.size(); i < charts.size(); ++i) charts[i]->setCurves({});
    layOut();
}

std::vector<Curve> RunCharts::Impl::curvesOf(const Panel& panel) {
    std::vector<Curve> curves;
    for (const Panel::Line& line : panel.lines) builder.add(session->data(), line.series, line.style, *palette, showAbandoned, curves);
    return curves;
}

QString RunCharts::Impl::placeholder() const {
    if (!session->problem().isEmpty()) return session->problem();
    if (!session->isLoaded()) return RunCharts::tr("Reading the history …");
    if (session->standing().state == rundir::State::Queued) return RunCharts::tr("It has not started yet");
    if (!session->isAlive()) return RunCharts::tr("Nothing was recorded");
    const QString phase = session->standing().phase.text();
    return phase.isEmpty() ? RunCharts::tr("Waiting for the first update") : phase;
}

}  // namespace lathe::charts
