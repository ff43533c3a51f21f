#include "pages/trash_list.h"

#include "pages/run_verbs.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/trash.h"
#include "session/qt_text.h"
#include "session/run_words.h"
#include "theme/parts.h"
#include "theme/plain_tip.h"
#include "theme/tables.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>
#include <QStackedLayout>
#include <QTableView>
#include <QVBoxLayout>

#include <utility>

namespace lathe::pages {
namespace {

using session::toQt;
using session::toStd;

enum Column { Name, Was, Step, Started, ColumnCount };
constexpr int kReference = Qt::UserRole + 1;   ///< as lathe-trainer restore takes it
constexpr int kRowHeight = 34;
constexpr int kLookMs = 1000;

/// Another one after whatever came into the trash or went.
std::int64_t stampOf(const std::filesystem::path& trash) {
    std::error_code missing;
    const auto changed = std::filesystem::last_write_time(trash, missing);
    return missing ? -1 : std::int64_t(changed.time_since_epoch().count());
}

QStandardItem* cell(const QString& text, Qt::Alignment side = Qt::AlignLeft) {
    auto* item = new QStandardItem(text);
    item->setTextAlignment(side | Qt::AlignVCenter);
    item->setEditable(false);
    return item;
}

}  // namespace

TrashList::TrashList(Context context, RunVerbs& verbs, QWidget* parent) : QWidget(parent), m_context(context), m_verbs(verbs), m_model(0, ColumnCount), m_looks(session::jobPool()) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(12);
    buildBar(column);
    buildTable();
    auto* host = new QWidget;
    m_content = new QStackedLayout(host);
    m_content->addWidget(theme::tableCard(m_table));
    m_content->addWidget(new theme::EmptyState(theme::Icon::Trash, tr("The trash is empty"), tr("Runs and checkpoints that are deleted lie here until the trash is emptied, and can come back.")));
    column->addWidget(host, 1);
    // Whatever was done with a run may have been done with one of these.
    connect(&m_verbs, &RunVerbs::said, this, [this] {
        if (isVisible()) refresh();
    });
    connect(&m_timer, &QTimer::timeout, this, &TrashList::look);
    m_timer.start(kLookMs);
    refreshButtons();
}

void TrashList::buildBar(QVBoxLayout* column) {
    auto* row = new QHBoxLayout;
    row->setSpacing(6);
    m_restore = theme::button(tr("Restore"), theme::Icon::RollBack);
    m_restore->setObjectName(QStringLiteral("restoreDeleted"));
    connect(m_restore, &QPushButton::clicked, this, &TrashList::restore);
    row->addWidget(m_restore);
    m_empty = theme::button(tr("Empty the trash…"), theme::Icon::Trash, theme::ButtonKind::Danger);
    m_empty->setObjectName(QStringLiteral("emptyTrash"));
    connect(m_empty, &QPushButton::clicked, &m_verbs, &RunVerbs::emptyTrash);
    row->addWidget(m_empty);
    row->addSpacing(6);
    auto* note = new theme::ElidedLabel(theme::TextRole::Body, "muted");
    note->setFullText(tr("Its room on the disk is free once it is emptied."));
    row->addWidget(note, 1);
    column->addLayout(row);
}

void TrashList::buildTable() {
    m_table = theme::rowTable("trashTable", tr("Trash"), kRowHeight);
    m_table->setModel(&m_model);
    m_table->setTextElideMode(Qt::ElideMiddle);
    QHeaderView* header = m_table->horizontalHeader();
    header->setSectionResizeMode(Name, QHeaderView::Stretch);
    const std::pair<int, int> widths[] = {{Was, 150}, {Step, 110}, {Started, 160}};
    for (const auto& [column, width] : widths) header->resizeSection(column, width);
    const QString titles[] = {tr("Name"), tr("What it was"), tr("Step"), tr("Started")};
    for (int column = 0; column < ColumnCount; ++column) {
        auto* title = new QStandardItem(titles[column]);
        title->setTextAlignment((column == Step ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        m_model.setHorizontalHeaderItem(column, title);
    }
    theme::keepWhole(m_table, {Step, Started});
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &TrashList::refreshButtons);
    connect(m_table, &QTableView::activated, this, &TrashList::restore);
}

void TrashList::refresh() {
    m_context.replies.await(m_context.launcher.verb({QStringLiteral("trash")}), this, [this](const session::LaunchResult& listed) {
        if (listed.ok) take(listed.json);
        else Q_EMIT failed(listed.sentence);
    });
}

/// Only its time is looked at each second, in the background; a program is asked once that has changed.
void TrashList::look() {
    if (!isVisible() || m_looks.running()) return;
    m_looks.start([trash = rundir::trashOf(m_context.workspace.folder())](const auto&) { return stampOf(trash); }, [this](std::int64_t stamp) {
        if (std::exchange(m_stamp, stamp) != stamp) refresh();
    });
}

void TrashList::take(const QByteArray& json) {
    if (json == m_shown) return;   // nothing jumps
    m_shown = json;
    const QString marked = m_table->currentIndex().siblingAtColumn(Name).data(kReference).toString();
    m_model.removeRows(0, m_model.rowCount());
    for (const QJsonValue& each : QJsonDocument::fromJson(json).array()) {
        const QString checkpoint = each[QStringLiteral("checkpoint")].toString(), run = each[QStringLiteral("run_folder")].toString();
        QStandardItem* name = nullptr;
        QList<QStandardItem*> row;
        if (checkpoint.isEmpty()) {
            name = cell(each[QStringLiteral("name")].toString());
            name->setData(each[QStringLiteral("folder")].toString().section(QLatin1Char('/'), -1), kReference);
            const QString state = each[QStringLiteral("state")].toString();
            const auto known = rundir::stateFrom(toStd(state));
            const auto started = QDateTime::fromString(each[QStringLiteral("created")].toString(), Qt::ISODate).toMSecsSinceEpoch() * 1'000'000;
            row << name << cell(known ? session::stateWord(*known) : state) << cell(QLocale().toString(qint64(each[QStringLiteral("step")].toDouble())), Qt::AlignRight)
                << cell(session::dayTimeText(started));
            row.back()->setToolTip(session::timeText(started));
        } else {
            const session::RunEntry* entry = m_context.workspace.find(toStd(run));
            const auto place = rundir::parseCheckpointName(toStd(checkpoint));
            name = cell(entry == nullptr ? run : entry->name());
            name->setData(run + QLatin1Char('@') + checkpoint, kReference);
            row << name << cell(tr("Checkpoint")) << cell(place ? QLocale().toString(qint64(place->step.value())) : checkpoint, Qt::AlignRight) << cell({});
        }
        name->setToolTip(theme::plainTip(name->text()));
        m_model.appendRow(row);
        if (name->data(kReference).toString() == marked) m_table->setCurrentIndex(name->index());
    }
    m_content->setCurrentIndex(m_model.rowCount() > 0 ? 0 : 1);
    if (m_model.rowCount() > 0 && !m_table->currentIndex().isValid()) m_table->selectRow(0);
    refreshButtons();
}

void TrashList::restore() {
    const QModelIndex name = m_table->currentIndex().siblingAtColumn(Name);
    if (name.isValid()) m_verbs.restore(name.data(kReference).toString(), name.data().toString());
}

void TrashList::refreshButtons() {
    m_restore->setEnabled(m_table->currentIndex().isValid());
    m_empty->setEnabled(m_model.rowCount() > 0);
}

}  // namespace lathe::pages
