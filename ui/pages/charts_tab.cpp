#include "pages/charts_tab.h"

#include "base/clock.h"
#include "charts/run_charts.h"
#include "pages/run_banner.h"
#include "pages/run_numbers.h"
#include "session/qt_text.h"
#include "theme/parts.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QSlider>
#include <QVBoxLayout>

#include <cmath>

namespace lathe::pages {
namespace {

constexpr int kTickMs = 250, kNarrow = 880, kGap = 18, kNarrowGap = 8;
constexpr double kDefaultSmoothing = 0.9;

/// The slider is finer near 1, where it matters: 0, then 1 - 10^(-p/100).
double smoothingAt(int position) { return position == 0 ? 0.0 : 1.0 - std::pow(10.0, -position / 100.0); }
int positionOf(double smoothing) { return smoothing <= 0 ? 0 : int(std::lround(-100.0 * std::log10(1.0 - smoothing))); }

}  // namespace

ChartsTab::ChartsTab(Context context, QWidget* parent) : QWidget(parent), m_context(context) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(20, 12, 20, 16);
    column->setSpacing(10);
    column->addWidget(buildStrip());
    m_banner = new RunBanner;
    column->addWidget(m_banner);
    m_remedies = new RemediesCard;
    column->addWidget(m_remedies);
    column->addWidget(buildBar());
    m_charts = new charts::RunCharts;
    m_charts->setObjectName(QStringLiteral("runCharts"));
    column->addWidget(m_charts, 1);
    connectBar();
    applyPalette();
    m_tick.setInterval(kTickMs);
    connect(&m_tick, &QTimer::timeout, this, &ChartsTab::refresh);
    connect(m_remedies, &RemediesCard::chosen, this, &ChartsTab::remedyChosen);
    connect(m_banner, &RunBanner::logWanted, this, &ChartsTab::logWanted);
    connect(m_charts, &charts::RunCharts::checkpointClicked, this, &ChartsTab::checkpointClicked);
    connect(m_charts, &charts::RunCharts::eventClicked, this, &ChartsTab::logWanted);
}

QWidget* ChartsTab::buildStrip() {
    QFrame* strip = theme::card();
    auto* row = m_strip = new QHBoxLayout(strip);
    row->setContentsMargins(18, 8, 18, 10);
    row->setSpacing(kGap);
    theme::Metric** const metrics[] = {&m_step, &m_time, &m_loss, &m_best, &m_speed, &m_device};
    const char* const names[] = {"metricStep", "metricTime", "metricLoss", "metricBest", "metricSpeed", "metricDevice"};
    for (int i = 0; i < 6; ++i) {
        if (i > 0) row->addWidget(m_lastRule = new theme::Rule);
        *metrics[i] = new theme::Metric({});
        (*metrics[i])->setObjectName(QLatin1String(names[i]));
        row->addWidget(*metrics[i], 1);
    }
    return strip;
}

QWidget* ChartsTab::buildBar() {
    QWidget* const groups[] = {new QWidget, new QWidget};
    QHBoxLayout* rows[2];
    for (int i = 0; i < 2; ++i) {
        rows[i] = new QHBoxLayout(groups[i]);
        rows[i]->setContentsMargins(0, 0, 0, 0);
        rows[i]->setSpacing(4);
    }
    QHBoxLayout* row = rows[0];
    m_axis = new theme::ChoiceBox;
    m_axis->setObjectName(QStringLiteral("xAxis"));
    m_axis->setAccessibleName(tr("Horizontal axis"));
    m_axis->addItems({tr("Step"), tr("Active time")});
    m_axis->setFixedWidth(118);
    row->addWidget(m_axis);
    row->addSpacing(10);
    row->addWidget(theme::label(tr("Smoothing"), theme::TextRole::Body, "muted"));
    row->addSpacing(4);
    m_smoothing = new QSlider(Qt::Horizontal);
    m_smoothing->setObjectName(QStringLiteral("smoothing"));
    m_smoothing->setAccessibleName(tr("Smoothing"));
    m_smoothing->setRange(0, 300);
    m_smoothing->setPageStep(20);
    m_smoothing->setFixedWidth(110);
    row->addWidget(m_smoothing);
    m_smoothingText = theme::label({}, theme::TextRole::Mono, "muted");
    m_smoothingText->setFixedWidth(44);
    row->addWidget(m_smoothingText);
    row->addSpacing(6);
    m_risk = theme::label({}, theme::TextRole::Caption, "muted");
    m_risk->setObjectName(QStringLiteral("risk"));
    row->addWidget(m_risk);
    row = rows[1];
    const auto toggle = [row](theme::Icon icon, const QString& text, const char* name) {
        QToolButton* button = theme::flatButton(icon, text, true);
        button->setObjectName(QLatin1String(name));
        row->addWidget(button);
        return button;
    };
    m_log = toggle(theme::Icon::LogScale, tr("Log loss"), "logLoss");
    m_outliers = toggle(theme::Icon::Filter, tr("Ignore outliers"), "ignoreOutliers");
    m_outliers->setToolTip(tr("The vertical range leaves out the first steps and the lowest and highest 5 %. All points stay drawn."));
    m_follow = toggle(theme::Icon::Follow, tr("Follow"), "follow");
    m_abandoned = toggle(theme::Icon::Branch, tr("Abandoned branches"), "abandoned");
    m_abandoned->setToolTip(tr("Show, dimmed, what was left by rolling back"));
    QToolButton* reset = theme::flatButton(theme::Icon::Reset, tr("Show all"));
    reset->setObjectName(QStringLiteral("resetZoom"));
    reset->setToolTip(tr("Drag to zoom, wheel at the cursor, double-click shows everything."));
    connect(reset, &QToolButton::clicked, this, [this] { m_charts->link().reset(); });
    row->addWidget(reset);
    return new theme::SplitRow(groups[0], groups[1]);
}

