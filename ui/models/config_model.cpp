#include "models/config_model.h"

#include "config/schema.h"
#include "session/qt_text.h"

namespace lathe::models {

using session::schemaText;
using session::toQt;

ConfigModel::ConfigModel(QObject* parent) : QAbstractTableModel(parent) {}

void ConfigModel::setConfigs(const config::RunConfig& config, const config::RunConfig& other, const QString& otherName) {
    beginResetModel();
    m_rows.clear();
    m_otherName = otherName;
    m_yaml = toQt(config::toYaml(config));
    const config::Values values = config::toValues(config), others = config::toValues(other);
    for (const config::Section& section : config::Schema::builtin().sections())
        for (const config::Field& field : section.fields) {
            const auto value = values.find(field.key()), otherValue = others.find(field.key());
            if (value == values.end() || otherValue == others.end()) continue;
            const bool differs = !(value->second == otherValue->second);
            if (!differs && !config::isVisible(field, values)) continue;  // has no meaning with the other settings
            m_rows.push_back({schemaText(section.label), toQt(field.key()), schemaText(field.label), schemaText(field.help), textOf(field, value->second),
                              textOf(field, otherValue->second), differs});
        }
    select();
    endResetModel();
}

QString ConfigModel::textOf(const config::Field& field, const config::Value& value) {
    if (std::holds_alternative<std::monostate>(value) && !field.noneText.empty()) return schemaText(field.noneText);
    const QString text = toQt(config::valueText(value));
    return field.unit.empty() || text.isEmpty() ? text : text + QLatin1Char(' ') + schemaText(field.unit);
}

void ConfigModel::setSettings(const std::map<std::string, std::string>& settings) {
    beginResetModel();
    m_rows.clear();
    m_otherName.clear();
    m_yaml.clear();
    for (const auto& [name, text] : settings) {
        m_rows.push_back({{}, toQt(name), toQt(name), {}, toQt(text), {}, false});
        m_yaml += toQt(name) + QStringLiteral(": ") + toQt(text) + QLatin1Char('\n');
    }
    select();
    endResetModel();
}

void ConfigModel::select() {
    m_shown.clear();
    for (std::size_t i = 0; i < m_rows.size(); ++i)
        if (m_rows[i].differs || !m_onlyDifferences) m_shown.push_back(int(i));
}

void ConfigModel::setOnlyDifferences(bool on) {
    if (on == m_onlyDifferences) return;
    beginResetModel();
    m_onlyDifferences = on;
    select();
    endResetModel();
}

int ConfigModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(m_shown.size()); }
int ConfigModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(ColumnCount); }

QVariant ConfigModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const Row& row = m_rows[std::size_t(m_shown[std::size_t(index.row())])];
    switch (role) {
    case Qt::DisplayRole: return index.column() == Key ? row.label : index.column() == Value ? row.value : row.other;
    case Qt::ToolTipRole: return QStringLiteral("%1\n%2").arg(row.key, row.help);
    case SectionRole: return row.section;
    case KeyRole: return row.key;
    case DiffersRole: return row.differs;
    case HelpRole: return row.help;
    default: return {};
    }
}

QVariant ConfigModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
    return section == Key ? tr("Setting") : section == Value ? tr("Value") : m_otherName;
}

}  // namespace lathe::models
