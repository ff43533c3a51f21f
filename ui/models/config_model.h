// A configuration as rows: section, label, value; what differs from another configuration (the defaults, an earlier
// session, another run) is told.
#pragma once

#include "config/config.h"
#include "config/sections.h"

#include <QAbstractTableModel>
#include <QString>

#include <map>
#include <string>
#include <vector>

namespace lathe::models {

class ConfigModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Key, Value, Other, ColumnCount };
    enum Role { SectionRole = Qt::UserRole + 1, KeyRole, DiffersRole, HelpRole };

    explicit ConfigModel(QObject* parent = nullptr);
    /// `otherName` heads the third column ("default", "session 1").
    void setConfigs(const config::RunConfig& config, const config::RunConfig& other, const QString& otherName);
    /// Settings that another program named, as they are.
    void setSettings(const std::map<std::string, std::string>& settings);
    void setOnlyDifferences(bool on);
    QString yaml() const { return m_yaml; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    struct Row {
        QString section, key, label, help, value, other;
        bool differs = false;
    };
    static QString textOf(const config::Field& field, const config::Value& value);
    void select();

    std::vector<Row> m_rows;
    std::vector<int> m_shown;
    QString m_otherName, m_yaml;
    bool m_onlyDifferences = false;
};

}  // namespace lathe::models
