#include "launch/command/keeper.h"

#include "base/clock.h"
#include "base/exit_code.h"
#include "base/log.h"
#include "base/number_text.h"
#include "launch/process/identity.h"
#include "launch/process/process_tree.h"
#include "launch/process/signal_feed.h"
#include "launch/run/session_end.h"
#include "launch/run/settle.h"
#include "live/segment.h"
#include "live/spill.h"
#include "rundir/run_folder.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lathe::launch {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr int kTickMilliseconds = 100;   // 50 MB/s of output are 5 MB then
constexpr int kLockMilliseconds = 5000;

std::int64_t now() { return Clock::system().monotonicNs(); }

struct Command {
    std::filesystem::path folder;
    std::string program;
    std::vector<std::string> words;
};

/// Between fork and exec: nothing that allocates.
[[noreturn]] void becomeCommand(const char* folder, const char* program, char* const* argv, pid_t keeper, int failure) {
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != keeper) ::_exit(127);
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (::chdir(folder) == 0) ::execve(program, argv, environ);
    const int problem = errno;
    while (::write(failure, &problem, sizeof problem) < 0 && errno == EINTR) {}
    ::_exit(127);
}

class Keeper {
public:
    Keeper(rundir::RunFolder run, int session, SignalFeed signals) : m_run(std::move(run)), m_session(session), m_signals(std::move(signals)) {}

    bool isOrphaned() const { return m_orphaned; }
    int run(const Command& command) {
        if (!start(command)) return static_cast<int>(ExitCode::Failed);
        while (!isOver()) turn();
        capLog(m_run.rankLog(0));
        KeeperReport report = m_end;
        report.kind = KeeperReport::Kind::Ended;
        send(report);
        return static_cast<int>(ExitCode::Completed);
    }

private:
    bool start(const Command& command) {
        std::array<int, 2> failure{-1, -1};
        if (::pipe2(failure.data(), O_CLOEXEC) != 0) return failed(errno);
        std::vector<char*> argv;
        for (const std::string& word : command.words) argv.push_back(const_cast<char*>(word.c_str()));
        argv.push_back(nullptr);
        const pid_t keeper = ::getpid();
        m_pid = ::fork();
        if (m_pid == 0) becomeCommand(command.folder.c_str(), command.program.c_str(), argv.data(), keeper, failure[1]);
        const int forkProblem = errno;
        ::close(failure[1]);
        if (m_pid < 0) return failed(forkProblem);
        int problem = 0;
        ssize_t got = 0;
        do {
            got = ::read(failure[0], &problem, sizeof problem);
        } while (got < 0 && errno == EINTR);
        ::close(failure[0]);
        if (got > 0) return failed(problem);
        KeeperReport report;
        report.pid = m_pid;
        report.startTime = startTimeOf(m_pid).value_or(0);
        send(report);
        return true;
    }

    bool failed(int problem) {
        KeeperReport report;
        report.kind = KeeperReport::Kind::Failed;
        report.problem = problem;
        send(report);
        return false;
    }

    void send(const KeeperReport& report) { static_cast<void>(::send(kKeeperChannel, &report, sizeof report, MSG_NOSIGNAL)); }

    void turn() {
        std::array<pollfd, 2> what = {{{m_orphaned ? -1 : kKeeperChannel, POLLIN, 0}, {m_signals.fd(), POLLIN, 0}}};
        ::poll(what.data(), what.size(), kTickMilliseconds);
        takeSignals();
        collect();
        if (what[0].revents != 0) takeOrder();
        if (m_deadlineNs != 0 && now() >= m_deadlineNs) m_killing = true;
        if (m_killing) signalAll(descendantsOf(::getpid()), SIGKILL);
        capLog(m_run.rankLog(0));
    }

    void takeSignals() {
        while (const auto number = m_signals.take())
            if (*number != SIGCHLD) terminate();  // somebody means the run
    }

    void collect() {
        int status = 0;
        for (pid_t ended = ::waitpid(-1, &status, WNOHANG); ended > 0; ended = ::waitpid(-1, &status, WNOHANG)) {
            if (ended != m_pid) continue;
            m_ended = true;
            if (WIFEXITED(status)) m_end.code = WEXITSTATUS(status);
            if (WIFSIGNALED(status)) m_end.signal = WTERMSIG(status);
        }
    }

