#include "launch/process/child_process.h"

#include "base/descriptor.h"
#include "base/file_system.h"
#include "base/number_text.h"
#include "launch/process/identity.h"
#include "launch/process/spawn_plan.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <list>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace lathe::launch {
namespace {

/// A copy above the numbers that the plan writes to, so that no dup2 overwrites the source of a later one.
int copyAbove(int fd) { return ::fcntl(fd, F_DUPFD_CLOEXEC, 10); }

}  // namespace

std::string signalText(int number) {
    static constexpr std::array<std::pair<int, const char*>, 10> kNames = {{
        {SIGSEGV, "SIGSEGV, a crash in memory access"}, {SIGABRT, "SIGABRT, it gave up"}, {SIGBUS, "SIGBUS, memory or a mapped file went away"},
        {SIGFPE, "SIGFPE, an impossible calculation"}, {SIGILL, "SIGILL, an instruction this processor lacks"}, {SIGKILL, "SIGKILL"},
        {SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"}, {SIGHUP, "SIGHUP"}, {SIGXCPU, "SIGXCPU, its time limit"},
    }};
    for (const auto& [known, text] : kNames) {
        if (known == number) return text;
    }
    return "number " + std::to_string(number);
}

/// This process's environment with some variables set anew; the texts live in `changes` and in environ.
static std::vector<char*> environmentWith(std::vector<std::string>& changes) {
    const auto nameOf = [](std::string_view variable) { return variable.substr(0, variable.find('=')); };
    std::vector<char*> out;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const bool changed = std::any_of(changes.begin(), changes.end(), [&](const std::string& change) { return nameOf(change) == nameOf(*variable); });
        if (!changed) out.push_back(*variable);
    }
    for (std::string& change : changes) out.push_back(change.data());
    out.push_back(nullptr);
    return out;
}

static Result<pid_t> spawn(const ChildCommand& command, const SpawnPlan& plan) {
    std::vector<std::string> words = {command.name.empty() ? command.program.string() : command.name}, changes = command.environment;
    words.insert(words.end(), command.arguments.begin(), command.arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::vector<char*> environment = environmentWith(changes);
    pid_t pid = 0;
    const int problem = ::posix_spawn(&pid, command.program.c_str(), &plan.actions, &plan.attributes, argv.data(), environment.data());
    if (problem != 0) return fileError("start", command.program.native(), problem);
    return pid;
}

/// Best effort: a system without it has no such choice.
static void raiseOomScore(pid_t pid, int by) {
    constexpr std::int64_t kMost = 1000;
    const auto own = readFile("/proc/self/oom_score_adj", 32);
    const auto now = own ? readInteger(own->substr(0, own->find('\n'))) : std::nullopt;
    const std::string wanted = std::to_string(std::min(kMost, now.value_or(0) + by));
    const Descriptor file(::open(("/proc/" + std::to_string(pid) + "/oom_score_adj").c_str(), O_WRONLY | O_CLOEXEC));
    if (file) static_cast<void>(!::write(file.get(), wanted.data(), wanted.size()));
}

Result<ChildProcess> ChildProcess::start(const ChildCommand& command, const std::string& token) {
    const Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const Descriptor log(::open(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (log.get() < 0) return fileError("write", command.log.native(), errno);
    std::vector<int> wanted = {null.get(), log.get(), log.get()};
    wanted.insert(wanted.end(), command.descriptors.begin(), command.descriptors.end());
    std::list<Descriptor> copies;
    SpawnPlan plan;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        copies.emplace_back(copyAbove(wanted[i]));
        if (copies.back().get() < 0) return fileError("prepare descriptors for", command.program.native(), errno);
        plan.place(copies.back().get(), static_cast<int>(i));
    }
    plan.closeFrom(static_cast<int>(wanted.size()));
    LATHE_TRY_ASSIGN(const pid_t pid, spawn(command, plan));

    if (command.expendable != 0) raiseOomScore(pid, command.expendable);
    // Not yet waited for, so the pid cannot mean anybody else.
    const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    auto identity = identityOf(pid, token);
    if (pidfd < 0 || !identity) {
        const int problem = errno;
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        if (pidfd >= 0) ::close(pidfd);
        return fileError("watch", command.program.native(), problem);
    }
    return ChildProcess(pidfd, std::move(*identity));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : m_pidfd(std::exchange(other.m_pidfd, -1)), m_identity(std::move(other.m_identity)), m_end(other.m_end) {}

ChildProcess::~ChildProcess() {
    if (m_pidfd < 0) return;
    if (!m_end) {
        ChildProcess::signal(SIGKILL);
        ::waitpid(static_cast<pid_t>(m_identity.pid), nullptr, 0);
    }
    ::close(m_pidfd);
}

std::optional<ExitStatus> ChildProcess::poll() {
    if (m_end) return m_end;
    siginfo_t ended{};
    const pid_t pid = static_cast<pid_t>(m_identity.pid);
    if (::waitid(P_PIDFD, static_cast<id_t>(m_pidfd), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == pid) endGroup();
    int status = 0;
    const pid_t got = ::waitpid(pid, &status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR)) return std::nullopt;
    m_end.emplace();
    if (got < 0) return m_end;  // collected by somebody else: nothing is known
    if (WIFEXITED(status)) m_end->code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) m_end->signal = WTERMSIG(status);
    return m_end;
}

void ChildProcess::signal(int number) const {
    if (m_end) return;
    ::syscall(SYS_pidfd_send_signal, m_pidfd, number, nullptr, 0);
    if (number == SIGKILL) endGroup();
}

/// It leads the group that has its number, and is not collected yet: nobody else can have that number.
void ChildProcess::endGroup() const { ::kill(-static_cast<pid_t>(m_identity.pid), SIGKILL); }

}  // namespace lathe::launch
