#include "pages/checkpoints_tab.h"

#include "base/number_text.h"
#include "charts/run_charts.h"
#include "pages/run_kind.h"
#include "pages/run_verbs.h"
#include "session/qt_text.h"
#include "theme/parts.h"
#include "theme/tables.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLocale>
#include <QMenu>
#include <QStackedLayout>
#include <QStyledItemDelegate>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::pages {
namespace {

using models::CheckpointsModel;
using session::toQt;
using session::toStd;

constexpr int kChartHeight = 230, kLow = 580;   // below it the list needs the room of the chart, which stands on Charts too

/// Sessions are headings, what lies on an abandoned branch steps back.
class CheckpointsDelegate final : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        const bool group = index.data(CheckpointsModel::FolderRole).toString().isEmpty();
        const bool bad = !group && !index.data(CheckpointsModel::UsableRole).toBool();
        if (group) option->font = theme::textFont(theme::TextRole::Strong);
        const theme::Colors& colors = theme::colors();
        if (bad) option->palette.setColor(QPalette::Text, colors.danger);
        else if (index.data(CheckpointsModel::AbandonedRole).toBool() || (!group && index.column() != CheckpointsModel::Step)) option->palette.setColor(QPalette::Text, colors.muted);
    }
};

}  // namespace

CheckpointsTab::CheckpointsTab(Context context, RunVerbs& verbs, QWidget* parent) : QWidget(parent), m_context(context), m_verbs(verbs) {
    build();
    connect(&m_model, &CheckpointsModel::modelReset, this, &CheckpointsTab::refresh);
    connect(&m_model, &CheckpointsModel::rowsInserted, this, &CheckpointsTab::refresh);
    connect(&m_model, &CheckpointsModel::rowsRemoved, this, &CheckpointsTab::refresh);
    m_ages.setInterval(5000);
    connect(&m_ages, &QTimer::timeout, this, [this] {
        if (isVisible()) m_model.updateAges();
    });
    m_ages.start();
}

void CheckpointsTab::build() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(20, 12, 20, 16);
    column->setSpacing(10);
    m_chart = new charts::RunCharts;
    m_chart->setObjectName(QStringLiteral("checkpointsChart"));
    m_chart->showLossOnly();
    m_chart->setFixedHeight(kChartHeight);
    m_chart->setSmoothing(m_context.settings.value(QStringLiteral("charts/smoothing"), 0.9).toDouble());
    connect(m_chart, &charts::RunCharts::checkpointClicked, this, &CheckpointsTab::select);
    applyPalette();
    column->addWidget(m_chart);
    column->addWidget(buildVerbs());
    m_help = theme::label({}, theme::TextRole::Caption, "muted");
    m_help->setObjectName(QStringLiteral("verbHelp"));
    m_help->setWordWrap(true);
    column->addWidget(m_help);
    buildTree();
    auto* host = new QWidget;
    m_content = new QStackedLayout(host);
    m_content->addWidget(theme::tableCard(m_tree));
    m_none = new theme::EmptyState(theme::Icon::Checkpoints, {}, {});
    m_content->addWidget(m_none);
    column->addWidget(host, 1);
}

