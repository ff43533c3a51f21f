#include "session/queue_feed.h"

#include "launch/queue/queue_keeper.h"
#include "session/background.h"
#include "session/qt_text.h"

#include <QFileSystemWatcher>
#include <QTimer>

#include <algorithm>
#include <sys/stat.h>

namespace lathe::session {

namespace {

constexpr int kLookMs = 1000;
constexpr int kWholeLookEvery = 10;   // looks: names of runs and devices change without the queue's file

struct Stamp {
    std::int64_t ns = 0, bytes = -1;
    std::uint64_t file = 0;   // it is replaced whole
    bool operator==(const Stamp&) const = default;
};

Stamp stampOf(const std::filesystem::path& file) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0) return {};
    return {std::int64_t(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec, std::int64_t(info.st_size), std::uint64_t(info.st_ino)};
}

struct Look {
    Stamp stamp;
    bool keeperIsUp = false;
    QString keeperNote;
    bool isSame = false;   // the file did not change: only the keeper was looked at
    QueueNow now;
};

QString nameOf(const launch::QueueEntry& entry) {
    const rundir::RunFolder run(entry.folder);
    if (const auto user = rundir::readUser(run); user.ok() && user->name && !user->name->empty()) return toQt(*user->name);
    const auto manifest = rundir::readManifest(run);
    return toQt(manifest.ok() && !manifest->name.empty() ? manifest->name : entry.folder.filename().string());
}

QueuedRun told(const launch::QueueEntry& entry, launch::Wait wait, const std::filesystem::path& workspace) {
    QueuedRun run{toQt(entry.run), nameOf(entry), entry.folder, {}, {}, entry.queuedNs, entry.held, std::move(wait)};
    const std::filesystem::path runs = entry.folder.parent_path();
    std::error_code gone;
    if (runs == workspace / "runs" || std::filesystem::equivalent(runs, workspace / "runs", gone)) run.key = toQt(entry.folder.filename().string());
    else run.workspace = toQt(runs.parent_path().string());
    return run;
}

Look lookAt(const std::filesystem::path& workspace, const Stamp& known, bool whole) {
    const launch::Queue queue = launch::Queue::ofThisUser();
    Look look;
    look.stamp = stampOf(queue.file());
    look.keeperIsUp = queue.keeperIsUp();
    look.keeperNote = toQt(launch::stoppedKeeperNote(queue));
    look.isSame = !whole && look.stamp == known;
    if (look.isSame) return look;
    look.now.keeperIsUp = look.keeperIsUp;
    const auto state = queue.read();
    if (!state.ok()) {
        look.now.problem = toQt(state.error().text());
        return look;
    }
    look.now.holdsAfterFailure = state->holdAfterFailure;
    std::vector<launch::Wait> waits = launch::waitsOf(*state);
    for (std::size_t i = 0; i < waits.size(); ++i) look.now.runs.push_back(told(state->entries[i], std::move(waits[i]), workspace));
    return look;
}

}  // namespace

struct QueueFeed::Impl {
    Impl(QueueFeed* feed, std::filesystem::path folder) : q(feed), workspace(std::move(folder)), job(jobPool()) {}

    void look(bool whole) {
        watch();
        job.start([path = workspace, known = stamp, whole](const NewestJob::Cancelled&) { return lookAt(path, known, whole); }, [this](Look found) { take(std::move(found)); });
    }
    void take(Look found) {
        const bool first = !loaded;
        loaded = true;
        stamp = found.stamp;
        QueueNow next = found.isSame ? now : std::move(found.now);
        next.keeperIsUp = found.keeperIsUp;
        next.keeperNote = found.keeperNote;
        if (!next.problem.isEmpty()) next.runs = now.runs;
        if (next == now && !first) return;
        now = std::move(next);
        Q_EMIT q->changed();
    }
    /// The folder appears with the first run that is put in.
    void watch() {
        const QString folder = toQt(launch::Queue::ofThisUser().folder().string());
        if (!watcher.directories().contains(folder) && isThere) watcher.addPath(folder);
        isThere = stamp.bytes >= 0;
    }

    QueueFeed* q;
    std::filesystem::path workspace;
    NewestJob job;
    QFileSystemWatcher watcher;
    QTimer timer;
    QueueNow now;
    Stamp stamp;
    int looks = 0;
    bool loaded = false, isThere = false;
};

QueueFeed::QueueFeed(std::filesystem::path workspace, QObject* parent) : QObject(parent), m_impl(std::make_unique<Impl>(this, std::move(workspace))) {
    Impl& d = *m_impl;
    connect(&d.watcher, &QFileSystemWatcher::directoryChanged, this, [&d] { d.look(false); });
    connect(&d.timer, &QTimer::timeout, this, [&d] {
        if (!d.job.running()) d.look(++d.looks % kWholeLookEvery == 0 && !d.now.runs.empty());
    });
    d.timer.start(kLookMs);
    d.look(true);
}

QueueFeed::~QueueFeed() = default;

bool QueueFeed::isLoaded() const { return m_impl->loaded; }
const QueueNow& QueueFeed::now() const { return m_impl->now; }
void QueueFeed::refresh() { m_impl->look(true); }

int QueueFeed::placeOf(const QString& folder) const {
    const auto& runs = m_impl->now.runs;
    const auto found = std::find_if(runs.begin(), runs.end(), [&](const QueuedRun& run) { return !folder.isEmpty() && run.key == folder; });
    return found == runs.end() ? 0 : int(found - runs.begin()) + 1;
}

bool QueueFeed::isLeftAlone() const {
    const QueueNow& now = m_impl->now;
    return !now.keeperIsUp && std::any_of(now.runs.begin(), now.runs.end(), [](const QueuedRun& run) { return !run.held; });
}

QString QueueFeed::deviceText(const launch::Wait& wait) {
    if (wait.devices.empty() || wait.devices.front() == "cpu") return tr("Waits for the processor");
    if (wait.devices.size() == 1) return tr("Waits for %1").arg(toQt(wait.devices.front()));
    if (wait.needed == wait.devices.size()) return tr("Waits for %n GPU(s)", nullptr, int(wait.needed));
    return wait.needed == 1 ? tr("Waits for one of %n GPU(s)", nullptr, int(wait.devices.size()))
                            : tr("Waits for %1 of %n GPU(s)", nullptr, int(wait.devices.size())).arg(wait.needed);
}

QString QueueFeed::waitText(std::size_t place) const {
    const QueueNow& now = m_impl->now;
    if (place >= now.runs.size()) return {};
    const launch::Wait& wait = now.runs[place].wait;
    switch (wait.what) {
    case launch::Wait::For::Device:
        return wait.why.empty() ? deviceText(wait) : tr("%1; it could not be started: %2").arg(deviceText(wait), toQt(wait.why));
    case launch::Wait::For::Other: return wait.other < now.runs.size() ? tr("Waits behind %1").arg(now.runs[wait.other].name) : QString();
    case launch::Wait::For::Release: return wait.why.empty() ? tr("Stays where it is until you release it; others pass it") : toQt(wait.why);
    case launch::Wait::For::Machine: return toQt(wait.why);
    }
    return {};
}

}  // namespace lathe::session