void ChartsTab::connectBar() {
    session::Settings& settings = m_context.settings;
    connect(m_axis, &QComboBox::currentIndexChanged, this, [this](int index) { m_charts->setAxis(index == 0 ? session::XAxis::Step : session::XAxis::ActiveTime); });
    connect(m_smoothing, &QSlider::valueChanged, this, [this](int position) {
        const double weight = smoothingAt(position);
        m_charts->setSmoothing(weight);
        m_smoothingText->setText(position == 0 ? tr("off") : QString::number(weight, 'f', weight > 0.99 ? 3 : 2));
        m_context.settings.setValue(QStringLiteral("charts/smoothing"), weight);
        refresh();
    });
    const auto remember = [this, &settings](QToolButton* button, const QString& key, bool otherwise, auto apply) {
        connect(button, &QToolButton::toggled, this, [this, key, apply](bool on) {
            apply(on);
            m_context.settings.setValue(key, on);
        });
        const bool on = settings.value(key, otherwise).toBool();
        button->setChecked(on);
        apply(on);
    };
    remember(m_log, QStringLiteral("charts/logLoss"), false, [this](bool on) { m_charts->setLogLoss(on); });
    remember(m_outliers, QStringLiteral("charts/ignoreOutliers"), false, [this](bool on) { m_charts->setIgnoreOutliers(on); });
    remember(m_abandoned, QStringLiteral("charts/leftBranches"), true, [this](bool on) { m_charts->setShowAbandoned(on); });
    connect(m_follow, &QToolButton::toggled, this, [this](bool on) { m_charts->link().setFollow(on); });
    connect(&m_charts->link(), &charts::ChartLink::followChanged, m_follow, &QToolButton::setChecked);
    m_smoothing->setValue(positionOf(settings.value(QStringLiteral("charts/smoothing"), kDefaultSmoothing).toDouble()));
    if (m_smoothing->value() == 0) m_smoothingText->setText(tr("off"));
}

void ChartsTab::setSession(std::shared_ptr<session::RunSession> session) {
    if (m_session) m_session->disconnect(this);
    m_session = std::move(session);
    m_charts->setSession(m_session);
    m_charts->link().reset();
    if (!m_session) {
        m_tick.stop();
        return;
    }
    for (const auto signal : {&session::RunSession::loaded, &session::RunSession::stateChanged, &session::RunSession::checkpointsChanged})
        connect(m_session.get(), signal, this, &ChartsTab::refresh);
    m_tick.start();
    refresh();
}

void ChartsTab::refresh() {
    if (!m_session || !isVisibleTo(window())) return;
    refreshStrip();
    const int place = m_context.queue.placeOf(session::toQt(m_session->run().name()));
    m_banner->show(*m_session, place > 0 ? tr("Place %1 in the queue. %2").arg(place).arg(m_context.queue.waitText(std::size_t(place) - 1)) : QString());
    const auto& memory = m_session->memory();
    m_remedies->show(memory ? memory->remedies : std::vector<rundir::Remedy>(), memory && !m_session->checkpoints().empty());
    refreshRisk();
}

void ChartsTab::refreshStrip() {
    const auto put = [](theme::Metric* metric, const StripValue& value) {
        metric->setCaption(value.caption);
        metric->setValue(value.value, value.below, value.fill);
    };
    const std::int64_t now = Clock::system().wallNs();
    put(m_step, stepValue(*m_session));
    put(m_time, timeValue(*m_session, now));
    put(m_loss, lossValue(*m_session, m_charts->smoothing()));
    put(m_best, bestValue(*m_session));
    put(m_speed, speedValue(*m_session));
    put(m_device, deviceValue(*m_session));
}

void ChartsTab::refreshRisk() { m_risk->setText(riskText(*m_session, Clock::system().wallNs())); }

/// What it computes on is told in the log too.
void ChartsTab::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    const bool narrow = width() < kNarrow;
    m_strip->setSpacing(narrow ? kNarrowGap : kGap);
    m_lastRule->setVisible(!narrow);
    m_device->setVisible(!narrow);
}

void ChartsTab::applyPalette() { m_charts->setColors(charts::Palette::of(theme::colors().dark)); }

void ChartsTab::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::StyleChange && m_charts != nullptr) applyPalette();
}

}  // namespace lathe::pages
