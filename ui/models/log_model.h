// The end of a log file of a run, followed while it grows. At most the last 2 MiB and 20,000 lines.
#pragma once

#include <QAbstractListModel>
#include <QString>
#include <QStringList>
#include <QTimer>

#include <filesystem>

namespace lathe::models {

class LogModel : public QAbstractListModel {
    Q_OBJECT
public:
    explicit LogModel(QObject* parent = nullptr);
    void setFile(const std::filesystem::path& file);
    /// Reads what was added; also done every second while following is on.
    void refresh();
    void setFollowing(bool on);
    QString problem() const { return m_problem; }  ///< why nothing is shown
    QString lastLines(int count) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

private:
    void append(const QByteArray& bytes);
    void restart();

    std::filesystem::path m_file;
    QStringList m_lines;
    QByteArray m_partial;   ///< the last line while it has no end yet
    qint64 m_offset = 0;
    quint64 m_inode = 0;
    QString m_problem;
    QTimer m_timer;
};

}  // namespace lathe::models