QWidget* CheckpointsTab::buildVerbs() {
    QWidget* const groups[] = {new QWidget, new QWidget};
    QHBoxLayout* row = nullptr;
    const auto begin = [&row](QWidget* group) {
        row = new QHBoxLayout(group);
        row->setContentsMargins(0, 0, 0, 0);
        row->setSpacing(6);
    };
    const auto add = [this, &row](Verb& verb, theme::Icon icon, const QString& text, const char* name, const QString& help, auto slot,
                                 theme::ButtonKind kind = theme::ButtonKind::Normal) {
        verb.button = theme::button(text, icon, kind);
        verb.button->setObjectName(QLatin1String(name));
        verb.help = help;
        row->addWidget(verb.button);
        connect(verb.button, &QPushButton::clicked, this, [this, slot] {
            if (const session::CheckpointItem* item = selected()) slot(*item);
        });
    };
    using Item = session::CheckpointItem;
    begin(groups[0]);
    const auto name = [](const Item& item) { return toQt(item.info.folder); };
    add(m_continue, theme::Icon::Resume, tr("Continue"), "continue", tr("Same run, on from here"),
        [this](const Item&) { m_verbs.continueRun(folder()); }, theme::ButtonKind::Primary);
    add(m_rollBack, theme::Icon::RollBack, tr("Roll back"), "rollBack", tr("Same run, a new branch from here; what came after stays, dimmed"),
        [this, name](const Item& item) { m_verbs.rollBack(folder(), name(item), item.info.step.value(), m_session->counters().globalStep.value()); });
    add(m_fork, theme::Icon::Fork, tr("Fork"), "fork", tr("New run with the entire state"), [this, name](const Item& item) { m_verbs.fork(folder(), name(item)); });
    add(m_weights, theme::Icon::Weights, tr("Start from weights"), "startFromWeights", tr("New run at step 0 with these weights and a fresh optimizer"),
        [this, name](const Item& item) { m_verbs.startFromWeights(folder(), name(item)); });
    add(m_changes, theme::Icon::NewRun, tr("With changes…"), "goOnWithChanges", tr("Any of these with other settings; a sheet tells first what would happen"),
        [this](const Item& item) { goOnWithChanges(item); });
    add(m_queue, theme::Icon::Queue, tr("Queue…"), "queueCheckpoint", tr("Any of these once its device is free, behind the runs that wait already"),
        [this](const Item& item) { showQueueMenu(item); });
    begin(groups[1]);
    m_summary = theme::label({}, theme::TextRole::Body, "muted");
    m_summary->setObjectName(QStringLiteral("checkpointsSummary"));
    row->addWidget(m_summary);
    row->addSpacing(10);
    add(m_pin, theme::Icon::Pin, tr("Pin"), "pin", tr("A pinned checkpoint is never cleared away"), [this](const Item& item) {
        const std::string folderName = item.info.folder;
        m_session->editUser([folderName, on = !item.info.pinned](rundir::UserRecord& user) {
            std::erase(user.pinned, folderName);
            if (on) user.pinned.push_back(folderName);
        });
    });
    add(m_verify, theme::Icon::Verify, tr("Verify"), "verify", tr("Reads every byte and compares it with what was written"),
        [this, name](const Item& item) { m_verbs.verify(folder(), name(item)); });
    add(m_export, theme::Icon::Export, tr("Export"), "export", tr("Weights, class names, preprocessing and a loader in Python"),
        [this, name](const Item& item) { m_verbs.exportRun(folder(), name(item)); });
    add(m_delete, theme::Icon::Trash, tr("Delete…"), "deleteCheckpoint", tr("Moves this checkpoint to the trash"),
        [this, name](const Item& item) { m_verbs.deleteCheckpoint(folder(), name(item), item.info.step.value()); }, theme::ButtonKind::Danger);
    return new theme::SplitRow(groups[0], groups[1]);
}

void CheckpointsTab::buildTree() {
    m_tree = new QTreeView;
    m_tree->setObjectName(QStringLiteral("checkpointsTree"));
    m_tree->setAccessibleName(tr("Checkpoints"));
    m_tree->setModel(&m_model);
    m_tree->setItemDelegate(new CheckpointsDelegate(m_tree));
    m_tree->setRootIsDecorated(false);
    m_tree->setItemsExpandable(false);
    m_tree->setExpandsOnDoubleClick(false);
    m_tree->setIndentation(14);
    m_tree->setUniformRowHeights(true);
    m_tree->setStyleSheet(QStringLiteral("QTreeView::item { height: 34px; }"));
    m_tree->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_tree->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_tree->header()->setStretchLastSection(true);
    m_tree->header()->setHighlightSections(false);
    const int widths[] = {104, 120, 100, 270, 170};
    for (int column = 0; column < CheckpointsModel::Kept; ++column) m_tree->header()->resizeSection(column, widths[column]);
    theme::giveWay(m_tree->header(), 150, CheckpointsModel::Metrics, 200, {CheckpointsModel::Verified});
    connect(m_tree->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
        if (m_restoring) return;
        m_selected = m_model.folder(now);
        m_chosen = true;
        refreshVerbs();
    });
}

