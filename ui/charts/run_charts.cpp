#include "charts/run_charts.h"

#include "charts/curve_builder.h"
#include "charts/run_events.h"
#include "session/qt_text.h"
#include "session/run_session.h"

#include <QGridLayout>
#include <QTimer>

#include <algorithm>
#include <array>

namespace lathe::charts {

namespace {

enum Chart { Loss, LearningRate, GradientNorm, Throughput, kCharts };

}  // namespace

struct RunCharts::Impl {
    explicit Impl(RunCharts* widget);

    void soon();
    void update();
    void rebuild();
    std::vector<Curve> curvesOf(Chart chart);
    QString placeholder() const;
    void updateRange();
    void levelPlots();

    RunCharts* q;
    ChartLink link;
    std::vector<LineChart*> charts;
    std::shared_ptr<session::RunSession> session;
    CurveBuilder builder;
    const Palette* palette = &Palette::light();
    QTimer timer;
    std::uint64_t shape = 0;
    bool stale = true, eventsStale = true, showAbandoned = true;
};

RunCharts::Impl::Impl(RunCharts* widget) : q(widget) {
    auto* grid = new QGridLayout(widget);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(10);
    const std::array<QString, kCharts> titles{RunCharts::tr("Loss"), RunCharts::tr("Learning rate"), RunCharts::tr("Gradient norm"),
                                              RunCharts::tr("Samples per second")};
    for (int i = 0; i < kCharts; ++i) {
        charts.push_back(new LineChart(titles[std::size_t(i)], &link, widget));
        grid->addWidget(charts.back(), i / 2, i % 2);
        grid->setRowStretch(i / 2, 1);
        grid->setColumnStretch(i % 2, 1);
        QObject::connect(charts.back(), &LineChart::eventClicked, widget, [widget](const ChartEvent& event) {
            if (!event.checkpoint.isEmpty()) Q_EMIT widget->checkpointClicked(event.checkpoint);
            else if (event.id >= 0) Q_EMIT widget->eventClicked(event.id);
        });
        QObject::connect(charts.back(), &LineChart::legendLinesChanged, widget, [this] { levelPlots(); });
    }
    builder.setSmoothing(0.9);
    timer.setSingleShot(true);
    timer.setInterval(kRepaintMs);
    QObject::connect(&timer, &QTimer::timeout, widget, [this] { update(); });
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
    for (const Chart chart : {Loss, GradientNorm}) m_impl->charts[chart]->setIgnoreOutliers(on);
}

void RunCharts::setLogLoss(bool on) { m_impl->charts[Loss]->setLogY(on); }

void RunCharts::showLossOnly() {
    for (const Chart chart : {LearningRate, GradientNorm, Throughput}) m_impl->charts[chart]->hide();
    m_impl->levelPlots();
    auto* grid = static_cast<QGridLayout*>(layout());
    grid->setRowStretch(1, 0);
    grid->setColumnStretch(1, 0);
    grid->setSpacing(0);
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

// A burst costs one repaint, quiet costs nothing, and neither does a hidden page.
void RunCharts::Impl::soon() {
    if (q->isVisible() && !q->window()->isMinimized() && !timer.isActive()) timer.start();
}

void RunCharts::Impl::update() {
    if (!session || !q->isVisible()) return;
    if (stale || session->data().shapeVersion() != shape) rebuild();
    if (eventsStale) {
        eventsStale = false;
        const std::vector<ChartEvent> events = eventsOf(*session, link.axis(), showAbandoned);
        for (LineChart* chart : charts) chart->setEvents(events);
    }
    for (LineChart* chart : charts) chart->setPlaceholder(placeholder());
    updateRange();
}

// A legend of two lines must not push its plot below the one beside it.
void RunCharts::Impl::levelPlots() {
    for (const std::size_t row : {0u, 2u}) {
        const auto linesOf = [&](std::size_t i) { return charts[i]->isHidden() ? 1 : charts[i]->legendLines(); };
        if (charts.size() < row + 2) return;
        const int lines = std::max(linesOf(row), linesOf(row + 1));
        for (const std::size_t i : {row, row + 1}) charts[i]->setLeastLegendLines(lines);
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
    for (int i = 0; i < kCharts; ++i) charts[std::size_t(i)]->setCurves(curvesOf(Chart(i)));
}

std::vector<Curve> RunCharts::Impl::curvesOf(Chart chart) {
    const session::RunData& data = session->data();
    std::vector<Curve> curves;
    const auto add = [&](const std::string& name, const CurveStyle& style) { builder.add(data, name, style, *palette, showAbandoned, curves); };
    switch (chart) {
    case Loss:
        add("train/loss", {RunCharts::tr("train"), 0, false, true});
        add("eval/loss", {RunCharts::tr("evaluation"), 1, true, false});
        break;
    case LearningRate: {
        int color = 0;
        for (const std::string& name : data.names())
            if (name == "train/lr" || name.starts_with("train/lr/"))  // one for each parameter group
                add(name, {name == "train/lr" ? RunCharts::tr("rate") : session::toQt(name.substr(9)), color++, false, false});
        break;
    }
    case GradientNorm: add("train/grad_norm", {RunCharts::tr("norm"), 0, false, true}); break;
    case Throughput: add("train/samples_per_second", {RunCharts::tr("samples/s"), 0, false, true}); break;
    case kCharts: break;
    }
    return curves;
}

QString RunCharts::Impl::placeholder() const {
    if (!session->problem().isEmpty()) return session->problem();
    if (!session->isLoaded()) return RunCharts::tr("Reading the history …");
    if (!session->isAlive()) return RunCharts::tr("Nothing was recorded");
    const QString phase = session->standing().phase.text();
    return phase.isEmpty() ? RunCharts::tr("Waiting for the first update") : phase;
}

}  // namespace lathe::charts
