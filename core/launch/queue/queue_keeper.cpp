#include "launch/queue/queue_keeper.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/lasting.h"
#include "base/log.h"
#include "base/number_text.h"
#include "config/config.h"
#include "launch/command/command_facts.h"
#include "launch/process/apart.h"
#include "launch/process/identity.h"
#include "launch/process/recurring_problem.h"
#include "launch/process/signal_feed.h"
#include "launch/queue/device_lock.h"
#include "launch/queue/queue_waits.h"
#include "launch/run/run_settings.h"
#include "launch/run/standing.h"
#include "launch/session/supervisor.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <functional>
#include <map>
#include <optional>
#include <poll.h>
#include <set>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace lathe::launch {
namespace {

using rundir::RunFolder;
using rundir::RunLock;
using rundir::State;

constexpr int kTurnMilliseconds = 500;   // a device that another program lets go tells nobody
constexpr std::int64_t kGpusForNs = 10'000'000'000;   // asking the driver can take long, and wakes a GPU that sleeps
FileSystem& disk() { return FileSystem::real(); }

class QueueKeeper {
public:
    QueueKeeper(const Queue& queue, RunLock lock, SignalFeed signals) : m_queue(queue), m_lock(std::move(lock)), m_signals(std::move(signals)) {}
    ~QueueKeeper() {
        if (m_changes >= 0) ::close(m_changes);
    }
    QueueKeeper(const QueueKeeper&) = delete;
    QueueKeeper& operator=(const QueueKeeper&) = delete;

    ExitCode work();

private:
    enum class Attempt { Started, Waits, Gone };
    struct Devices {
        std::vector<std::string> names;
        DeviceLocks locks;
    };

    void open();
    const device::Gpus& gpus();
    void startWhatCan();
    Result<std::optional<Devices>> take(const Wait& wait);
    Result<Attempt> start(const QueueEntry& entry, const RunFolder& run, const Wait& wait);
    Result<void> edit(const std::function<Result<void>(QueueState&)>& change);
    int takeChanges();
    bool remove(const std::string& run);
    void note(const QueueEntry& entry, const std::string& why);
    void holdAll(const std::string& why);
    void complain(const Error& error);
    void collect();
    void afterEnd(const RunFolder& run);
    bool isDone();
    bool wait();

