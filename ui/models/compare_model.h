// Several runs side by side: only the settings and results that differ. Rows come in two parts, settings first; results
// are compared at the last step that all runs reached as well as at each run's end.
#pragma once

#include "session/background.h"
#include "session/run_session.h"

#include <QAbstractTableModel>
#include <QTimer>

#include <memory>
#include <optional>
#include <vector>

namespace lathe::models {

class CompareModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Role {
        KindRole = Qt::UserRole + 1,  ///< int of Kind
        BestRole,                     ///< bool: the best of its row, where a direction is known
        KeyRole                       ///< QString: dotted key or series name
    };
    enum class Kind { Setting, Result };

    explicit CompareModel(QObject* parent = nullptr);
    void setSessions(std::vector<std::shared_ptr<session::RunSession>> sessions);
    void setOnlyDifferences(bool on);
    /// Every part is equal (also a run against itself); false until the settings have been read.
    bool identical() const;
    /// The last step that every run reached, where there is one.
    std::optional<std::int64_t> commonStep() const;
    QString problem() const;          ///< a configuration that could not be read, or empty

    /// Column 0 is what is compared, then one a run.
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

Q_SIGNALS:
    void settingsRead();  ///< identical() and problem() are known now

private:
    struct Row {
        Kind kind = Kind::Setting;
        QString key, label;
        QStringList cells;
        std::vector<bool> best;
        bool differs = false;
    };
    void rebuild();
    /// The settings of runs, and which configuration could not be read.
    struct Settings {
        std::vector<Row> rows;
        QString problem;
    };
    static Settings readSettings(const std::vector<rundir::RunFolder>& runs);
    std::vector<Row> results() const;

    std::vector<std::shared_ptr<session::RunSession>> m_sessions;
    Settings m_settings;  ///< read once for a set of runs, in the background
    std::vector<Row> m_rows;
    std::vector<int> m_shown;
    int m_columns = 0;   ///< runs that columns were made for
    bool m_onlyDifferences = true;
    QTimer m_soon;
    session::NewestJob m_reading{session::jobPool()};
};

}  // namespace lathe::models
