#include "launch/worker_process.h"

#include "launch/identity.h"
#include "launch/spawn_plan.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace lathe::launch {
namespace {

struct Descriptor {
    int fd;
    explicit Descriptor(int descriptor) : fd(descriptor) {}
    ~Descriptor() {
        if (fd >= 0) ::close(fd);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
};

/// A copy above the numbers that the plan writes to, so that no dup2 overwrites the source of a later one.
int copyAbove(int fd) { return ::fcntl(fd, F_DUPFD_CLOEXEC, 10); }

}  // namespace

Result<WorkerProcess> WorkerProcess::start(const WorkerCommand& command, const std::string& token) {
    const Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const Descriptor log(::open(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (log.fd < 0) return fileError("write", command.log.native(), errno);
    const Descriptor input(copyAbove(null.fd)), output(copyAbove(log.fd)), segment(copyAbove(command.segmentFd)),
        lifeline(copyAbove(command.lifelineFd));
    if (input.fd < 0 || output.fd < 0 || segment.fd < 0 || lifeline.fd < 0)
        return fileError("prepare descriptors for", command.program.native(), errno);

    SpawnPlan plan;
    plan.place(input.fd, 0);
    plan.place(output.fd, 1);
    plan.place(output.fd, 2);
    plan.place(segment.fd, 3);
    plan.place(lifeline.fd, 4);
    plan.closeFrom(5);

    std::vector<std::string> words = {command.program.string()};
    words.insert(words.end(), command.arguments.begin(), command.arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t pid = 0;
    if (const int problem = ::posix_spawn(&pid, command.program.c_str(), &plan.actions, &plan.attributes, argv.data(), environ); problem != 0)
        return fileError("start", command.program.native(), problem);

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
    return WorkerProcess(pidfd, std::move(*identity));
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : m_pidfd(std::exchange(other.m_pidfd, -1)), m_identity(std::move(other.m_identity)), m_end(other.m_end) {}

WorkerProcess::~WorkerProcess() {
    if (m_pidfd < 0) return;
    if (!m_end) {
        signal(SIGKILL);
        ::waitpid(static_cast<pid_t>(m_identity.pid), nullptr, 0);
    }
    ::close(m_pidfd);
}

std::optional<ExitStatus> WorkerProcess::poll() {
    if (m_end) return m_end;
    int status = 0;
    const pid_t got = ::waitpid(static_cast<pid_t>(m_identity.pid), &status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR)) return std::nullopt;
    m_end.emplace();
    if (got < 0) return m_end;  // collected by somebody else: nothing is known
    if (WIFEXITED(status)) m_end->code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) m_end->signal = WTERMSIG(status);
    return m_end;
}

void WorkerProcess::signal(int number) const {
    if (!m_end) ::syscall(SYS_pidfd_send_signal, m_pidfd, number, nullptr, 0);
}

}  // namespace lathe::launch
