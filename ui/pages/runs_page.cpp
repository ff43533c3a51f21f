#include "pages/runs_page.h"

#include "pages/run_kind.h"
#include "pages/run_verbs.h"
#include "pages/runs_delegate.h"
#include "pages/trash_list.h"
#include "session/qt_text.h"
#include "theme/parts.h"
#include "theme/tables.h"

#include <QAction>
#include <QHeaderView>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QShortcut>
#include <QStackedLayout>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::pages {
namespace {

using models::RunsModel;
using session::toQt;
using session::toStd;

constexpr int kRowHeight = 34;
enum Content { kTable, kNoRuns, kNoMatch, kLoading, kTrash };

}  // namespace

RunsPage::RunsPage(Context context, RunVerbs& verbs, QWidget* parent)
    : QWidget(parent), m_context(context), m_verbs(verbs), m_model(&context.workspace) {
    build();
    connect(&m_context.workspace, &session::Workspace::runsChanged, this, &RunsPage::refresh);
    connect(&m_context.queue, &session::QueueFeed::changed, this, &RunsPage::takePlaces);
    connect(&m_model, &RunsModel::modelReset, this, &RunsPage::refresh);
    connect(&m_model, &RunsModel::checkedChanged, this, &RunsPage::refresh);
    takePlaces();
    refresh();
}

/// A run that starts leaves the queue: how it stands now is asked for at once.
void RunsPage::takePlaces() {
    std::map<std::string, int> places;
    const auto& runs = m_context.queue.now().runs;
    for (std::size_t i = 0; i < runs.size(); ++i)
        if (!runs[i].key.isEmpty()) places[toStd(runs[i].key)] = int(i) + 1;
    m_model.setPlaces(std::move(places));
    m_context.workspace.refresh();
}

void RunsPage::build() {
    auto* column = theme::pageColumn(this);
    column->addWidget(buildBar());
    buildTable();
    auto* host = new QWidget;
    m_content = new QStackedLayout(host);
    m_content->addWidget(theme::tableCard(m_table));
    QPushButton* first = theme::button(tr("New run"), theme::Icon::Play, theme::ButtonKind::Primary);
    first->setObjectName(QStringLiteral("firstRun"));
    connect(first, &QPushButton::clicked, this, &RunsPage::newRun);
    m_content->addWidget(new theme::EmptyState(theme::Icon::Runs, tr("No runs yet"), tr("A run that you start appears here and stays, with its curves and checkpoints."), first));
    QPushButton* all = theme::button(tr("Show all runs"), theme::Icon::Close);
    all->setObjectName(QStringLiteral("clearFilter"));
    connect(all, &QPushButton::clicked, this, [this] {
        m_filter->clear();
        m_archived->setChecked(true);
    });
    m_content->addWidget(new theme::EmptyState(theme::Icon::Filter, tr("No run matches"), tr("The filter or the archive hides every run."), all));
    m_content->addWidget(new theme::EmptyState(theme::Icon::Clock, tr("Looking for runs"), toQt(m_context.workspace.folder().string())));
    m_deleted = new TrashList(m_context, m_verbs);
    m_content->addWidget(m_deleted);
    connect(m_deleted, &TrashList::failed, &m_verbs, [this](const QString& sentence) { m_verbs.fail({}, sentence); });
    column->addWidget(host, 1);
}