void CheckpointsTab::setSession(std::shared_ptr<session::RunSession> session) {
    if (m_session) m_session->disconnect(this);
    m_session = std::move(session);
    m_selected.clear();
    m_chosen = false;
    m_model.setSession(m_session);
    m_chart->setSession(m_session);
    if (m_session) {
        for (const auto signal : {&session::RunSession::stateChanged, &session::RunSession::checkpointsChanged, &session::RunSession::userChanged})
            connect(m_session.get(), signal, this, &CheckpointsTab::refresh);
    }
    refresh();
}

void CheckpointsTab::applyPalette() { m_chart->setColors(charts::Palette::of(theme::colors().dark)); }

void CheckpointsTab::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    m_chart->setVisible(height() >= kLow);
}

void CheckpointsTab::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::StyleChange && m_chart != nullptr) applyPalette();
}

void CheckpointsTab::select(const QString& checkpoint) {
    m_selected = checkpoint;
    m_chosen = true;
    refresh();
}

const session::CheckpointItem* CheckpointsTab::selected() const {
    if (!m_session) return nullptr;
    for (const session::CheckpointItem& item : m_session->checkpoints())
        if (toQt(item.info.folder) == m_selected) return &item;
    return nullptr;
}

QString CheckpointsTab::folder() const { return m_session ? toQt(m_session->run().name()) : QString(); }

const session::CheckpointItem* CheckpointsTab::newest() const {
    const session::CheckpointItem* found = nullptr;
    for (const session::CheckpointItem& item : m_session->checkpoints())
        if (item.onSurvivingLine && item.info.problem.empty() && (found == nullptr || item.info.step >= found->info.step)) found = &item;
    return found;
}

void CheckpointsTab::refresh() {
    const int count = m_model.checkpoints();
    m_content->setCurrentIndex(count > 0 ? 0 : 1);
    const QString never = m_session ? whyNoCheckpoints(kindOf(m_session->summary())) : QString();
    if (never.isEmpty()) m_none->setText(tr("No checkpoint yet"), tr("One is written at each interval of the configuration, at a stop, at the end, and when you press Save now."));
    else m_none->setText(tr("No checkpoints"), never);
    m_summary->setText(count > 0 ? tr("%n checkpoint(s), %1", nullptr, count).arg(toQt(diskText(m_model.totalBytes()))) : QString());
    m_tree->expandAll();
    for (int group = 0; group < m_model.rowCount(); ++group) m_tree->setFirstColumnSpanned(group, {}, true);
    m_restoring = true;
    if (m_session && (!m_chosen || selected() == nullptr)) {
        const session::CheckpointItem* first = newest();
        m_selected = first == nullptr ? QString() : toQt(first->info.folder);
        m_chosen = false;
    }
    if (const QModelIndex index = m_model.indexOf(m_selected); index.isValid()) m_tree->setCurrentIndex(index);
    m_restoring = false;
    refreshVerbs();
}

void CheckpointsTab::goOnWithChanges(const session::CheckpointItem& item) {
    QStringList verbs;
    if (!m_session->isAlive()) {
        if (&item == newest()) verbs << QStringLiteral("continue");
        verbs << QStringLiteral("roll-back");
    }
    verbs << QStringLiteral("fork") << QStringLiteral("start-from-weights");
    m_verbs.goOnWithChanges(folder(), toQt(item.info.folder), verbs, verbs.front());
}

