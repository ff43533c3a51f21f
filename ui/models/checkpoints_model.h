// Checkpoints of a run as a tree: sessions, newest first; below each its checkpoints, newest first.
#pragma once

#include "session/run_session.h"

#include <QAbstractItemModel>

#include <memory>
#include <optional>
#include <vector>

namespace lathe::models {

class CheckpointsModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { Step, Age, Size, Metrics, Verified, Kept, ColumnCount };
    enum Role {
        FolderRole = Qt::UserRole + 1,  ///< QString; empty for a group
        UsableRole,                     ///< bool
        ProblemRole,                    ///< QString: why it cannot be used
        BestRole, PinnedRole,           ///< bool
        AbandonedRole                   ///< bool: on a branch that was left
    };

    explicit CheckpointsModel(QObject* parent = nullptr);
    void setSession(std::shared_ptr<session::RunSession> session);

    QModelIndex indexOf(const QString& folder) const;   ///< invalid when it is not there
    QString folder(const QModelIndex& index) const;
    std::uint64_t totalBytes() const;
    int checkpoints() const;
    /// Updates since the newest usable checkpoint: what a crash would lose. Nothing when the run is not up.
    std::optional<std::int64_t> updatesAtRisk() const;
    /// Ages are told anew.
    void updateAges();

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

private:
    struct Group {
        std::int32_t session = 0;
        QString title;
        std::vector<session::CheckpointItem> items;
    };
    void rebuild();
    QString titleOf(std::int32_t session) const;
    const session::CheckpointItem* itemAt(const QModelIndex& index) const;  ///< nothing for a group
    QVariant itemCell(const session::CheckpointItem& item, int column, int role) const;
    QString toolTip(const session::CheckpointItem& item, int column) const;
    static int alignment(int column);
    QString display(const session::CheckpointItem& item, int column) const;
    QString whyKept(const session::CheckpointItem& item) const;

    std::shared_ptr<session::RunSession> m_session;
    std::vector<Group> m_groups;
};

}  // namespace lathe::models
