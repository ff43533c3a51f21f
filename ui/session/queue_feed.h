// The queue of this user as it is now, over all workspaces: who waits at which place and for what, and whether its keeper
// is at work. Changes made by other windows and on the command line show up by themselves.
// Thread: GUI thread; files are read by jobs.
#pragma once

#include <QObject>
#include <QString>

#include "launch/queue/queue_waits.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

namespace lathe::session {

struct QueuedRun {
    QString id, name;
    std::filesystem::path folder;
    QString key;              ///< name below runs/ where it lies in this workspace, else empty
    QString workspace;        ///< where it lies otherwise
    std::int64_t queuedNs = 0;
    bool held = false;
    launch::Wait wait;
    bool operator==(const QueuedRun&) const = default;
};

struct QueueNow {
    std::vector<QueuedRun> runs;   ///< in order
    bool holdsAfterFailure = false;
    bool keeperIsUp = false;
    QString keeperNote;            ///< where it is stopped: how it goes on
    QString problem;               ///< why the queue cannot be read; `runs` is as it was before
    bool operator==(const QueueNow&) const = default;
};

class QueueFeed : public QObject {
    Q_OBJECT
public:
    explicit QueueFeed(std::filesystem::path workspace, QObject* parent = nullptr);
    ~QueueFeed() override;

    bool isLoaded() const;
    const QueueNow& now() const;
    /// Place of a run of this workspace, counted from 1; 0 where it does not wait.
    int placeOf(const QString& folder) const;
    /// Runs wait that could start, and nobody is there to start them.
    bool isLeftAlone() const;
    /// "Waits behind digits-mlp", in the language of the window.
    QString waitText(std::size_t place) const;
    void refresh();

Q_SIGNALS:
    void changed();

private:
    static QString deviceText(const launch::Wait& wait);

    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace lathe::session
