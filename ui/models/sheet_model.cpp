#include "models/sheet_model.h"

#include "config/schema.h"
#include "session/qt_text.h"
#include "session/told.h"

#include <QJsonArray>

#include <algorithm>

#include <cmath>

namespace lathe::models {

namespace {

std::optional<qint64> number(const QJsonValue& value) {
    return value.isDouble() ? std::optional(qint64(value.toDouble())) : std::nullopt;
}

/// "Optimizer: Learning rate" in the language of the window; what this program does not know as it was told.
QString nameOf(const QString& key, const QString& told) {
    for (const config::Section& section : config::Schema::builtin().sections())
        for (const config::Field& field : section.fields)
            if (session::toQt(field.key()) == key) return session::schemaText(section.label) + QStringLiteral(": ") + session::schemaText(field.label);
    return told;
}

SheetFacts factsOf(const QJsonObject& sheet) {
    SheetFacts facts;
    facts.step = qint64(sheet.value(QStringLiteral("step")).toDouble());
    const QJsonObject rate = sheet.value(QStringLiteral("learning_rate")).toObject(), updates = sheet.value(QStringLiteral("updates")).toObject();
    facts.rateBefore = rate.value(QStringLiteral("before")).toDouble(std::nan(""));
    facts.rateAfter = rate.value(QStringLiteral("after")).toDouble(std::nan(""));
    for (const QJsonValue& each : rate.value(QStringLiteral("curve")).toArray())
        facts.curve.push_back({qint64(each[QStringLiteral("step")].toDouble()), each[QStringLiteral("before")].toDouble(std::nan("")), each[QStringLiteral("after")].toDouble(std::nan(""))});
    facts.plannedBefore = number(updates.value(QStringLiteral("planned_before")));
    facts.plannedAfter = number(updates.value(QStringLiteral("planned_after")));
    facts.left = number(updates.value(QStringLiteral("left")));
    for (const QJsonValue& each : sheet.value(QStringLiteral("notices")).toArray()) facts.notices += session::told(each.toString());
    facts.wouldStart = sheet.value(QStringLiteral("would_start")).toBool();
    const QJsonObject error = sheet.value(QStringLiteral("error")).toObject();
    facts.refused = error.value(QStringLiteral("sentence")).toString();
    facts.refusedKey = error.value(QStringLiteral("key")).toString();
    return facts;
}

}  // namespace

SheetModel::SheetModel(QObject* parent) : QAbstractTableModel(parent) {}

void SheetModel::take(const QJsonObject& sheet) {
    m_facts = factsOf(sheet);
    std::vector<Row> rows;
    for (const QJsonValue& each : sheet.value(QStringLiteral("settings")).toArray())
        rows.push_back({each[QStringLiteral("key")].toString(), nameOf(each[QStringLiteral("key")].toString(), each[QStringLiteral("label")].toString()), each[QStringLiteral("checkpoint")].toString(),
                        each[QStringLiteral("used")].toString(), each[QStringLiteral("effect")].toString(), each[QStringLiteral("why")].toString(),
                        each[QStringLiteral("changeable")].toBool(true), each[QStringLiteral("visible")].toBool(true)});
    const bool sameRows = rows.size() == m_rows.size() && std::equal(rows.begin(), rows.end(), m_rows.begin(), [](const Row& a, const Row& b) { return a.key == b.key; });
    std::swap(m_rows, rows);
    if (std::vector<int> shown = selected(); !sameRows || shown != m_shown) {
        beginResetModel();
        m_shown = std::move(shown);
        endResetModel();
    } else if (!m_shown.empty()) {
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    }
}

QStringList SheetModel::settings() const {
    QStringList settings;
    for (auto each = m_asked.begin(); each != m_asked.end(); ++each) settings += each.key() + QLatin1Char('=') + each.value();
    return settings;
}

void SheetModel::setAsked(const QString& key, const QString& text) {
    if (m_asked.value(key) == text) return;
    if (text.isEmpty()) m_asked.remove(key);
    else m_asked[key] = text;
    if (!m_shown.empty()) Q_EMIT dataChanged(index(0, Form), index(rowCount() - 1, Form));
    Q_EMIT asked();
}

void SheetModel::setFilter(const QString& text, bool onlyChanges) {
    m_filter = text.trimmed();
    m_onlyChanges = onlyChanges;
    beginResetModel();
    m_shown = selected();
    endResetModel();
}

std::vector<int> SheetModel::selected() const {
    std::vector<int> shown;
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        const Row& row = m_rows[i];
        const bool changed = m_asked.contains(row.key) || row.effect != QLatin1String("same");
        const bool found = row.label.contains(m_filter, Qt::CaseInsensitive) || row.key.contains(m_filter, Qt::CaseInsensitive);
        const bool wanted = changed || (!m_onlyChanges && (row.visible || !m_filter.isEmpty()));
        if (found && wanted) shown.push_back(int(i));
    }
    return shown;
}

