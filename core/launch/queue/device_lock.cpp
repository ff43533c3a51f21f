#include "launch/queue/device_lock.h"

#include "base/clock.h"
#include "base/file_system.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace lathe::launch {

static std::filesystem::path fromEnvironment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value == '/' ? std::filesystem::path(value) : std::filesystem::path();
}

std::filesystem::path stateFolder() {
    if (const auto chosen = fromEnvironment("XDG_STATE_HOME"); !chosen.empty()) return chosen / "lathe";
    const auto home = fromEnvironment("HOME");
    return (home.empty() ? std::filesystem::path("/tmp/lathe-" + std::to_string(::geteuid())) : home / ".local/state") / "lathe";
}

std::filesystem::path deviceLockFolder() {
    if (const auto chosen = fromEnvironment("LATHE_DEVICE_LOCKS"); !chosen.empty()) return chosen;
    const std::filesystem::path shared = "/run/lock";
    return ::access(shared.c_str(), W_OK | X_OK) == 0 ? shared : stateFolder();
}

/// Readable by everybody, whose umask ever made it: a lock that only one user can open would be no lock. A link is refused.
static int openShared(const std::filesystem::path& file) {
    int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 || errno != ENOENT) return fd;
    fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd >= 0) ::fchmod(fd, 0644);
    return fd >= 0 || errno != EEXIST ? fd : ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

Result<std::optional<DeviceLock>> DeviceLock::lock(const std::string& device, const std::filesystem::path& file, Use use) {
    constexpr int kTries = 100;   // each time the file was removed between opening and locking it
    for (int i = 0; i < kTries; ++i) {
        const int fd = openShared(file);
        if (fd < 0) return fileError("open", file.native(), errno);
        DeviceLock lock(fd, device, file, use);
        const bool isMine = ::flock(fd, (use == Use::Alone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0;
        if (!isMine && errno != EWOULDBLOCK) return fileError("lock", file.native(), errno);
        if (!isMine) return std::optional<DeviceLock>();
        if (lock.stands()) return std::optional<DeviceLock>(std::move(lock));
    }
    return Error{ErrorCode::Busy, "Somebody removes " + file.string() + " all the time", {}, {}};
}

Result<std::optional<DeviceLock>> DeviceLock::take(const std::string& device, Use use) {
    std::string name = device;
    std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '-'; }, '_');
    const std::filesystem::path folder = deviceLockFolder(), file = folder / ("lathe-" + name.substr(0, 100) + ".lock");
    if (std::error_code missing; !std::filesystem::is_directory(folder, missing)) LATHE_TRY(makeFolders(FileSystem::real(), folder));
    LATHE_TRY_ASSIGN(auto taken, lock(device, file, use));
    if (taken && use == Use::Alone && taken->isNew()) taken.reset();   // perhaps somebody had the one that was removed
    return taken;
}

Result<bool> DeviceLock::renew() {
    if (stands()) return true;
    if (std::error_code missing; !std::filesystem::is_directory(m_file.parent_path(), missing)) LATHE_TRY(makeFolders(FileSystem::real(), m_file.parent_path()));
    LATHE_TRY_ASSIGN(auto again, lock(m_device, m_file, m_use));
    if (again) *this = std::move(*again);
    return again.has_value();
}

bool DeviceLock::stands() const {
    struct stat mine {}, named {};
    return ::fstat(m_fd, &mine) == 0 && ::lstat(m_file.c_str(), &named) == 0 && mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
}

/// Nobody writes to it: its time is that of its making.
bool DeviceLock::isNew() const {
    constexpr std::int64_t kForNs = 1'000'000'000;   // several turns of who holds another one
    struct stat mine {};
    if (::fstat(m_fd, &mine) != 0) return false;
    const std::int64_t age = Clock::system().wallNs() - (std::int64_t{mine.st_mtim.tv_sec} * 1'000'000'000 + mine.st_mtim.tv_nsec);
    return age >= 0 && age < kForNs;
}

DeviceLock::DeviceLock(DeviceLock&& other) noexcept
    : m_fd(std::exchange(other.m_fd, -1)), m_device(std::move(other.m_device)), m_file(std::move(other.m_file)), m_use(other.m_use) {}

DeviceLock& DeviceLock::operator=(DeviceLock&& other) noexcept {
    std::swap(m_fd, other.m_fd);
    std::swap(m_device, other.m_device);
    std::swap(m_file, other.m_file);
    std::swap(m_use, other.m_use);
    return *this;
}

DeviceLock::~DeviceLock() {
    if (m_fd >= 0) ::close(m_fd);
}

}  // namespace lathe::launch
