#include "models/queue_model.h"

#include "session/run_words.h"
#include "theme/plain_tip.h"

#include <QMimeData>

#include <algorithm>

namespace lathe::models {

using launch::Wait;
using session::QueuedRun;

namespace {

const QString kMime = QStringLiteral("application/x-lathe-queued-run");

int alignment(int column) { return int((column == QueueModel::Place ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter); }

}  // namespace

QueueModel::QueueModel(session::QueueFeed& feed, QObject* parent) : QAbstractTableModel(parent), m_feed(feed), m_runs(feed.now().runs) {
    connect(&m_feed, &session::QueueFeed::changed, this, &QueueModel::take);
}

void QueueModel::take() {
    const auto& now = m_feed.now().runs;
    const bool sameRows = std::equal(now.begin(), now.end(), m_runs.begin(), m_runs.end(), [](const QueuedRun& a, const QueuedRun& b) { return a.id == b.id; });
    if (!sameRows) beginResetModel();
    m_runs = now;
    if (!sameRows) endResetModel();
    else if (!m_runs.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

int QueueModel::rowOf(const QString& id) const {
    const auto found = std::find_if(m_runs.begin(), m_runs.end(), [&](const QueuedRun& run) { return run.id == id; });
    return found == m_runs.end() ? -1 : int(found - m_runs.begin());
}

int QueueModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(m_runs.size()); }
int QueueModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(ColumnCount); }

QString QueueModel::display(std::size_t row, int column) const {
    const QueuedRun& run = m_runs[row];
    switch (column) {
    case Place: return QString::number(row + 1);
    case Name: return run.name;
    case State: return run.wait.what == Wait::For::Release ? tr("Held") : run.wait.what == Wait::For::Machine ? tr("Cannot start") : run.wait.what == Wait::For::Device ? tr("Next") : tr("Waits");
    case WaitsFor: return m_feed.waitText(row);
    default: return session::dayTimeText(run.queuedNs);
    }
}

QString QueueModel::toolTip(std::size_t row, int column) const {
    const QueuedRun& run = m_runs[row];
    if (column == Since) return session::timeText(run.queuedNs);
    if (column == Name) return run.workspace.isEmpty() ? run.name : run.name + QLatin1Char('\n') + tr("It lies in another workspace: %1").arg(run.workspace);
    return m_feed.waitText(row);
}

QVariant QueueModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const QueuedRun& run = m_runs[std::size_t(index.row())];
    switch (role) {
    case Qt::DisplayRole: return display(std::size_t(index.row()), index.column());
    case Qt::ToolTipRole: return theme::plainTip(toolTip(std::size_t(index.row()), index.column()));
    case Qt::TextAlignmentRole: return alignment(index.column());
    case Qt::AccessibleTextRole: return display(std::size_t(index.row()), index.column());
    case IdRole: return run.id;
    case KeyRole: return run.key;
    case HeldRole: return run.held;
    case WaitRole: return int(run.wait.what);
    case OtherPlaceRole: return run.key.isEmpty();
    default: return {};
    }
}

QVariant QueueModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || (role != Qt::DisplayRole && role != Qt::TextAlignmentRole)) return {};
    if (role == Qt::TextAlignmentRole) return alignment(section);
    switch (section) {
    case Place: return tr("Place");
    case Name: return tr("Run");
    case State: return tr("State");
    case WaitsFor: return tr("How it stands");
    case Since: return tr("Since");
    default: return {};
    }
}

Qt::ItemFlags QueueModel::flags(const QModelIndex& index) const {
    // A row can be dropped between rows only, so the rows themselves take nothing.
    return index.isValid() ? QAbstractTableModel::flags(index) | Qt::ItemIsDragEnabled : Qt::ItemIsDropEnabled;
}

QStringList QueueModel::mimeTypes() const { return {kMime}; }

QMimeData* QueueModel::mimeData(const QModelIndexList& indexes) const {
    if (indexes.isEmpty()) return nullptr;
    auto* data = new QMimeData;
    data->setData(kMime, indexes.front().data(IdRole).toString().toUtf8());
    return data;
}

bool QueueModel::dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int, const QModelIndex& parent) {
    if (action != Qt::MoveAction || data == nullptr || !data->hasFormat(kMime)) return false;
    const QString id = QString::fromUtf8(data->data(kMime));
    const int from = rowOf(id), before = row >= 0 ? row : parent.isValid() ? parent.row() : rowCount();
    if (from < 0) return false;
    const int to = before > from ? before - 1 : before;   // its own row goes away first
    if (to != from) Q_EMIT moveWanted(id, to + 1);
    return true;
}

}  // namespace lathe::models