void CheckpointsTab::showQueueMenu(const session::CheckpointItem& item) {
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("queueCheckpointMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->setToolTipsVisible(true);
    const QString checkpoint = toQt(item.info.folder);
    const auto add = [&](const Verb& verb, theme::Icon icon, auto slot) {
        QAction* action = menu->addAction(theme::icon(icon), verb.button->text());
        action->setEnabled(verb.button->isEnabled());   // what cannot be done now cannot be done then
        action->setToolTip(verb.button->toolTip());
        connect(action, &QAction::triggered, this, slot);
    };
    constexpr auto kQueued = session::When::Queued;
    add(m_continue, theme::Icon::Resume, [this] { m_verbs.continueRun(folder(), kQueued); });
    add(m_rollBack, theme::Icon::RollBack, [this, checkpoint, step = item.info.step.value()] {
        m_verbs.rollBack(folder(), checkpoint, step, m_session->counters().globalStep.value(), kQueued);
    });
    add(m_fork, theme::Icon::Fork, [this, checkpoint] { m_verbs.fork(folder(), checkpoint, kQueued); });
    add(m_weights, theme::Icon::Weights, [this, checkpoint] { m_verbs.startFromWeights(folder(), checkpoint, kQueued); });
    menu->popup(m_queue.button->mapToGlobal(QPoint(0, m_queue.button->height() + 4)));
}

void CheckpointsTab::setVerb(const Verb& verb, const QString& whyNot) {
    verb.button->setEnabled(whyNot.isEmpty());
    verb.button->setToolTip(whyNot.isEmpty() ? verb.help : whyNot);
    verb.button->setAccessibleDescription(verb.button->toolTip());
}

void CheckpointsTab::refreshVerbs() {
    const session::CheckpointItem* item = selected();
    const Verb* all[] = {&m_continue, &m_rollBack, &m_fork, &m_weights, &m_changes, &m_queue, &m_pin, &m_verify, &m_export, &m_delete};
    if (item == nullptr) {
        const QString never = m_session ? whyNoCheckpoints(kindOf(m_session->summary())) : QString();
        for (const Verb* verb : all) setVerb(*verb, never.isEmpty() ? tr("Select a checkpoint first.") : never);
        m_help->setText({});
        return;
    }
    if (const QString nothingGoes = m_session->standing().whyNothingGoes(); !nothingGoes.isEmpty()) {
        for (const Verb* verb : all) setVerb(*verb, nothingGoes);
        m_help->setText(nothingGoes);
        return;
    }
    const QString running = m_session->isAlive() ? tr("The run is up; stop it first.") : QString();
    const QString broken = item->info.problem.empty() ? QString() : tr("This checkpoint cannot be used: %1").arg(toQt(item->info.problem));
    const session::CheckpointItem* top = newest();
    const QString notNewest = item == top ? QString() : tr("Only the newest checkpoint of the current branch continues it. Use Roll back here.");
    const auto first = [](std::initializer_list<QString> reasons) {
        for (const QString& reason : reasons)
            if (!reason.isEmpty()) return reason;
        return QString();
    };
    const QString notOn = first({running, broken, notNewest});
    setVerb(m_continue, notOn);
    setVerb(m_rollBack, first({running, broken}));
    setVerb(m_fork, broken);
    setVerb(m_weights, broken);
    setVerb(m_changes, broken);
    setVerb(m_queue, broken);
    setVerb(m_pin, {});
    m_pin.button->setText(item->info.pinned ? tr("Unpin") : tr("Pin"));
    setVerb(m_verify, {});
    setVerb(m_export, broken);
    setVerb(m_delete, first({running, item->info.pinned ? tr("It is pinned; unpin it first.") : QString()}));
    const QString others = tr("Roll back: same run, new branch  ·  Fork: new run, entire state  ·  Start from weights: new run, fresh optimizer");
    m_help->setText((notOn.isEmpty() ? tr("Continue: same run, on from here") : tr("Continue is off: %1").arg(notOn)) + QStringLiteral("  ·  ") + others);
}

}  // namespace lathe::pages
