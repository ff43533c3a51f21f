#include "models/record_names_model.h"

#include "session/qt_text.h"
#include "theme/plain_tip.h"

#include <QLocale>

#include <algorithm>

namespace lathe::models {

using live::FrameType;
using session::RecordKey;
using session::toQt;

RecordNamesModel::RecordNamesModel(QObject* parent) : QAbstractTableModel(parent) {}

QString RecordNamesModel::kindText(FrameType type) {
    switch (type) {
    case FrameType::Table: return tr("Table");
    case FrameType::Histogram: return tr("Histogram");
    case FrameType::Image: return tr("Picture");
    case FrameType::Summary: return tr("Values");
    case FrameType::OwnCheckpoint: return tr("Files");
    default: return tr("Text");
    }
}

QString RecordNamesModel::nameText(const RecordKey& key) {
    if (key.type == FrameType::Summary) return tr("Summary values");
    if (key.type == FrameType::OwnCheckpoint) return tr("Checkpoint files");
    return toQt(key.name);
}

std::vector<std::size_t> RecordNamesModel::matching() const {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < m_all.size(); ++i)
        if (m_filter.isEmpty() || nameText(m_all[i].key).contains(m_filter, Qt::CaseInsensitive) || kindText(m_all[i].key.type).contains(m_filter, Qt::CaseInsensitive)) rows.push_back(i);
    return rows;
}

void RecordNamesModel::setNames(const std::vector<session::RecordNames>& names) {
    const bool sameRows = names.size() == m_all.size() && std::equal(names.begin(), names.end(), m_all.begin(), [](const auto& a, const auto& b) { return a.key == b.key; });
    if (sameRows) {
        m_all = names;
        if (rowCount() > 0) Q_EMIT dataChanged(index(0, Count), index(rowCount() - 1, LastStep));
        return;
    }
    beginResetModel();
    m_all = names;
    m_shown = matching();
    endResetModel();
}

void RecordNamesModel::setFilter(const QString& text) {
    if (text == m_filter) return;
    beginResetModel();
    m_filter = text;
    m_shown = matching();
    endResetModel();
}

int RecordNamesModel::rowOf(const RecordKey& key) const {
    for (int row = 0; row < rowCount(); ++row)
        if (at(row).key == key) return row;
    return -1;
}

int RecordNamesModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(m_shown.size()); }
int RecordNamesModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(ColumnCount); }

QVariant RecordNamesModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const session::RecordNames& names = at(index.row());
    const bool number = index.column() == Count || index.column() == LastStep;
    if (role == Qt::TextAlignmentRole) return int((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole && index.column() == Name) return theme::plainTip(nameText(names.key));
    if (role != Qt::DisplayRole) return {};
    switch (index.column()) {
    case Name: return nameText(names.key);
    case Kind: return kindText(names.key.type);
    case Count: return QLocale(QLocale::English).toString(qlonglong(names.count));
    default: return QLocale(QLocale::English).toString(qlonglong(names.lastStep));
    }
}

QVariant RecordNamesModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole) return int((section == Count || section == LastStep ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole) return {};
    switch (section) {
    case Name: return tr("Name");
    case Kind: return tr("Kind");
    case Count: return tr("Records");
    case LastStep: return tr("Last step");
    default: return {};
    }
}

}  // namespace lathe::models
