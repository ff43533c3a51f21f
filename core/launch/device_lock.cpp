#include "launch/device_lock.h"

#include "base/file_system.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
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

Result<std::optional<DeviceLock>> DeviceLock::take(const std::string& device, Use use) {
    std::string name = device;
    std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '-'; }, '_');
    const std::filesystem::path folder = deviceLockFolder(), file = folder / ("lathe-" + name.substr(0, 100) + ".lock");
    if (std::error_code missing; !std::filesystem::is_directory(folder, missing)) LATHE_TRY(makeFolders(FileSystem::real(), folder));
    const int fd = openShared(file);
    if (fd < 0) return fileError("open", file.native(), errno);
    DeviceLock lock(fd);
    if (::flock(fd, (use == Use::Alone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0) return std::optional<DeviceLock>(std::move(lock));
    if (errno == EWOULDBLOCK) return std::optional<DeviceLock>();
    return fileError("lock", file.native(), errno);
}

DeviceLock::DeviceLock(DeviceLock&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}

DeviceLock& DeviceLock::operator=(DeviceLock&& other) noexcept {
    std::swap(m_fd, other.m_fd);
    return *this;
}

DeviceLock::~DeviceLock() {
    if (m_fd >= 0) ::close(m_fd);
}

}  // namespace lathe::launch