QWidget* RunsPage::buildBar() {
    auto* bar = new QWidget;
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    m_filter = new QLineEdit;
    m_filter->setObjectName(QStringLiteral("runsFilter"));
    m_filter->setPlaceholderText(tr("Filter by name, state, model, #tag  (Ctrl+F)"));
    m_filter->setAccessibleName(tr("Filter runs"));
    m_filter->addAction(theme::icon(theme::Icon::Search), QLineEdit::LeadingPosition)->setText(tr("Search"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setMaximumWidth(380);
    row->addWidget(m_filter, 1);
    m_archived = theme::flatButton(theme::Icon::Archive, tr("Archived"), true);
    m_archived->setObjectName(QStringLiteral("showArchived"));
    m_archived->setToolTip(tr("Show archived runs too"));
    row->addWidget(m_archived);
    m_trash = theme::flatButton(theme::Icon::Trash, tr("Trash"), true);
    m_trash->setObjectName(QStringLiteral("showTrash"));
    m_trash->setToolTip(tr("What was deleted and can come back"));
    row->addWidget(m_trash);
    m_count = theme::label({}, theme::TextRole::Body, "muted");
    m_count->setObjectName(QStringLiteral("runsCount"));
    row->addWidget(m_count);
    row->addStretch();
    m_compare = theme::button(tr("Compare"), theme::Icon::Compare);
    m_compare->setObjectName(QStringLiteral("compare"));
    row->addWidget(m_compare);
    QPushButton* make = theme::button(tr("New run"), theme::Icon::Play, theme::ButtonKind::Primary);
    make->setObjectName(QStringLiteral("newRun"));
    row->addWidget(make);

    connect(m_filter, &QLineEdit::textChanged, &m_model, &RunsModel::setFilter);
    connect(m_archived, &QToolButton::toggled, &m_model, &RunsModel::setShowArchived);
    connect(m_trash, &QToolButton::toggled, this, [this](bool on) {
        for (QWidget* other : {static_cast<QWidget*>(m_filter), static_cast<QWidget*>(m_archived)}) other->setEnabled(!on);
        if (on) m_deleted->refresh();
        refresh();
    });
    connect(m_compare, &QPushButton::clicked, this, [this] { Q_EMIT compare(m_model.checkedRuns()); });
    connect(make, &QPushButton::clicked, this, &RunsPage::newRun);
    auto* find = new QShortcut(QKeySequence::Find, this);
    find->setContext(Qt::WidgetWithChildrenShortcut);
    connect(find, &QShortcut::activated, this, &RunsPage::focusFilter);
    return bar;
}

void RunsPage::buildTable() {
    m_table = theme::rowTable("runsTable", tr("Runs"), kRowHeight);
    m_table->setModel(&m_model);
    m_table->setItemDelegate(new RunsDelegate(m_table));
    m_table->setMouseTracking(true);
    m_table->setContextMenuPolicy(Qt::CustomContextMenu);
    m_table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    QHeaderView* header = m_table->horizontalHeader();
    header->setSectionsClickable(true);
    header->setStretchLastSection(true);
    const int widths[] = {272, 120, 122, 130, 150, 96, 136, 60};
    for (int column = 0; column < RunsModel::ColumnCount; ++column) header->resizeSection(column, widths[column]);
    theme::keepWhole(m_table, {RunsModel::Progress, RunsModel::Metric, RunsModel::Duration, RunsModel::Started});
    theme::giveWay(header, 60, RunsModel::Name, 110, {RunsModel::Tags, RunsModel::Sparkline});
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(RunsModel::Started, Qt::DescendingOrder);

    connect(m_table, &QTableView::customContextMenuRequested, this, &RunsPage::showMenu);
    connect(m_table, &QTableView::activated, this, &RunsPage::openSelected);
    connect(m_table, &QTableView::doubleClicked, this, &RunsPage::openSelected);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
        if (!m_restoring && now.isValid()) m_selected = now.siblingAtColumn(0).data(RunsModel::FolderRole).toString();
    });
}

void RunsPage::focusFilter() {
    m_filter->setFocus(Qt::ShortcutFocusReason);
    m_filter->selectAll();
}

QString RunsPage::subtitle() const { return toQt(m_context.workspace.folder().string()); }

