#include "pages/plan_card.h"

#include "config/config.h"
#include "config/plugin_list.h"
#include "launch/workers/worker_answer.h"
#include "pages/schedule_preview.h"
#include "plan/length_doubts.h"
#include "plan/order.h"
#include "plan/schedule.h"
#include "session/qt_text.h"
#include "theme/parts.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLocale>
#include <QScrollArea>
#include <QTimer>
#include <QVBoxLayout>

namespace lathe::pages {
namespace {

using session::toQt;

constexpr int kWidth = 316, kNarrowWidth = 240;
constexpr std::size_t kMostLinks = 8;

void clear(QVBoxLayout* list) {
    while (QLayoutItem* item = list->takeAt(0)) {
        delete item->widget();
        delete item;
    }
}

QVBoxLayout* addPart(QVBoxLayout* column, QLabel*& head, const QString& title) {
    head = theme::label(title, theme::TextRole::Strong);
    column->addWidget(head);
    auto* list = new QVBoxLayout;
    list->setSpacing(2);
    column->addLayout(list);
    column->addSpacing(12);
    return list;
}

}  // namespace

PlanCard::PlanCard(form::FormModel& model, QWidget* parent) : QFrame(parent), m_model(model), m_curveJob(session::jobPool()) {
    theme::setRole(this, "card");
    setObjectName(QStringLiteral("planCard"));
    setFixedWidth(kWidth);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(1, 1, 1, 1);
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* body = new QWidget;
    body->setMinimumWidth(1);   // a name or a path without a place to break must not widen it beyond the card
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(16, 12, 16, 14);
    column->setSpacing(6);

    m_problems = addPart(column, m_problemsHead, tr("Problems"));
    QLabel* scheduleHead = nullptr;
    QVBoxLayout* schedule = addPart(column, scheduleHead, tr("Learning rate"));
    m_schedule = new SchedulePreview;
    schedule->addWidget(m_schedule);
    m_scheduleNote = theme::label({}, theme::TextRole::Caption, "muted");
    m_scheduleNote->setObjectName(QStringLiteral("scheduleNote"));
    m_scheduleNote->setWordWrap(true);
    m_scheduleNote->hide();
    schedule->addWidget(m_scheduleNote);
    m_updates = theme::label({}, theme::TextRole::Caption, "muted");
    m_updates->setObjectName(QStringLiteral("plannedUpdates"));
    m_updates->setWordWrap(true);
    schedule->addWidget(m_updates);
    m_doubts = theme::label({}, theme::TextRole::Caption, "warning");
    m_doubts->setObjectName(QStringLiteral("lengthDoubts"));
    m_doubts->setWordWrap(true);
    schedule->addWidget(m_doubts);
    m_changes = addPart(column, m_changesHead, {});
    m_changesHead->setWordWrap(true);

    auto* commandHead = new QHBoxLayout;
    commandHead->addWidget(theme::label(tr("On the command line"), theme::TextRole::Strong), 1);
    QToolButton* copy = theme::flatButton(theme::Icon::Copy, {});
    copy->setObjectName(QStringLiteral("copyCommand"));
    copy->setAccessibleName(tr("Copy the command"));
    copy->setToolTip(tr("Copy"));
    commandHead->addWidget(copy);
    column->addLayout(commandHead);
    m_command = theme::label({}, theme::TextRole::Mono, "muted");
    m_command->setObjectName(QStringLiteral("command"));
    m_command->setAccessibleName(tr("On the command line"));
    m_command->setWordWrap(true);
    m_command->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(m_command);
    column->addStretch();
    scroll->setWidget(body);
    body->setAutoFillBackground(false);
    scroll->viewport()->setAutoFillBackground(false);
    outer->addWidget(scroll);

    connect(copy, &QToolButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(m_command->text()); });
    connect(&m_model, &form::FormModel::changed, this, [this] {
        // Several changes in one go (undo of a group) are shown once; and never while a link of this card is being clicked.
        if (m_pending) return;
        m_pending = true;
        QTimer::singleShot(0, this, &PlanCard::refresh);
    });
    refresh();
}

