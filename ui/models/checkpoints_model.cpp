#include "models/checkpoints_model.h"

#include "base/clock.h"
#include "base/number_text.h"
#include "session/qt_text.h"
#include "session/run_words.h"
#include "theme/plain_tip.h"

#include <QLocale>

#include <algorithm>

namespace lathe::models {

using session::CheckpointItem;
using session::toQt;

namespace {

/// An index of a checkpoint carries its group's place plus one; a group's index carries 0.
constexpr quintptr kGroup = 0;

QString ageText(std::int64_t wallNs) { return session::ageText(wallNs, Clock::system().wallNs()); }

QString verbText(const std::string& verb) {
    if (verb == "continue") return CheckpointsModel::tr("continued");
    if (verb == "roll-back") return CheckpointsModel::tr("rolled back");
    if (verb == "restart") return CheckpointsModel::tr("restarted");
    if (verb == "start-over") return CheckpointsModel::tr("started over");
    if (verb == "fork") return CheckpointsModel::tr("forked");
    if (verb == "start-from-weights") return CheckpointsModel::tr("started from weights");
    return CheckpointsModel::tr("started");
}

}  // namespace

CheckpointsModel::CheckpointsModel(QObject* parent) : QAbstractItemModel(parent) {}

void CheckpointsModel::setSession(std::shared_ptr<session::RunSession> session) {
    if (m_session) m_session->disconnect(this);
    m_session = std::move(session);
    if (m_session) {
        connect(m_session.get(), &session::RunSession::checkpointsChanged, this, [this] { rebuild(); });
        connect(m_session.get(), &session::RunSession::loaded, this, [this] { rebuild(); });
    }
    rebuild();
}

void CheckpointsModel::rebuild() {
    beginResetModel();
    m_groups.clear();
    if (m_session) {
        for (const CheckpointItem& item : m_session->checkpoints()) {  // oldest first: groups and their items are turned around below
            const std::int32_t number = item.info.session;
            auto group = std::find_if(m_groups.begin(), m_groups.end(), [&](const Group& each) { return each.session == number; });
            if (group == m_groups.end()) group = m_groups.insert(m_groups.end(), {number, titleOf(number), {}});
            group->items.insert(group->items.begin(), item);
        }
        std::stable_sort(m_groups.begin(), m_groups.end(), [](const Group& a, const Group& b) { return a.session > b.session; });
    }
    endResetModel();
}

QString CheckpointsModel::titleOf(std::int32_t number) const {
    if (number == 0) return tr("What this run began from");
    const session::RunData& data = m_session->data();
    const auto& sessions = data.sessions();
    const auto row = std::find_if(sessions.begin(), sessions.end(), [&](const auto& each) { return each.number == number; });
    QString title = tr("Session %1").arg(number);
    if (row == sessions.end()) return title;
    if (data.branchOf(sessions.back().number) > 0) title += QStringLiteral(" · ") + tr("branch %1").arg(data.branchOf(number) + 1);
    title += QStringLiteral(" · ");
    if (row->parentSession <= 0) return title + verbText(row->verb);
    return title + tr("%1 at step %2", "rolled back at step 600").arg(verbText(row->verb), QLocale(QLocale::English).toString(qlonglong(std::max<std::int64_t>(0, row->firstStep - 1))));
}

QModelIndex CheckpointsModel::indexOf(const QString& folder) const {
    for (std::size_t g = 0; g < m_groups.size(); ++g)
        for (std::size_t i = 0; i < m_groups[g].items.size(); ++i)
            if (toQt(m_groups[g].items[i].info.folder) == folder) return createIndex(int(i), 0, quintptr(g + 1));
    return {};
}

const CheckpointItem* CheckpointsModel::itemAt(const QModelIndex& index) const {
    if (!index.isValid() || index.internalId() == kGroup) return nullptr;
    const std::size_t group = std::size_t(index.internalId() - 1);
    if (group >= m_groups.size() || std::size_t(index.row()) >= m_groups[group].items.size()) return nullptr;
    return &m_groups[group].items[std::size_t(index.row())];
}

QString CheckpointsModel::folder(const QModelIndex& index) const {
    const CheckpointItem* item = itemAt(index);
    return item ? toQt(item->info.folder) : QString();
}

std::uint64_t CheckpointsModel::totalBytes() const {
    std::uint64_t bytes = 0;
    for (const Group& group : m_groups)
        for (const CheckpointItem& item : group.items) bytes += item.info.bytes;
    return bytes;
}

int CheckpointsModel::checkpoints() const {
    std::size_t count = 0;
    for (const Group& group : m_groups) count += group.items.size();
    return int(count);
}

std::optional<std::int64_t> CheckpointsModel::updatesAtRisk() const {
    if (!m_session || !m_session->isAlive()) return std::nullopt;
    std::int64_t safe = 0;
    for (const CheckpointItem& item : m_session->checkpoints())
        if (item.info.problem.empty() && item.onSurvivingLine) safe = std::max(safe, item.info.step.value());
    return std::max<std::int64_t>(0, m_session->counters().globalStep.value() - safe);
}

void CheckpointsModel::updateAges() {
    for (std::size_t g = 0; g < m_groups.size(); ++g)
        if (const int n = int(m_groups[g].items.size()); n > 0) Q_EMIT dataChanged(createIndex(0, Age, quintptr(g + 1)), createIndex(n - 1, Verified, quintptr(g + 1)));
}

QModelIndex CheckpointsModel::index(int row, int column, const QModelIndex& parent) const {
    if (!hasIndex(row, column, parent)) return {};
    return createIndex(row, column, parent.isValid() ? quintptr(parent.row() + 1) : kGroup);
}

QModelIndex CheckpointsModel::parent(const QModelIndex& child) const {
    if (!child.isValid() || child.internalId() == kGroup) return {};
    return createIndex(int(child.internalId() - 1), 0, kGroup);
}

int CheckpointsModel::rowCount(const QModelIndex& parent) const {
    if (!parent.isValid()) return int(m_groups.size());
    if (parent.internalId() != kGroup || parent.column() != 0 || std::size_t(parent.row()) >= m_groups.size()) return 0;
    return int(m_groups[std::size_t(parent.row())].items.size());
}

int CheckpointsModel::columnCount(const QModelIndex&) const { return ColumnCount; }

Qt::ItemFlags CheckpointsModel::flags(const QModelIndex& index) const {
    if (!index.isValid()) return Qt::NoItemFlags;
    return itemAt(index) ? Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemNeverHasChildren : Qt::ItemIsEnabled;
}

QVariant CheckpointsModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    if (const CheckpointItem* item = itemAt(index)) return itemCell(*item, index.column(), role);
    if (std::size_t(index.row()) >= m_groups.size() || index.column() != 0) return {};
    return role == Qt::DisplayRole ? QVariant(m_groups[std::size_t(index.row())].title) : QVariant();
}