    const Queue& m_queue;
    RunLock m_lock;
    SignalFeed m_signals;
    int m_changes = -1;
    bool m_isChanged = false;               ///< the queue, by others
    std::map<pid_t, RunFolder> m_running;
    std::optional<device::Gpus> m_gpus;
    std::int64_t m_gpusLookedNs = 0;
    std::set<std::string> m_complaints;     ///< what was told and is not over, without its amounts
};

void QueueKeeper::open() {
    m_changes = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (m_changes >= 0) ::inotify_add_watch(m_changes, m_queue.folder().c_str(), IN_MOVED_TO);   // without it each turn looks, as it does anyway
}

const device::Gpus& QueueKeeper::gpus() {
    const std::int64_t now = Clock::system().monotonicNs();
    if (!m_gpus || now - m_gpusLookedNs > kGpusForNs) {
        m_gpus = device::gpus();
        m_gpusLookedNs = now;
    }
    return *m_gpus;
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

/// How often the queue was replaced since this was asked.
int QueueKeeper::takeChanges() {
    int count = 0;
    alignas(inotify_event) std::array<char, 4096> changes{};
    for (ssize_t got = 0; (got = ::read(m_changes, changes.data(), changes.size())) > 0;)
        for (ssize_t at = 0; at < got;) {
            const auto* one = reinterpret_cast<const inotify_event*>(changes.data() + at);
            count += one->len > 0 && m_queue.file().filename() == one->name ? 1 : 0;
            at += static_cast<ssize_t>(sizeof(inotify_event)) + one->len;
        }
    return count;
}

/// What this keeper writes itself is no reason to look again at once.
Result<void> QueueKeeper::edit(const std::function<Result<void>(QueueState&)>& change) {
    auto edited = m_queue.edit(change);
    if (takeChanges() > (edited ? 1 : 0)) m_isChanged = true;
    if (edited) m_complaints.clear();
    return edited;
}

/// False when this process is asked to leave.
bool QueueKeeper::wait() {
    std::array<pollfd, 2> what = {{{m_signals.fd(), POLLIN, 0}, {m_changes, POLLIN, 0}}};
    ::poll(what.data(), what.size(), m_isChanged ? 0 : kTurnMilliseconds);
    if (takeChanges() > 0) m_isChanged = true;
    if (std::exchange(m_isChanged, false)) m_gpus.reset();   // who changes the queue may have changed the machine
    bool stays = true;
    while (const auto number = m_signals.take()) stays = stays && *number == SIGCHLD;
    return stays;
}

/// A run that was deleted or moved away. Where not even the folder of its workspace is there, the disk may not be mounted yet.
static bool isGone(const std::filesystem::path& run) {
    std::error_code unknown;
    return std::filesystem::symlink_status(run, unknown).type() == std::filesystem::file_type::not_found && std::filesystem::is_directory(run.parent_path(), unknown);
}

/// Each start changes what the others wait for, so the rule is asked anew after it.
void QueueKeeper::startWhatCan() {
    for (bool isChanged = true; isChanged;) {
        isChanged = false;
        const auto state = m_queue.read();
        if (!state) return complain(state.error());
        const std::vector<Wait> waits = waitsOf(*state, gpus());
        for (std::size_t i = 0; i < waits.size() && !isChanged; ++i) {
            const QueueEntry& entry = state->entries[i];
            Attempt attempt = isGone(entry.folder) ? Attempt::Gone : Attempt::Waits;
            if (attempt == Attempt::Waits && waits[i].what == Wait::For::Device) {
                const RunFolder run = RunFolder(entry.folder).held();   // as long as an error names it
                const auto tried = start(entry, run, waits[i]);
                if (tried) attempt = *tried;
                else note(entry, tried.error().text());
            }
            if (attempt != Attempt::Waits) isChanged = remove(entry.run);
        }
    }
}

/// All that are needed, or none.
Result<std::optional<QueueKeeper::Devices>> QueueKeeper::take(const Wait& wait) {
    Devices taken;
    for (const std::string& device : wait.devices) {
        LATHE_TRY_ASSIGN(auto lock, DeviceLock::take(device, DeviceLock::Use::Alone));
        if (!lock) continue;
        taken.names.push_back(device);
        taken.locks.push_back(std::move(*lock));
        if (taken.names.size() == wait.needed) return std::optional(std::move(taken));
    }
    return std::optional<Devices>();
}

static std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
    return text;
}

/// Whether the run still waits to be started: it was not started, cancelled or continued meanwhile.
static Result<bool> isToStart(const RunFolder& run, int session) {
    LATHE_TRY_ASSIGN(const auto record, rundir::readSession(run, session));
    LATHE_TRY_ASSIGN(const int newest, rundir::readNewestSession(run));
    if (record.state || newest != session) return false;
    const auto summary = rundir::readSummary(run);
    if (summary) return summary->state == State::Queued;
    if (!isLasting(summary.error())) return summary.error();
    std::error_code unknown;   // a digest that can be made again must not cost the run its turn
    return !std::filesystem::exists(run.liveJson(), unknown);
}

/// The devices go with the process that supervises the run, and are free again when that ends.
Result<QueueKeeper::Attempt> QueueKeeper::start(const QueueEntry& entry, const RunFolder& run, const Wait& wait) {
    LATHE_TRY_ASSIGN(auto devices, take(wait));
    if (!devices) return Attempt::Waits;
    auto lock = RunLock::acquire(run.lock());
    if (!lock && lock.error().code == ErrorCode::Busy) return Attempt::Waits;   // somebody looks at it
    if (!lock) return std::move(lock).error();
    LATHE_TRY_ASSIGN(const bool waits, isToStart(run, entry.session));
    if (!waits) return Attempt::Gone;
    LATHE_TRY_ASSIGN(auto record, rundir::readSession(run, entry.session));
    record.startedNs = Clock::system().wallNs();
    LATHE_TRY(rundir::writeSession(disk(), run, record));
    LATHE_TRY_ASSIGN(auto config, configOf(run, entry.session));
    if (const std::string device = joined(devices->names); device != "cpu" && config.parallel.device != device) {
        config.parallel.device = device;
        LATHE_TRY(replaceFile(disk(), run.sessionYaml(entry.session), config::toYaml(config)));
    }
    LATHE_TRY_ASSIGN(const auto up, runApart([&](int ready) {
        { const RunLock leftToTheKeeper = std::move(m_lock); }
        takeEnvironment(entry.environment);
        SupervisorOptions options{run, entry.session, ready, {}, {}};
        options.devices = std::make_shared<DeviceLocks>(std::move(devices->locks));
        return superviseSession(std::move(options), std::move(*lock));
    }));
    if (up.isUp) m_running.emplace(up.pid, RunFolder(entry.folder));
    else afterEnd(RunFolder(entry.folder));
    return Attempt::Started;
}

/// Once for each new trouble, not once a turn.
void QueueKeeper::complain(const Error& error) {
    if (m_complaints.insert(withoutAmounts(error.text())).second) log::error(error.text());
}

/// False where it could not be: it is tried again with the next turn, and does not start twice.
bool QueueKeeper::remove(const std::string& run) {
    const auto edited = edit([&](QueueState& state) -> Result<void> {
        std::erase_if(state.entries, [&](const QueueEntry& entry) { return entry.run == run; });
        return {};
    });
    if (!edited) complain(edited.error());
    return edited.ok();
}

/// What keeps a run from starting is told where it waits; it is tried again with each turn.
void QueueKeeper::note(const QueueEntry& noted, const std::string& why) {
    if (withoutAmounts(noted.why) == withoutAmounts(why)) return;
    const auto edited = edit([&](QueueState& state) -> Result<void> {
        for (QueueEntry& entry : state.entries)
            if (entry.run == noted.run && !entry.held) entry.why = why;
        return {};
    });
    if (!edited) return complain(Error(edited.error()).in("while noting that " + noted.run + " cannot start: " + why));
    log::warning(noted.run + ": " + why);
}

void QueueKeeper::holdAll(const std::string& why) {
    const auto edited = edit([&](QueueState& state) -> Result<void> {
        for (QueueEntry& entry : state.entries) {
            if (entry.held) continue;
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
    if (state && state->holdAfterFailure) holdAll(run.name() + " ended as " + std::string(rundir::name(standing.state)));
}

/// Decided while nobody can put anything in; the lock is let go before somebody could. A queue that cannot be looked at may
/// hold runs: the keeper stays.
bool QueueKeeper::isDone() {
    if (!m_running.empty()) return false;
    bool done = false;
    const auto looked = m_queue.look([&](const QueueState& state) {
        done = std::all_of(state.entries.begin(), state.entries.end(), [](const QueueEntry& entry) { return entry.held; });
        if (done) const RunLock let = std::move(m_lock);
    });
    if (!looked) complain(looked.error());
    return done;
}

}  // namespace

ExitCode keepQueue(const Queue& queue, int readyFd) {
    if (const auto made = makeFolders(disk(), queue.folder()); !made) return ExitCode::Failed;
    auto lock = RunLock::acquire(queue.keeperLock());
    if (!lock) return lock.error().code == ErrorCode::Busy ? ExitCode::Completed : ExitCode::Failed;
    log::toFile(queue.folder() / "queue.log");
    auto signals = SignalFeed::listen({SIGTERM, SIGINT, SIGHUP, SIGCHLD});
    if (!signals) {
        log::error(signals.error().text());
        return ExitCode::Failed;
    }
    if (readyFd >= 0 && ::write(readyFd, "+", 1) != 1) log::warning("Nobody waits for the keeper of the queue");
    return QueueKeeper(queue, std::move(*lock), std::move(*signals)).work();
}

/// Its lock tells nobody's pid: the process that has the file open is looked for.
std::string stoppedKeeperNote(const Queue& queue) {
    if (!queue.keeperIsUp()) return {};
    const auto names = listFolder("/proc");
    for (std::size_t i = 0; names && i < names->size(); ++i) {
        const auto pid = readInteger((*names)[i]);
        const auto who = pid ? identityOf(*pid, {}) : std::nullopt;
        const auto process = who ? VerifiedProcess::find(*who) : std::nullopt;
        if (process && process->isStopped() && process->hasOpen(queue.keeperLock())) return "Nothing starts from the queue, since its keeper stands still: " + stoppedNote(*who);
    }
    return {};
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
