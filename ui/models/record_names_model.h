// The names under which a run recorded something beside its curves, by kind and name, with a filter.
#pragma once

#include "session/run_records.h"

#include <QAbstractTableModel>

#include <optional>
#include <vector>

namespace lathe::models {

class RecordNamesModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Name, Kind, Count, LastStep, ColumnCount };

    explicit RecordNamesModel(QObject* parent = nullptr);
    /// Resets the model where there are other names; else only numbers change and selections stay.
    void setNames(const std::vector<session::RecordNames>& names);
    void setFilter(const QString& text);
    const session::RecordNames& at(int row) const { return m_all[m_shown[std::size_t(row)]]; }
    int rowOf(const session::RecordKey& key) const;  ///< -1: not there, or filtered out

    static QString kindText(live::FrameType type);
    static QString nameText(const session::RecordKey& key);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    std::vector<std::size_t> matching() const;

    std::vector<session::RecordNames> m_all;
    std::vector<std::size_t> m_shown;
    QString m_filter;
};

}  // namespace lathe::models