QString SheetModel::word(const QString& effect) {
    if (effect == QLatin1String("applies")) return tr("applies");
    if (effect == QLatin1String("applies from now")) return tr("applies from now");
    if (effect == QLatin1String("ignored")) return tr("ignored");
    if (effect == QLatin1String("forbidden")) return tr("forbidden");
    return {};
}

QString SheetModel::formText(const Row& row) const {
    if (m_asked.contains(row.key)) return m_asked.value(row.key);
    return row.changeable ? QString() : tr("fixed");
}

QString SheetModel::label(const QString& key) const {
    const auto row = std::find_if(m_rows.begin(), m_rows.end(), [&](const Row& each) { return each.key == key; });
    return row == m_rows.end() ? key : row->label;
}

int SheetModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(m_shown.size()); }
int SheetModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(ColumnCount); }

QVariant SheetModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const Row& row = m_rows[std::size_t(m_shown[std::size_t(index.row())])];
    if (role == KeyRole) return row.key;
    if (role == EffectRole) return row.effect;
    if (role == Qt::ToolTipRole) {
        if (const QString value = index.column() == Checkpoint ? row.checkpoint : index.column() == Used ? row.used : QString(); !value.isEmpty()) return row.key + QLatin1Char('\n') + value;
        const config::Field* field = config::Schema::builtin().find(session::toStd(row.key));
        const QString help = field == nullptr ? QString() : QLatin1Char('\n') + session::schemaText(field->help);
        return row.why.isEmpty() ? row.key + help : row.key + QLatin1Char('\n') + row.why;
    }
    if (role != Qt::DisplayRole && role != Qt::EditRole) return {};
    switch (index.column()) {
    case Setting: return row.label;
    case Checkpoint: return row.checkpoint;
    case Form: return role == Qt::EditRole ? m_asked.value(row.key, row.checkpoint) : formText(row);
    case Used: return row.used;
    case Effect: return row.why.isEmpty() ? word(row.effect) : word(row.effect) + QStringLiteral(" · ") + row.why;
    default: return {};
    }
}

bool SheetModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != Qt::EditRole || index.column() != Form || index.row() >= rowCount()) return false;
    const Row& row = m_rows[std::size_t(m_shown[std::size_t(index.row())])];
    const QString text = value.toString().trimmed();
    setAsked(row.key, text == row.checkpoint ? QString() : text);
    return true;
}

Qt::ItemFlags SheetModel::flags(const QModelIndex& index) const {
    const Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    return index.column() == Form ? flags | Qt::ItemIsEditable : flags;
}

QVariant SheetModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
    switch (section) {
    case Setting: return tr("Setting");
    case Checkpoint: return tr("From the checkpoint");
    case Form: return tr("Asked for");
    case Used: return tr("Will be used");
    case Effect: return tr("Effect");
    default: return {};
    }
}

}  // namespace lathe::models
