#include "models/events_model.h"

#include "session/qt_text.h"
#include "session/run_words.h"
#include "session/told.h"
#include "theme/plain_tip.h"

#include <QDateTime>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>

namespace lathe::models {

using session::toQt;

static int alignment(int column) { return int((column == EventsModel::Step ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter); }

EventsModel::EventsModel(QObject* parent) : QAbstractTableModel(parent) {}

void EventsModel::setSession(std::shared_ptr<session::RunSession> session) {
    beginResetModel();
    if (m_session) m_session->disconnect(this);
    m_session = std::move(session);
    m_seen = 0;
    m_rows = newOnes();
    if (m_session)
        for (const auto signal : {&session::RunSession::eventsReceived, &session::RunSession::loaded})
            connect(m_session.get(), signal, this, [this] { takeNew(); });
    endResetModel();
}

std::vector<std::size_t> EventsModel::newOnes() {
    std::vector<std::size_t> found;
    for (const std::size_t n = m_session ? m_session->events().size() : 0; m_seen < n; ++m_seen)
        if (!m_session->events()[m_seen].event.text.empty()) found.push_back(m_seen);
    return found;
}

void EventsModel::takeNew() {
    const std::vector<std::size_t> found = newOnes();
    if (found.empty()) return;
    beginInsertRows({}, 0, int(found.size()) - 1);  // events are only ever added
    m_rows.insert(m_rows.end(), found.begin(), found.end());
    endInsertRows();
}

int EventsModel::rowOf(qint64 id) const {
    for (int i = 0; i < rowCount(); ++i)
        if (row(i).id == id) return i;
    return -1;
}

int EventsModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(m_rows.size()); }
int EventsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(ColumnCount); }

QVariant EventsModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const store::EventRow& event = row(index.row());
    if (role == IdRole) return qint64(event.id);
    if (role == KindRole) return toQt(event.event.kind);
    if (role == CheckpointRole) {
        const QJsonObject facts = QJsonDocument::fromJson(QByteArray::fromStdString(event.event.json)).object();
        return facts.value(QStringLiteral("folder")).toString();
    }
    if (role == Qt::ToolTipRole && index.column() == Text) return theme::plainTip(session::told(toQt(event.event.text)));
    if (role == Qt::ToolTipRole && index.column() == Time) return session::timeText(event.event.wallNs);
    if (role == Qt::TextAlignmentRole) return alignment(index.column());
    if (role != Qt::DisplayRole) return {};
    switch (index.column()) {
    case Time: return QDateTime::fromMSecsSinceEpoch(event.event.wallNs / 1'000'000).toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
    case Step: return QLocale(QLocale::English).toString(qlonglong(event.event.step));
    case Kind: return session::eventKindText(toQt(event.event.kind));
    default: return session::told(toQt(event.event.text));
    }
}

QVariant EventsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole) return alignment(section);
    if (role != Qt::DisplayRole) return {};
    switch (section) {
    case Time: return tr("Time");
    case Step: return tr("Step");
    case Kind: return tr("Kind");
    case Text: return tr("What happened");
    default: return {};
    }
}

}  // namespace lathe::models
