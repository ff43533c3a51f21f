#include "rundir/run_folder.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace lathe::rundir {

static struct flock wholeFile(short type) {
    struct flock range {};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    return range;  // l_pid must stay 0 for OFD locks
}

Result<RunLock> RunLock::acquire(const std::filesystem::path& file, bool shared) {
    const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return fileError("open", file.native(), errno);
    RunLock lock(fd);
    struct flock range = wholeFile(shared ? F_RDLCK : F_WRLCK);
    if (::fcntl(fd, F_OFD_SETLK, &range) == 0) return lock;
    if (errno == EAGAIN || errno == EACCES)
        return Error{ErrorCode::Busy, "Another process holds " + file.string(), {}, {}};
    return fileError("lock", file.native(), errno);
}

Result<RunLock> RunLock::acquireWithin(const std::filesystem::path& file, int milliseconds, bool shared) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
    while (true) {
        auto lock = acquire(file, shared);
        if (lock || lock.error().code != ErrorCode::Busy || std::chrono::steady_clock::now() >= deadline) return lock;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

Result<bool> RunLock::look(const std::filesystem::path& file) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT) return false;
    if (fd < 0) return fileError("open", file.native(), errno);
    struct flock range = wholeFile(F_WRLCK);
    const int problem = ::fcntl(fd, F_OFD_GETLK, &range) == 0 ? 0 : errno;
    ::close(fd);
    if (problem != 0) return fileError("ask who locks", file.native(), problem);
    return range.l_type != F_UNLCK;
}

bool RunLock::isHeld(const std::filesystem::path& file) {
    const auto held = look(file);
    return held && *held;
}

RunLock::RunLock(RunLock&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
    if (this != &other) {
        if (m_fd >= 0) ::close(m_fd);
        m_fd = std::exchange(other.m_fd, -1);
    }
    return *this;
}

RunLock::~RunLock() {
    if (m_fd >= 0) ::close(m_fd);
}

}  // namespace lathe::rundir
