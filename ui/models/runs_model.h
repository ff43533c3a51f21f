// The Runs table: its own filtered and sorted index over the workspace's runs (a proxy model is ten times slower at
// 100,000 rows), check boxes for Compare. The page keeps its selection by folder.
#pragma once

#include "session/workspace.h"

#include <QAbstractTableModel>

#include <map>
#include <string>
#include <vector>

namespace lathe::models {

class RunsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Name, State, Progress, Metric, Sparkline, Duration, Started, Tags, ColumnCount };
    enum Role {
        FolderRole = Qt::UserRole + 1,  ///< QString
        StateRole,                      ///< int of rundir::State
        SnagRole,                       ///< int of session::Snag
        FractionRole,                   ///< 0..1, or -1 where no end is planned
        SparklineRole,                  ///< QVector<QPointF>: (step, loss); NaN kept
        MetricHigherIsBetterRole,       ///< bool
        WhyRole,                        ///< QString, the sentence of the end
        AliveRole,                      ///< bool
        StarRole, ArchivedRole,         ///< bool
        PlaceRole                       ///< int: place in the queue, counted from 1; 0 where it does not wait
    };

    explicit RunsModel(session::Workspace* workspace, QObject* parent = nullptr);

    /// Shows these rows until the workspace's runs change again (tests, previews).
    void setRuns(std::vector<session::RunEntry> runs);
    /// Words that must all occur in name, state, task, model, preset or tags. "#tag" and "is:running" narrow exactly.
    void setFilter(const QString& text);
    QString filter() const { return m_filter; }
    void setShowArchived(bool on);
    /// Who waits in the queue: folder to place.
    void setPlaces(std::map<std::string, int> places);
    int total() const { return int(m_runs.size()); }
    int rowOf(const QString& folder) const;             ///< -1: not shown
    const session::RunEntry& entry(int row) const { return m_runs[std::size_t(m_shown[std::size_t(row)])]; }

    /// Folders ticked for Compare, in the order of ticking.
    QStringList checkedRuns() const;
    void setChecked(const QString& folder, bool on);
    void clearChecked();

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;

Q_SIGNALS:
    void checkedChanged();

private:
    void rebuild();
    bool passes(std::size_t run) const;
    std::vector<int> shownNow() const;
    void orderAll();
    QString display(const session::RunEntry& entry, int column) const;
    QString toolTip(const session::RunEntry& entry, int column) const;

    session::Workspace* m_workspace;
    std::vector<session::RunEntry> m_runs;
    std::vector<QString> m_search;     ///< lower-cased text of each run, made once
    std::vector<int> m_order;          ///< all runs as they are sorted
    std::vector<int> m_shown;          ///< those of them that pass the filter
    QString m_filter;
    QStringList m_words;
    QStringList m_checked;
    std::map<std::string, int> m_places;
    bool m_showArchived = false;
    int m_sortColumn = Started;
    Qt::SortOrder m_sortOrder = Qt::DescendingOrder;
};

}  // namespace lathe::models
