// What happened in a run, newest first; events that only carry facts for programs are left out.
#pragma once

#include "session/run_session.h"

#include <QAbstractTableModel>

#include <memory>
#include <vector>

namespace lathe::models {

class EventsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Time, Step, Kind, Text, ColumnCount };
    enum Role { IdRole = Qt::UserRole + 1, KindRole, CheckpointRole };

    explicit EventsModel(QObject* parent = nullptr);
    void setSession(std::shared_ptr<session::RunSession> session);
    int rowOf(qint64 id) const;  ///< -1: not there

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    void takeNew();
    std::vector<std::size_t> newOnes();
    const store::EventRow& row(int row) const { return m_session->events()[m_rows[m_rows.size() - 1 - std::size_t(row)]]; }

    std::shared_ptr<session::RunSession> m_session;
    std::vector<std::size_t> m_rows;  ///< events of the session that are shown, oldest first
    std::size_t m_seen = 0;           ///< events of the session looked at
};

}  // namespace lathe::models
