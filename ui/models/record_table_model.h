// A table as a program recorded it: rows and columns in its order. Numbers stand right; where the table is a square of
// counts (a confusion matrix) each number also says how much of its row it is, so that the view can shade it.
#pragma once

#include "store/record_content.h"

#include <QAbstractTableModel>

namespace lathe::models {

class RecordTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Role {
        ShareRole = Qt::UserRole + 1,  ///< double 0 … 1: part of its row's sum; invalid where the table is no matrix
        DiagonalRole                   ///< bool: row and column mean the same
    };

    explicit RecordTableModel(QObject* parent = nullptr);
    void setTable(store::TableContent table);
    /// As many rows as columns of counts, with or without a first column of names.
    bool isMatrix() const { return m_firstCount >= 0; }
    /// Tabs between cells, for other programs.
    QString text() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    const store::RecordCell* cell(int row, int column) const;
    void findMatrix();

    store::TableContent m_table;
    int m_columns = 0;
    int m_firstCount = -1;              ///< first column of a matrix, -1: the table is none
    std::vector<double> m_rowSums;      ///< of a matrix
};

}  // namespace lathe::models