QVariant CheckpointsModel::itemCell(const CheckpointItem& item, int column, int role) const {
    switch (role) {
    case Qt::DisplayRole: return display(item, column);
    case Qt::ToolTipRole: return theme::plainTip(toolTip(item, column));
    case Qt::TextAlignmentRole: return alignment(column);
    case FolderRole: return toQt(item.info.folder);
    case UsableRole: return item.info.problem.empty();
    case ProblemRole: return toQt(item.info.problem);
    case BestRole: return item.info.best;
    case PinnedRole: return item.info.pinned;
    case AbandonedRole: return !item.onSurvivingLine;
    default: return {};
    }
}

QString CheckpointsModel::toolTip(const CheckpointItem& item, int column) const {
    if (column == Age && item.info.wallNs > 0) return session::timeText(item.info.wallNs);
    if (column == Verified && item.info.problem.empty() && item.info.verifiedNs > 0) return session::timeText(item.info.verifiedNs);
    return item.info.problem.empty() ? toQt(item.info.folder) : toQt(item.info.problem);
}

int CheckpointsModel::alignment(int column) { return int((column == Step || column == Size ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter); }

QString CheckpointsModel::display(const CheckpointItem& item, int column) const {
    switch (column) {
    case Step: return QLocale(QLocale::English).toString(qlonglong(item.info.step.value()));
    case Age: return item.info.wallNs > 0 ? ageText(item.info.wallNs) : QString();
    case Size: return toQt(diskText(item.info.bytes));
    case Metrics: {
        QStringList texts;
        for (const auto& [name, exact] : item.info.metrics) {
            const auto value = readDouble(exact);
            texts += toQt(name.starts_with("eval/") ? name.substr(5) : name) + QLatin1Char(' ') + (value ? toQt(shortText(*value)) : toQt(exact));
        }
        return texts.join(QStringLiteral(" · "));
    }
    case Verified: return !item.info.problem.empty() ? QString() : item.info.verifiedNs > 0 ? tr("whole, %1").arg(ageText(item.info.verifiedNs)) : tr("not yet");
    case Kept: return whyKept(item);
    default: return {};
    }
}

static QString textOf(rundir::KeepReason reason) {
    using rundir::KeepReason;
    switch (reason) {
    case KeepReason::Newest: return CheckpointsModel::tr("newest");
    case KeepReason::Best: return CheckpointsModel::tr("best");
    case KeepReason::Every: return CheckpointsModel::tr("one of every so many");
    case KeepReason::Pinned: return CheckpointsModel::tr("pinned");
    case KeepReason::Parent: return CheckpointsModel::tr("another run was made from it");
    case KeepReason::InUse: return CheckpointsModel::tr("the run went on from it");
    case KeepReason::Origin: return CheckpointsModel::tr("the run began from it");
    case KeepReason::LeftBranch: return CheckpointsModel::tr("newest of its branch");
    case KeepReason::Verified: return CheckpointsModel::tr("re-read and whole");
    case KeepReason::BeingWritten:
    case KeepReason::Unusable: break;   // its problem is shown
    }
    return {};
}

QString CheckpointsModel::whyKept(const CheckpointItem& item) const {
    if (item.info.isBeingWritten) return tr("being written");
    if (!item.info.problem.empty()) return tr("cannot be used: %1").arg(toQt(item.info.problem));
    QStringList reasons;
    for (const rundir::KeepReason reason : item.keptFor) reasons += textOf(reason);
    if (item.goesNext) reasons += tr("makes room for the next one");
    if (!item.onSurvivingLine) reasons += tr("on an abandoned branch");
    return reasons.join(QStringLiteral(" · "));
}

QVariant CheckpointsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole) return alignment(section);
    if (role != Qt::DisplayRole) return {};
    switch (section) {
    case Step: return tr("Step");
    case Age: return tr("Saved");
    case Size: return tr("Size");
    case Metrics: return tr("Evaluation");
    case Verified: return tr("Re-read");
    case Kept: return tr("Kept because");
    default: return {};
    }
}

}  // namespace lathe::models