void PlanCard::setNarrow(bool on) { setFixedWidth(on ? kNarrowWidth : kWidth); }

void PlanCard::setOrigin(const QString& name) {
    m_origin = name;
    refreshChanges();
}

void PlanCard::setTrainSamples(std::optional<std::int64_t> samples) {
    m_trainSamples = samples;
    refreshPlan();
}

void PlanCard::setCommand(const QString& command) {
    // One option a line, as a shell takes it.
    QString lines = command;
    m_command->setText(lines.replace(QStringLiteral(" --"), QStringLiteral(" \\\n  --")));
}

QString PlanCard::command() const { return m_command->text(); }

void PlanCard::refresh() {
    m_pending = false;
    refreshProblems();
    refreshChanges();
    refreshPlan();
}

QString PlanCard::fieldTitle(const QString& key) const {
    const config::Field* field = m_model.schema().find(key.toStdString());
    if (field == nullptr) return key;
    for (const config::Section& section : m_model.schema().sections())
        if (section.name == field->section) return session::schemaText(section.label) + QStringLiteral(" · ") + session::schemaText(field->label);
    return session::schemaText(field->label);
}

void PlanCard::addLink(QVBoxLayout* list, const QString& key, const QString& title, const QString& text, const char* tone, bool rich) {
    auto* link = new QPushButton(title);
    link->setObjectName(QStringLiteral("link.") + key);
    link->setAccessibleDescription(text);
    theme::setRole(link, "link");
    link->setStyleSheet(QStringLiteral("QPushButton { padding: 1px 4px; margin-left: -5px; min-height: 16px; } QPushButton:enabled { color: palette(text); }"));
    link->setEnabled(!key.isEmpty());
    connect(link, &QPushButton::clicked, this, [this, key] { Q_EMIT fieldChosen(key); });
    list->addWidget(link);
    QLabel* words = theme::label(text, theme::TextRole::Body, tone);
    if (rich) words->setTextFormat(Qt::RichText);
    words->setWordWrap(true);
    words->setContentsMargins(0, 0, 0, 4);
    list->addWidget(words);
}

void PlanCard::refreshProblems() {
    clear(m_problems);
    std::size_t shown = 0;
    for (const config::Problem& problem : m_model.problems()) {
        if (++shown > kMostLinks) break;
        const QString key = toQt(problem.key);
        const char* tone = problem.severity == config::Severity::Error ? "error" : problem.severity == config::Severity::Warning ? "warning" : "muted";
        addLink(m_problems, key, key.isEmpty() ? tr("Configuration") : fieldTitle(key), toQt(problem.sentence), tone);
    }
    if (m_model.problems().empty()) m_problems->addWidget(theme::label(tr("None, ready to start"), theme::TextRole::Body, "success"));
    if (m_model.problems().size() > kMostLinks)
        m_problems->addWidget(theme::label(tr("%n more", nullptr, int(m_model.problems().size() - kMostLinks)), theme::TextRole::Caption, "muted"));
}

void PlanCard::refreshChanges() {
    clear(m_changes);
    m_changesHead->setText(m_origin.isEmpty() ? tr("Changed") : tr("Changed from %1").arg(m_origin));
    const std::vector<QString> keys = m_model.changedKeys();
    for (const QString& key : keys) {
        if (m_model.isWrong(key)) continue;  // stands among the problems
        const config::Field* field = m_model.schema().find(key.toStdString());
        const QString before = m_model.displayText(*field, m_model.baseline().at(field->key()));
        const QString after = m_model.displayText(*field, m_model.values().at(field->key()));
        addLink(m_changes, key, fieldTitle(key), before.toHtmlEscaped() + QStringLiteral(" → <b>%1</b>").arg(after.toHtmlEscaped()), "muted", true);
    }
    if (keys.empty()) m_changes->addWidget(theme::label(tr("Nothing yet"), theme::TextRole::Body, "muted"));
}