    void takeOrder() {
        char order = 0;
        const ssize_t got = ::recv(kKeeperChannel, &order, 1, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (got <= 0) return beOrphaned();
        switch (static_cast<KeeperOrder>(order)) {
            case KeeperOrder::Terminate: return terminate();
            case KeeperOrder::Kill: m_killing = true; return;
            case KeeperOrder::Pause: return signalAll(descendantsOf(::getpid()), SIGSTOP);
            case KeeperOrder::Resume: return signalAll(descendantsOf(::getpid()), SIGCONT);
        }
    }

    void beOrphaned() {
        m_orphaned = true;
        static constexpr std::string_view kSaid = "\n[lathe] The supervisor of this run is gone; the command was told to leave (SIGTERM)\n";
        static_cast<void>(!::write(STDOUT_FILENO, kSaid.data(), kSaid.size()));
        terminate();
        if (m_deadlineNs == 0) m_deadlineNs = now() + kOrphanSeconds * kSecond;
        spillRings();
    }

    /// The supervisor wrote these rings; what it had not recorded yet would be lost with this process.
    void spillRings() const {
        const auto segment = live::Segment::open(kKeeperSegment, true);
        if (!segment) return log::error(segment.error().text());
        for (int ring = 0; ring < (*segment)->writers(); ++ring) {
            const auto spilled = live::Spiller(**segment, ring, m_run.spill(), m_session).flushAll();
            if (!spilled) log::error(spilled.error().text());
        }
    }

    /// The group is the command's as long as its leader was not collected.
    void terminate() {
        if (m_ended) return;
        ::kill(-m_pid, SIGTERM);
        signalAll(descendantsOf(::getpid()), SIGCONT);  // what is paused cannot leave
    }

    /// Whether nothing of the command lives any more; what it left behind is ended on the way.
    bool isOver() {
        if (!m_ended) return false;
        const std::vector<TreeProcess> rest = descendantsOf(::getpid());
        if (rest.empty()) return true;
        if (m_end.left == 0) {
            m_end.left = static_cast<std::int32_t>(rest.size());
            std::string names;
            for (const TreeProcess& process : rest) names += (names.empty() ? "" : ", ") + process.name;
            names.copy(m_end.names.data(), m_end.names.size() - 1);
            m_end.kind = KeeperReport::Kind::Left;
            send(m_end);
            signalAll(rest, SIGTERM);
            signalAll(rest, SIGCONT);
            const std::int64_t deadline = now() + kRestSeconds * kSecond;
            m_deadlineNs = m_deadlineNs == 0 ? deadline : std::min(m_deadlineNs, deadline);
        }
        return false;
    }

    const rundir::RunFolder m_run;
    const int m_session;
    SignalFeed m_signals;
    pid_t m_pid = -1;
    bool m_ended = false, m_orphaned = false, m_killing = false;
    std::int64_t m_deadlineNs = 0;   ///< then everything is killed; 0: not yet known
    KeeperReport m_end;
};

}  // namespace

int runKeeper(const std::vector<std::string>& words) {
    const auto session = words.size() < 6 || words[4] != "--" ? std::nullopt : readInteger(words[1]);
    if (!session || *session < 1 || *session > 1'000'000) return static_cast<int>(ExitCode::Usage);
    const rundir::RunFolder run = rundir::RunFolder(words[0]).held();
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (const int fd : {kKeeperChannel, kKeeperSegment}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    ::signal(SIGPIPE, SIG_IGN);
    auto signals = SignalFeed::listen({SIGCHLD, SIGTERM, SIGINT, SIGHUP});
    auto lock = rundir::RunLock::acquireWithin(run.workersLock(), kLockMilliseconds, true);
    if (!signals || !lock) return static_cast<int>(ExitCode::Failed);
    Keeper keeper(run, static_cast<int>(*session), std::move(*signals));
    const int code = keeper.run({words[2], words[3], {words.begin() + 5, words.end()}});
    if (!keeper.isOrphaned()) return code;
    // No later session of a command takes in what was spilled, so it is booked here. A supervisor that is just dying may
    // have the lock for a moment longer than its channel; whoever else has it does the same.
    { const rundir::RunLock done = std::move(*lock); }
    const std::int64_t deadline = now() + kBookSeconds * kSecond;
    auto taken = takeRun(run);
    while (!taken && taken.error().code == ErrorCode::Busy && now() < deadline) {
        ::poll(nullptr, 0, kTickMilliseconds);
        taken = takeRun(run);
    }
    if (!taken && taken.error().code != ErrorCode::Busy) log::error(taken.error().text());
    return code;
}

}  // namespace lathe::launch
