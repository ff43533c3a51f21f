#include "models/events_model.h"

#include "session/qt_text.h"

#include <QDateTime>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>

namespace lathe::models {

using session::toQt;

EventsModel::EventsModel(QObject* parent) : QAbstractTableModel(parent) {}

void EventsModel::setSession(std::shared_ptr<session::RunSession> session) {
    beginResetModel();
    if (m_session) m_session->disconnect(this);
    m_session = std::move(session);
    m_count = m_session ? m_session->events().size() : 0;
    if (m_session)
        for (const auto signal : {&session::RunSession::eventsReceived, &session::RunSession::loaded})
            connect(m_session.get(), signal, this, [this] { takeNew(); });
    endResetModel();
}

void EventsModel::takeNew() {
    const std::size_t now = m_session->events().size();
    if (now == m_count) return;
    beginInsertRows({}, 0, int(now - m_count) - 1);  // events are only ever added
    m_count = now;
    endInsertRows();
}

int EventsModel::rowOf(qint64 id) const {
    for (std::size_t i = 0; i < m_count; ++i)
        if (m_session->events()[i].id == id) return int(m_count - 1 - i);
    return -1;
}

int EventsModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(m_count); }
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
    if (role == Qt::ToolTipRole && index.column() == Text) return toQt(event.event.text);
    if (role != Qt::DisplayRole) return {};
    switch (index.column()) {
    case Time: return QDateTime::fromMSecsSinceEpoch(event.event.wallNs / 1'000'000).toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
    case Step: return QLocale(QLocale::English).toString(qlonglong(event.event.step));
    case Kind: return toQt(event.event.kind).replace(QLatin1Char('_'), QLatin1Char(' '));
    default: return toQt(event.event.text);
    }
}

QVariant EventsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
    switch (section) {
    case Time: return tr("Time");
    case Step: return tr("Step");
    case Kind: return tr("Kind");
    case Text: return tr("What happened");
    default: return {};
    }
}

}  // namespace lathe::models