void RunsPage::refresh() {
    const int shown = m_model.rowCount(), all = m_model.total();
    m_content->setCurrentIndex(m_trash->isChecked() ? kTrash : shown > 0 ? kTable : !m_context.workspace.isLoaded() ? kLoading : all == 0 ? kNoRuns : kNoMatch);
    m_count->setText(all == 0 || m_trash->isChecked() ? QString() : shown == all ? tr("%n run(s)", nullptr, all) : tr("%1 of %n run(s)", nullptr, all).arg(shown));
    const auto ticked = int(m_model.checkedRuns().size());
    m_compare->setText(ticked > 0 ? tr("Compare %1").arg(ticked) : tr("Compare"));
    m_compare->setEnabled(ticked >= 2);
    m_compare->setToolTip(ticked >= 2 ? QString() : tr("Tick two or more runs first."));
    if (const int row = m_model.rowOf(m_selected); row >= 0 && m_table->currentIndex().row() != row) {
        m_restoring = true;
        m_table->selectRow(row);
        m_restoring = false;
    }
    Q_EMIT subtitleChanged();
}

QString RunsPage::selectedRun() const {
    const QModelIndex now = m_table->currentIndex();
    return now.isValid() ? now.siblingAtColumn(0).data(RunsModel::FolderRole).toString() : QString();
}

void RunsPage::openSelected() {
    if (const QString folder = selectedRun(); !folder.isEmpty()) Q_EMIT openRun(folder);
}

void RunsPage::showMenu(const QPoint& at) {
    const QString folder = selectedRun();
    const session::RunEntry* entry = m_context.workspace.find(toStd(folder));
    if (entry == nullptr) return;
    const bool alive = rundir::isAlive(entry->state);
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("runMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->setToolTipsVisible(true);
    const auto add = [&](theme::Icon icon, const QString& text, auto slot, const QString& whyNot = {}) {
        QAction* action = menu->addAction(theme::icon(icon), text);
        action->setEnabled(whyNot.isEmpty());
        action->setToolTip(whyNot);
        connect(action, &QAction::triggered, this, slot);
    };
    const int place = m_context.queue.placeOf(folder);
    const QString running = alive ? tr("The run is up; stop it first.") : place > 0 ? tr("It waits in the queue; take it out first.") : QString();
    add(theme::Icon::Run, tr("Open"), [this, folder] { Q_EMIT openRun(folder); });
    const RunKind kind = kindOf(entry->summary);
    const QString never = whyNoCheckpoints(kind);
    add(theme::Icon::Again, tr("Run again…"), [this, folder] { Q_EMIT runAgain(folder); }, whyNotAgain(kind));
    add(theme::Icon::Resume, tr("Continue"), [this, folder] { m_verbs.continueRun(folder); }, never.isEmpty() ? running : never);
    add(theme::Icon::Queue, tr("Continue in the queue"), [this, folder] { m_verbs.continueRun(folder, session::When::Queued); }, never.isEmpty() ? running : never);
    menu->addSeparator();
    add(theme::Icon::NewRun, tr("Rename…"), [this, folder] { m_verbs.rename(folder); });
    add(theme::Icon::Note, tr("Note…"), [this, folder] { m_verbs.editNote(folder); });
    add(theme::Icon::Tag, tr("Tags…"), [this, folder] { m_verbs.editTags(folder); });
    const bool star = entry->user.star, archived = entry->user.archived;
    add(theme::Icon::Star, star ? tr("Remove the star") : tr("Star"), [this, folder, star] { m_verbs.setStar(folder, !star); });
    add(theme::Icon::Archive, archived ? tr("Take out of the archive") : tr("Archive"), [this, folder, archived] { m_verbs.setArchived(folder, !archived); });
    menu->addSeparator();
    if (place > 0) {
        const session::QueuedRun queued = m_context.queue.now().runs[std::size_t(place) - 1];
        add(theme::Icon::Close, tr("Take out of the queue…"), [this, queued] { m_verbs.takeOutOfQueue(queued.id, queued.name); });
    }
    add(theme::Icon::Trash, tr("Move to trash…"), [this, folder] { m_verbs.moveToTrash(folder); }, running);
    menu->popup(m_table->viewport()->mapToGlobal(at));
}

}  // namespace lathe::pages