void PlanCard::refreshPlan() {
    const config::RunConfig config = config::fromValues(m_model.values());
    const plan::OrderShape shape = plan::orderShape(config, m_trainSamples.value_or(0));
    std::optional<std::int64_t> planned;
    if (m_trainSamples && *m_trainSamples > 0) {
        if (const auto updates = plan::plannedUpdates(shape, config.run.epochs, config.run.maxUpdates)) planned = updates->value();
    } else {
        planned = config.run.maxUpdates;
    }
    const QLocale locale;
    if (m_trainSamples && *m_trainSamples > 0) {
        const auto updates = shape.updatesPerEpoch();
        const QString samples = locale.toString(qint64(*m_trainSamples));
        const QString perEpoch = updates ? tr("%1 training samples, %2 updates an epoch").arg(samples, locale.toString(qint64(*updates)))
                                         : tr("%1 training samples, shared out by the plug-in").arg(samples);
        m_updates->setText(planned ? tr("%1, %2 in all").arg(perEpoch, locale.toString(qint64(*planned))) : tr("%1, no end planned").arg(perEpoch));
    } else {
        m_updates->setText(tr("How many updates that is depends on the data."));
    }
    QStringList doubts;
    for (const plan::LengthDoubt& doubt : plan::lengthDoubts(config, planned ? std::optional(GlobalStep(*planned)) : std::nullopt)) doubts << toQt(doubt.sentence);
    m_doubts->setText(doubts.join(QLatin1Char('\n')));
    m_doubts->setVisible(!doubts.isEmpty());
    constexpr std::int64_t kSomeUpdates = 1000;
    const bool isKnown = (plan::hasLength(config.schedule) && config.schedule.totalUpdates) || planned;
    const config::ScheduleSection schedule = plan::scheduleOf(config, planned.value_or(kSomeUpdates));
    const std::int64_t shown = plan::hasLength(schedule) ? *schedule.totalUpdates : planned.value_or(kSomeUpdates);
    drawSchedule(config, schedule, std::max<std::int64_t>(1, shown), isKnown);
}

/// The curve of a plug-in comes from a worker, which takes its time; what was asked last is drawn.
void PlanCard::drawSchedule(const config::RunConfig& config, const config::ScheduleSection& schedule, std::int64_t updates, bool isKnown) {
    config::RunConfig asked;
    asked.schedule = schedule;
    asked.plugins = config.plugins;
    const std::string question = config::pluginOf(schedule.name).empty() ? std::string() : config::toYaml(asked) + std::to_string(updates);
    const std::vector<double> drawn = !question.empty() && question == m_askedCurve ? m_schedule->factors() : std::vector<double>();
    m_schedule->setSchedule(schedule, config.optimizer.learningRate, updates, isKnown);
    const std::vector<std::int64_t> steps = m_schedule->steps();
    if (!question.empty() && question == m_askedCurve) return m_schedule->setFactors(drawn);
    m_askedCurve = question;
    m_curveJob.cancel();
    m_scheduleNote->hide();
    if (question.empty()) return m_schedule->setFactors(*launch::factorsAt(config, schedule, steps));
    m_scheduleNote->setText(tr("Asking the plug-in for its curve"));
    m_scheduleNote->show();
    m_curveJob.start([asked, steps](const session::NewestJob::Cancelled&) { return launch::factorsAt(asked, asked.schedule, steps); },
                     [this](Result<std::vector<double>> factors) {
                         m_scheduleNote->setVisible(!factors.ok());
                         if (factors.ok()) return m_schedule->setFactors(std::move(factors).value());
                         m_scheduleNote->setText(tr("The curve is not known: %1").arg(toQt(factors.error().text())));
                         m_askedCurve.clear();  // the next change asks again
                     });
}

}  // namespace lathe::pages
