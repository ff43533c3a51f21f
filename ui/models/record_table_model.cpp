#include "models/record_table_model.h"

#include "base/number_text.h"
#include "session/qt_text.h"
#include "theme/plain_tip.h"

#include <algorithm>
#include <cmath>

namespace lathe::models {

using session::toQt;

namespace {

constexpr std::size_t kMostCellText = 2000;     // bytes shown of one cell
constexpr std::size_t kMostMatrixSide = 2000;

std::optional<double> countOf(const store::RecordCell& cell) {
    if (!cell.isNumber) return std::nullopt;
    const auto value = readDouble(cell.text);
    if (!value || !std::isfinite(*value) || *value < 0) return std::nullopt;
    return value;
}

QString shownText(const store::RecordCell& cell) {
    const QString text = toQt(std::string_view(cell.text).substr(0, kMostCellText)).simplified();
    return cell.text.size() > kMostCellText ? text + QStringLiteral(" …") : text;
}

}  // namespace

RecordTableModel::RecordTableModel(QObject* parent) : QAbstractTableModel(parent) {}

void RecordTableModel::setTable(store::TableContent table) {
    beginResetModel();
    m_table = std::move(table);
    std::size_t columns = m_table.columns.size();
    for (const auto& row : m_table.rows) columns = std::max(columns, row.size());
    m_columns = int(columns);
    findMatrix();
    endResetModel();
}

void RecordTableModel::findMatrix() {
    m_firstCount = -1;
    m_rowSums.clear();
    const std::size_t side = m_table.rows.size(), columns = m_table.columns.size();
    if (side < 2 || side > kMostMatrixSide || (columns != side && columns != side + 1)) return;
    const std::size_t first = columns - side;
    std::vector<double> sums;
    for (const auto& row : m_table.rows) {
        if (row.size() != columns) return;
        double sum = 0;
        for (std::size_t i = first; i < columns; ++i) {
            const auto count = countOf(row[i]);
            if (!count) return;
            sum += *count;
        }
        sums.push_back(sum);
    }
    m_firstCount = int(first);
    m_rowSums = std::move(sums);
}

const store::RecordCell* RecordTableModel::cell(int row, int column) const {
    const auto& cells = m_table.rows[std::size_t(row)];
    return std::size_t(column) < cells.size() ? &cells[std::size_t(column)] : nullptr;
}

QString RecordTableModel::text() const {
    QStringList lines, words;
    for (const std::string& column : m_table.columns) words << toQt(column).simplified();
    lines << words.join(QLatin1Char('\t'));
    for (const auto& row : m_table.rows) {
        words.clear();
        for (const store::RecordCell& one : row) words << toQt(one.text).simplified();
        lines << words.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n'));
}

int RecordTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(m_table.rows.size()); }
int RecordTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : m_columns; }

QVariant RecordTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount() || index.column() >= m_columns) return {};
    const store::RecordCell* one = cell(index.row(), index.column());
    if (!one) return {};
    const int place = index.column() - m_firstCount;
    const bool inMatrix = isMatrix() && place >= 0;
    switch (role) {
    case Qt::DisplayRole: return shownText(*one);
    case Qt::ToolTipRole: return one->text.size() > 20 ? QVariant(theme::plainTip(shownText(*one))) : QVariant();
    case Qt::TextAlignmentRole: return int((one->isNumber ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case ShareRole: {
        const double sum = inMatrix ? m_rowSums[std::size_t(index.row())] : 0;
        return inMatrix ? QVariant(sum > 0 ? readDouble(one->text).value_or(0) / sum : 0.0) : QVariant();
    }
    case DiagonalRole: return inMatrix && place == index.row();
    default: return {};
    }
}

QVariant RecordTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= m_columns) return {};
    if (role == Qt::DisplayRole) return std::size_t(section) < m_table.columns.size() ? toQt(m_table.columns[std::size_t(section)]).simplified().left(200) : QString();
    if (role != Qt::TextAlignmentRole) return {};
    const store::RecordCell* first = m_table.rows.empty() ? nullptr : cell(0, section);
    return int((first && first->isNumber ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
}

}  // namespace lathe::models
