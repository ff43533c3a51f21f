#include "launch/command/command_process.h"

#include "launch/process/identity.h"
#include "launch/process/process_tree.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace lathe::launch {

static constexpr int kStartMilliseconds = 60'000;   // a program on a slow network disk
static constexpr int kMostTries = 1000;             // what hangs in the kernel cannot be waited for

/// False at the end of the channel, or while nothing is there.
static bool receive(int channel, KeeperReport& report, bool& gone) {
    ssize_t got = 0;
    do {
        got = ::recv(channel, &report, sizeof report, MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    gone = got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
    return got == static_cast<ssize_t>(sizeof report);
}

Result<std::unique_ptr<CommandProcess>> CommandProcess::start(const CommandOrder& order, const std::string& token) {
    // Should the keeper be killed, what it kept comes to this process.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::array<int, 2> channel{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel.data()) != 0) return fileError("make", "a channel", errno);
    ChildCommand keeper;
    keeper.program = "/proc/self/exe";   // this very build, also after an update
    keeper.name = "lathe-trainer";
    keeper.arguments = {"keep", order.run.place().string(), std::to_string(order.session), order.folder.string(), order.program.string(), "--"};
    keeper.arguments.insert(keeper.arguments.end(), order.words.begin(), order.words.end());
    keeper.log = order.run.rankLog(0);
    keeper.descriptors = {channel[1], order.segmentFd};
    keeper.environment = order.environment;
    keeper.expendable = kExpendable;
    auto child = ChildProcess::start(keeper, token);
    ::close(channel[1]);
    if (!child) {
        ::close(channel[0]);
        return std::move(child).error();
    }
    std::unique_ptr<CommandProcess> process(new CommandProcess(std::move(*child), channel[0]));
    LATHE_TRY(process->waitUntilStarted(order, token));
    return process;
}

static Error cannotStart(const CommandOrder& order, int problem) {
    if (problem == ENOEXEC)
        return {ErrorCode::Config, order.program.string() + " is neither a program nor does it begin with #!; name what runs it, as in python " + order.words[0], "command.line", {}};
    std::error_code ignored;
    if (problem == ENOENT && std::filesystem::exists(order.program, ignored))
        return {ErrorCode::Config, "What " + order.program.string() + " names in its first line (#!) to run it is not there; install that, or name what runs it, as in python " + order.words[0], "command.line", {}};
    Error error = fileError("start", order.program.native(), problem);
    error.code = ErrorCode::Config;
    error.key = "command.line";
    return error;
}

Result<void> CommandProcess::waitUntilStarted(const CommandOrder& order, const std::string& token) {
    pollfd what{m_channel, POLLIN, 0};
    ::poll(&what, 1, kStartMilliseconds);
    KeeperReport report;
    bool gone = false;
    if (!receive(m_channel, report, gone))
        return Error{ErrorCode::Internal, "The keeper of the command " + std::string(gone ? "ended" : "did not answer") + " before it had started it; see "
                     + rundir::RunFolder(order.run.place()).rankLog(0).string(), {}, {}};
    if (report.kind == KeeperReport::Kind::Failed) return cannotStart(order, report.problem);
    m_command = {hostName(), bootId(), report.pid, report.startTime, token};
    return {};
}

CommandProcess::~CommandProcess() {
    if (!m_end && m_command.pid != 0) loseKeeper();
    ::close(m_channel);
}

void CommandProcess::send(KeeperOrder order) const {
    const char byte = static_cast<char>(order);
    static_cast<void>(::send(m_channel, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT));
}

void CommandProcess::signal(int number) { send(number == SIGKILL ? KeeperOrder::Kill : KeeperOrder::Terminate); }
void CommandProcess::pause(bool paused) { send(paused ? KeeperOrder::Pause : KeeperOrder::Resume); }

/// The command itself dies with its keeper; once the keeper is gone, the rest of what it started has become ours.
void CommandProcess::loseKeeper() {
    m_keeper.signal(SIGKILL);
    for (int tries = 0; tries < kMostTries; ++tries) {
        const bool gone = m_keeper.poll().has_value();
        const auto rest = gone ? descendantsOf(::getpid()) : std::vector<TreeProcess>();
        if (gone && rest.empty()) return;
        signalAll(rest, SIGKILL);
        ::poll(nullptr, 0, 1);
    }
}

static std::string leftText(const KeeperReport& report) {
    if (report.left == 0) return {};
    const bool one = report.left == 1;
    return std::to_string(report.left) + (one ? " process that it had left behind was ended (" : " processes that it had left behind were ended (")
           + report.names.data() + ")";
}

std::optional<ExitStatus> CommandProcess::poll() {
    KeeperReport report;
    bool gone = false;
    if (m_end || !receive(m_channel, report, gone)) {
        if (!m_end && gone) {
            m_end.emplace();
            m_end->note = "the process that kept it was killed";
            loseKeeper();
        }
        return m_end;
    }
    if (report.kind == KeeperReport::Kind::Left)
        m_left = "The command has ended; what it had left behind is told to leave (" + std::string(report.names.data()) + "), and killed in " + std::to_string(kRestSeconds) + " s";
    if (report.kind != KeeperReport::Kind::Ended) return m_end;
    m_end.emplace();
    if (report.code >= 0) m_end->code = report.code;
    if (report.signal >= 0) m_end->signal = report.signal;
    m_end->note = leftText(report);
    return m_end;
}

}  // namespace lathe::launch
