#include "launch/queue_keeper.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/log.h"
#include "config/config.h"
#include "launch/apart.h"
#include "launch/command_facts.h"
#include "launch/device_lock.h"
#include "launch/supervisor.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <map>
#include <poll.h>
#include <set>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace lathe::launch {
namespace {

using rundir::RunFolder;
using rundir::RunLock;
using rundir::State;

constexpr int kTurnMilliseconds = 500;   // a device that another program lets go tells nobody
FileSystem& disk() { return FileSystem::real(); }

class QueueKeeper {
public:
    QueueKeeper(const Queue& queue, RunLock lock) : m_queue(queue), m_lock(std::move(lock)) {}
    ~QueueKeeper() {
        for (const int fd : {m_signals, m_changes})
            if (fd >= 0) ::close(fd);
    }
    QueueKeeper(const QueueKeeper&) = delete;
    QueueKeeper& operator=(const QueueKeeper&) = delete;

    ExitCode work();

private:
    enum class Attempt { Started, Waits, Gone };

    void open();
    void startWhatCan();
    Attempt start(const QueueEntry& entry, const std::string& device, DeviceLock& lock);
    void remove(const std::string& run);
    void hold(const std::string& run, const std::string& why);
    void collect();
    void afterEnd(const RunFolder& run);
    bool isDone();
    bool wait();

    const Queue& m_queue;
    RunLock m_lock;
    int m_signals = -1, m_changes = -1;
    std::map<pid_t, RunFolder> m_running;
};

void QueueKeeper::open() {
    holdStopSignals();
    sigset_t wanted;
    ::sigemptyset(&wanted);
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) ::sigaddset(&wanted, number);
    ::pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
    m_signals = ::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    m_changes = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    ::inotify_add_watch(m_changes, m_queue.folder().c_str(), IN_MOVED_TO);
}

ExitCode QueueKeeper::work() {
    open();
    while (true) {
        collect();
        startWhatCan();
        if (isDone()) return ExitCode::Completed;
        if (!wait()) return ExitCode::Stopped;   // runs that are up go on by themselves
    }
}

