// The end of a log file of a run, followed while it grows. At most the last 2 MiB and 20,000 lines. The file is read in
// the background; changed() says that what is shown or told about it is new.
#pragma once

#include "session/background.h"

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
    const std::filesystem::path& file() const { return m_file; }
    /// Reads what was added; also done every second while following is on.
    void refresh();
    void setFollowing(bool on);
    QString problem() const { return m_problem; }  ///< why nothing is shown
    QString lastLines(int count) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

Q_SIGNALS:
    void changed();  ///< the file was looked at: lines and problem() are as it is now

private:
    /// Where reading goes on, and what was found there.
    struct Place {
        qint64 offset = 0;
        quint64 inode = 0;
    };
    struct Read {
        QString problem;
        QByteArray bytes;
        Place place;
        bool fromTheStart = false;  ///< the file is another one or was cut
    };
    static Read read(const std::filesystem::path& file, Place from);
    void take(const Read& found);
    void append(const QByteArray& bytes);
    void restart();

    std::filesystem::path m_file;
    QStringList m_lines;
    QByteArray m_partial;   ///< the last line while it has no end yet
    Place m_place;
    QString m_problem;
    QTimer m_timer;
    session::NewestJob m_job{session::jobPool()};
};

}  // namespace lathe::models
