#include "rundir/checkpoint_hold.h"

#include "base/file_system.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace lathe::rundir {

Result<CheckpointHold> CheckpointHold::lock(const std::filesystem::path& checkpoint, int how) {
    const int fd = ::open(checkpoint.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return fileError("open", checkpoint.native(), errno);
    CheckpointHold hold(fd);
    if (::flock(fd, how | LOCK_NB) == 0 || errno != EWOULDBLOCK) return hold;
    return Error{ErrorCode::Busy, "Checkpoint " + checkpoint.filename().string() + (how == LOCK_EX ? " is being read by another program; it can be removed afterwards" : " is about to be removed"), {}, {}};
}

Result<CheckpointHold> CheckpointHold::take(const std::filesystem::path& checkpoint) {
    auto hold = lock(checkpoint, LOCK_SH);
    const auto gone = [&] { return Error{ErrorCode::NotFound, "Checkpoint " + checkpoint.filename().string() + " was removed just now", {}, {}}; };
    if (!hold) return hold.error().code == ErrorCode::Busy ? gone() : std::move(hold).error();
    struct stat mine{}, named{};   // whoever removes it gives the folder another name first
    const bool isThere = ::fstat(hold->m_fd, &mine) == 0 && ::lstat(checkpoint.c_str(), &named) == 0 && mine.st_ino == named.st_ino && mine.st_dev == named.st_dev;
    if (!isThere) return gone();
    return hold;
}

Result<CheckpointHold> CheckpointHold::takeAlone(const std::filesystem::path& checkpoint) { return lock(checkpoint, LOCK_EX); }

CheckpointHold::CheckpointHold(CheckpointHold&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}

CheckpointHold& CheckpointHold::operator=(CheckpointHold&& other) noexcept {
    std::swap(m_fd, other.m_fd);
    return *this;
}

CheckpointHold::~CheckpointHold() {
    if (m_fd >= 0) ::close(m_fd);
}

}  // namespace lathe::rundir
