// Keeps a checkpoint from being removed while it is read: the rule of a run that is up may let it go at any moment.
// A lock (flock) on its folder, gone with its process; on a disk that has no such locks it holds nothing.
// Thread: a plain value.
#pragma once

#include "base/result.h"

#include <filesystem>

namespace lathe::rundir {

class CheckpointHold {
public:
    /// To read it, beside others who do. NotFound where it is not there, or about to be removed.
    static Result<CheckpointHold> take(const std::filesystem::path& checkpoint);
    /// To remove it. Busy where somebody reads it; nobody can begin to from here on.
    static Result<CheckpointHold> takeAlone(const std::filesystem::path& checkpoint);

    CheckpointHold(CheckpointHold&& other) noexcept;
    CheckpointHold& operator=(CheckpointHold&& other) noexcept;
    ~CheckpointHold();

private:
    explicit CheckpointHold(int fd) : m_fd(fd) {}
    static Result<CheckpointHold> lock(const std::filesystem::path& checkpoint, int how);
    int m_fd = -1;
};

}  // namespace lathe::rundir
