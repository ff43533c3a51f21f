#include "launch/process/adopted_process.h"

#include "base/file_system.h"
#include "launch/process/identity.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace lathe::launch {

static constexpr std::uint64_t kMostArguments = 1u << 20;

static std::filesystem::path procOf(std::int64_t pid) { return std::filesystem::path("/proc") / std::to_string(pid); }

Result<std::unique_ptr<AdoptedProcess>> AdoptedProcess::adopt(std::int64_t pid, const std::string& token) {
    const int pidfd = pid > 1 && pid <= 0x7fffffff ? static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)) : -1;
    if (pidfd < 0) return Error{ErrorCode::NotFound, "There is no process " + std::to_string(pid), {}, {}};
    // Asked after the pidfd is open: what it holds now is what the pid means from here on.
    struct stat info {};
    auto identity = identityOf(pid, token);
    if (!identity || ::stat(procOf(pid).c_str(), &info) != 0 || info.st_uid != ::geteuid()) {
        ::close(pidfd);
        return Error{ErrorCode::Permission, "Process " + std::to_string(pid) + " is not yours, or has ended", {}, {}};
    }
    return std::unique_ptr<AdoptedProcess>(new AdoptedProcess(pidfd, std::move(*identity)));
}

AdoptedProcess::~AdoptedProcess() { ::close(m_pidfd); }

std::optional<ExitStatus> AdoptedProcess::poll() {
    struct pollfd wait {m_pidfd, POLLIN, 0};
    m_ended = m_ended || ::poll(&wait, 1, 0) > 0;
    return m_ended ? std::optional<ExitStatus>(ExitStatus{}) : std::nullopt;
}

void AdoptedProcess::signal(int number) { ::syscall(SYS_pidfd_send_signal, m_pidfd, number, nullptr, 0); }

void signalOwn(std::int64_t pid, int number) {
    const auto process = AdoptedProcess::adopt(pid, {});
    if (process) (*process)->signal(number);
}

Result<ProcessOrigin> originOf(std::int64_t pid) {
    ProcessOrigin origin;
    if (!isTaken(pid)) return Error{ErrorCode::NotFound, "There is no process " + std::to_string(pid) + " to record", {}, {}};
    LATHE_TRY_ASSIGN(const std::string line, readFile(procOf(pid) / "cmdline", kMostArguments));
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t end = std::min(line.find('\0', at), line.size());
        origin.words.push_back(line.substr(at, end - at));
        at = end + 1;
    }
    std::error_code problem;
    origin.folder = std::filesystem::read_symlink(procOf(pid) / "cwd", problem).string();
    if (problem) return fileError("read", (procOf(pid) / "cwd").native(), problem.value());
    if (origin.words.empty()) return Error{ErrorCode::NotFound, "Process " + std::to_string(pid) + " has ended, or is none of a program", {}, {}};
    return origin;
}

}  // namespace lathe::launch
