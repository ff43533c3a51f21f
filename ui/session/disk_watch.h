// How long the disk of the workspace lasts, looked at now and then. Thread: GUI thread; files are read by jobs.
#pragma once

#include <QObject>
#include <QTimer>

#include "launch/run/disk_outlook.h"
#include "session/background.h"

#include <filesystem>

namespace lathe::session {

class DiskWatch : public QObject {
    Q_OBJECT
public:
    explicit DiskWatch(std::filesystem::path workspace, QObject* parent = nullptr);
    const std::filesystem::path& workspace() const { return m_workspace; }
    const launch::DiskOutlook& now() const { return m_now; }
    void refresh();

Q_SIGNALS:
    void changed();

private:
    std::filesystem::path m_workspace;
    NewestJob m_job;
    QTimer m_timer;
    launch::DiskOutlook m_now;
};

}  // namespace lathe::session
