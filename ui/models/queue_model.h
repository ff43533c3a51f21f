// The queue as a table. A row that is dragged elsewhere is a wish (moveWanted): the queue itself decides.
#pragma once

#include "session/queue_feed.h"

#include <QAbstractTableModel>

namespace lathe::models {

class QueueModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Place, Name, State, WaitsFor, Since, ColumnCount };
    enum Role {
        IdRole = Qt::UserRole + 1,  ///< QString
        KeyRole,                    ///< QString: the run's folder in this workspace, else empty
        HeldRole,                   ///< bool
        WaitRole,                   ///< int of launch::Wait::For
        OtherPlaceRole              ///< bool: it lies in another workspace
    };

    explicit QueueModel(session::QueueFeed& feed, QObject* parent = nullptr);
    int rowOf(const QString& id) const;   ///< -1: does not wait

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    Qt::DropActions supportedDropActions() const override { return Qt::MoveAction; }
    QStringList mimeTypes() const override;
    QMimeData* mimeData(const QModelIndexList& indexes) const override;
    bool dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column, const QModelIndex& parent) override;

Q_SIGNALS:
    /// `place` is counted from 1.
    void moveWanted(const QString& id, int place);

private:
    void take();
    QString display(std::size_t row, int column) const;
    QString toolTip(std::size_t row, int column) const;

    session::QueueFeed& m_feed;
    std::vector<session::QueuedRun> m_runs;
};

}  // namespace lathe::models