/// False when this process is asked to leave.
bool QueueKeeper::wait() {
    std::array<pollfd, 2> what = {{{m_signals, POLLIN, 0}, {m_changes, POLLIN, 0}}};
    ::poll(what.data(), what.size(), kTurnMilliseconds);
    std::array<char, 4096> changes{};
    while (::read(m_changes, changes.data(), changes.size()) > 0) {}
    signalfd_siginfo info{};
    bool stays = true;
    while (::read(m_signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) stays = stays && info.ssi_signo == SIGCHLD;
    return stays;
}

void QueueKeeper::startWhatCan() {
    const auto state = m_queue.read();
    if (!state) return log::error(state.error().text());
    std::set<std::string> waitedFor;
    for (const QueueEntry& entry : state->entries) {
        if (entry.held) continue;
        const auto config = configOf(RunFolder(entry.folder), entry.session);
        const auto devices = config ? devicesFor(*config) : Result<std::vector<std::string>>(config.error());
        if (!devices) {
            hold(entry.run, devices.error().text());
            continue;
        }
        Attempt attempt = Attempt::Waits;
        for (const std::string& device : *devices) {
            if (attempt != Attempt::Waits || waitedFor.contains(device)) continue;
            auto lock = DeviceLock::take(device, DeviceLock::Use::Alone);
            if (!lock) log::error(lock.error().text());
            if (lock && *lock) attempt = start(entry, device, **lock);
        }
        if (attempt == Attempt::Waits) waitedFor.insert(devices->begin(), devices->end());
        else remove(entry.run);
    }
}

/// The device goes with the process that supervises the run, and is free again when that ends.
QueueKeeper::Attempt QueueKeeper::start(const QueueEntry& entry, const std::string& device, DeviceLock& held) {
    const RunFolder run = RunFolder(entry.folder).held();
    auto lock = RunLock::acquire(run.lock());
    if (!lock) return lock.error().code == ErrorCode::Busy ? Attempt::Waits : Attempt::Gone;   // somebody looks at it, or it was moved away
    auto record = rundir::readSession(run, entry.session);
    const auto summary = rundir::readSummary(run);
    const bool waits = record && !record->state && summary && summary->state == State::Queued && rundir::newestSession(run) == entry.session;
    if (!waits) return Attempt::Gone;
    record->startedNs = Clock::system().wallNs();
    if (const auto written = rundir::writeSession(disk(), run, *record); !written) log::error(written.error().text());
    if (auto config = configOf(run, entry.session); config && device != "cpu" && config->parallel.device != device) {
        config->parallel.device = device;
        if (const auto written = replaceFile(disk(), run.sessionYaml(entry.session), config::toYaml(*config)); !written) log::error(written.error().text());
    }
    const auto up = runApart([&](int ready) {
        { const RunLock leftToTheKeeper = std::move(m_lock); }
        takeEnvironment(entry.environment);
        SupervisorOptions options{run, entry.session, ready, {}, {}};
        options.device = std::make_shared<DeviceLock>(std::move(held));
        return superviseSession(options, std::move(*lock));
    });
    if (!up) {
        log::error(up.error().text());
        return Attempt::Waits;
    }
    if (up->isUp) m_running.emplace(up->pid, RunFolder(entry.folder));
    else afterEnd(RunFolder(entry.folder));
    return Attempt::Started;
}

void QueueKeeper::remove(const std::string& run) {
    const auto edited = m_queue.edit([&](QueueState& state) -> Result<void> {
        std::erase_if(state.entries, [&](const QueueEntry& entry) { return entry.run == run; });
        return {};
    });
    if (!edited) log::error(edited.error().text());
}

void QueueKeeper::hold(const std::string& run, const std::string& why) {
    const auto edited = m_queue.edit([&](QueueState& state) -> Result<void> {
        for (QueueEntry& entry : state.entries) {
            if (entry.held || (!run.empty() && entry.run != run)) continue;
            entry.held = true;
            entry.why = why;
        }
        return {};
    });
    if (!edited) log::error(edited.error().text());
}

void QueueKeeper::collect() {
    for (auto it = m_running.begin(); it != m_running.end();) {
        if (::waitpid(it->first, nullptr, WNOHANG) == 0) {
            ++it;
            continue;
        }
        afterEnd(it->second);
        it = m_running.erase(it);
    }
}

void QueueKeeper::afterEnd(const RunFolder& run) {
    const Standing standing = standingOf(run);
    if (!rundir::isTrouble(standing.state)) return;
    const auto state = m_queue.read();
    if (state && state->holdAfterFailure) hold({}, run.name() + " ended as " + std::string(rundir::name(standing.state)));
}

/// Decided while nobody can put anything in; the lock is let go before somebody could.
bool QueueKeeper::isDone() {
    if (!m_running.empty()) return false;
    bool done = false;
    const auto looked = m_queue.edit([&](QueueState& state) -> Result<void> {
        done = std::all_of(state.entries.begin(), state.entries.end(), [](const QueueEntry& entry) { return entry.held; });
        if (done) const RunLock let = std::move(m_lock);
        return Error{ErrorCode::Exists, "nothing to change", {}, {}};
    });
    return done || looked.error().code != ErrorCode::Exists;
}

}  // namespace

ExitCode keepQueue(const Queue& queue, int readyFd) {
    if (const auto made = makeFolders(disk(), queue.folder()); !made) return ExitCode::Failed;
    auto lock = RunLock::acquire(queue.keeperLock());
    if (!lock) return lock.error().code == ErrorCode::Busy ? ExitCode::Completed : ExitCode::Failed;
    log::toFile(queue.folder() / "queue.log");
    if (readyFd >= 0 && ::write(readyFd, "+", 1) != 1) log::warning("Nobody waits for the keeper of the queue");
    return QueueKeeper(queue, std::move(*lock)).work();
}

Result<void> startKeeper(const Queue& queue) {
    LATHE_TRY_ASSIGN(const QueueState state, queue.read());
    const bool hasWork = std::any_of(state.entries.begin(), state.entries.end(), [](const QueueEntry& entry) { return !entry.held; });
    if (!hasWork || queue.keeperIsUp()) return {};
    LATHE_TRY_ASSIGN(const Apart keeper, runApart([&](int ready) { return keepQueue(queue, ready); }));
    if (keeper.isUp || queue.keeperIsUp()) return {};
    LATHE_TRY_ASSIGN(const QueueState now, queue.read());  // another keeper may have done it all meanwhile
    const bool isLeft = std::any_of(now.entries.begin(), now.entries.end(), [](const QueueEntry& entry) { return !entry.held; });
    if (!isLeft) return {};
    return Error{ErrorCode::Io, "The keeper of the queue could not be started; its folder is " + queue.folder().string(), {}, {}};
}

}  // namespace lathe::launch
