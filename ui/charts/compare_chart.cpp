#include "charts/compare_chart.h"

#include "charts/curve_builder.h"
#include "session/qt_text.h"
#include "session/run_session.h"

#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>
#include <set>

namespace lathe::charts {

namespace {
constexpr int kRepaintMs = 100;
}

struct CompareChart::Impl {
    explicit Impl(CompareChart* widget) : q(widget) {
        chart = new LineChart(series, &link, widget);
        auto* column = new QVBoxLayout(widget);
        column->setContentsMargins(0, 0, 0, 0);
        column->addWidget(chart);
        builder.setSmoothing(0.9);
        timer.setSingleShot(true);
        timer.setInterval(kRepaintMs);
        QObject::connect(&timer, &QTimer::timeout, widget, [this] { update(); });
    }
    void soon() {
        if (q->isVisible() && !timer.isActive()) timer.start();
    }
    void update();
    void rebuild();
    std::uint64_t shapeNow() const;
    QStringList namesNow() const;

    CompareChart* q;
    ChartLink link;
    LineChart* chart;
    std::vector<std::shared_ptr<session::RunSession>> sessions;
    CurveBuilder builder;
    const Palette* palette = &Palette::light();
    QString series = QStringLiteral("train/loss");
    QStringList known;
    QTimer timer;
    std::uint64_t shape = 0;
    bool stale = true;
};

CompareChart::CompareChart(QWidget* parent) : QWidget(parent), m_impl(std::make_unique<Impl>(this)) {}
CompareChart::~CompareChart() = default;

void CompareChart::setSessions(std::vector<std::shared_ptr<session::RunSession>> sessions) {
    Impl& d = *m_impl;
    for (const auto& session : d.sessions) session->disconnect(this);
    d.chart->setCurves({});  // they point into the old sessions' data
    d.builder.clear();
    d.sessions = std::move(sessions);
    d.stale = true;
    for (const auto& session : d.sessions)
        for (const auto signal : {&session::RunSession::loaded, &session::RunSession::pointsReceived, &session::RunSession::stateChanged})
            connect(session.get(), signal, this, [&d] { d.soon(); });
    d.update();
}

void CompareChart::setSeries(const QString& name) {
    if (name == m_impl->series) return;
    m_impl->series = name;
    m_impl->chart->setTitle(name);
    m_impl->builder.clear();
    m_impl->stale = true;
    m_impl->chart->resetY();
    m_impl->update();
}

QString CompareChart::series() const { return m_impl->series; }
QStringList CompareChart::availableSeries() const { return m_impl->namesNow(); }
LineChart* CompareChart::chart() const { return m_impl->chart; }

void CompareChart::setColors(const Palette& palette) {
    m_impl->palette = &palette;
    m_impl->chart->setColors(palette);
    m_impl->stale = true;
    m_impl->update();
}

void CompareChart::setSmoothing(double weight) {
    m_impl->builder.setSmoothing(std::clamp(weight, 0.0, 0.999));
    m_impl->stale = true;
    m_impl->soon();
}

void CompareChart::setLogY(bool on) { m_impl->chart->setLogY(on); }

void CompareChart::setAxis(session::XAxis axis) {
    if (axis == m_impl->link.axis()) return;
    m_impl->link.setAxis(axis, 0, 1);
    m_impl->update();
    m_impl->link.reset();
}

void CompareChart::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_impl->update();
}

std::uint64_t CompareChart::Impl::shapeNow() const {
    std::uint64_t sum = 0;
    for (const auto& session : sessions) sum += session->data().shapeVersion() + (session->isLoaded() ? 1u << 20 : 0);
    return sum;
}

QStringList CompareChart::Impl::namesNow() const {
    std::set<std::string> names;
    for (const auto& session : sessions)
        for (const std::string& name : session->data().names()) names.insert(name);
    QStringList out;
    for (const std::string& name : names) out += session::toQt(name);
    return out;
}

void CompareChart::Impl::update() {
    if (!q->isVisible()) return;
    if (stale || shapeNow() != shape) rebuild();
    const XRange range = xRangeOf({&chart->curves()}, link.axis());
    link.setDataRange(range.lo, range.hi);
    if (const QStringList names = namesNow(); names != known) {
        known = names;
        Q_EMIT q->availableSeriesChanged();
    }
}

void CompareChart::Impl::rebuild() {
    stale = false;
    shape = shapeNow();
    std::vector<Curve> curves;
    QStringList without;
    bool allLoaded = true;
    for (std::size_t i = 0; i < sessions.size(); ++i) {
        std::vector<Curve> branches;
        const bool sparse = series.startsWith(QStringLiteral("eval/"));
        builder.add(sessions[i]->data(), session::toStd(series), {sessions[i]->name(), colorIndex(int(i)), sparse, !sparse}, *palette, false, branches);
        allLoaded = allLoaded && sessions[i]->isLoaded();
        if (branches.empty()) {
            if (sessions[i]->isLoaded()) without += sessions[i]->name();
            continue;
        }
        // One run, one colour: its branches are one curve here, in the order of the surviving line.
        Curve whole{sessions[i]->name(), palette->curve(colorIndex(int(i))), {}, true, sparse, false};
        for (const Curve& branch : branches) whole.pieces.insert(whole.pieces.end(), branch.pieces.begin(), branch.pieces.end());
        const bool taken = std::any_of(curves.begin(), curves.end(), [&](const Curve& curve) { return curve.name == whole.name; });
        if (taken) whole.name += QStringLiteral(" (%1)").arg(i + 1);
        curves.push_back(std::move(whole));
    }
    // Who was chosen and is not there is missed: the legend says why. Where nobody has it, the chart says so itself.
    if (!curves.empty())
        for (const QString& name : without) curves.push_back({CompareChart::tr("%1: not recorded").arg(name), palette->muted, {}, true, false, false});
    std::string unit;
    for (const auto& session : sessions)
        if (unit.empty()) unit = session->data().unit(session::toStd(series));
    chart->setUnit(session::toQt(unit));
    chart->setPlaceholder(sessions.empty()    ? CompareChart::tr("Choose two or more runs")
                          : !allLoaded        ? CompareChart::tr("Reading the histories …")
                                              : CompareChart::tr("None of these runs recorded %1").arg(series));
    chart->setCurves(std::move(curves));
}

}  // namespace lathe::charts
