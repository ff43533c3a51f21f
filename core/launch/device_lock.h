// Who computes on which device of this machine, over all users: a lock for each device, by its UUID ("cpu" for the
// processor). A session that was started by hand shares its device with others of that kind; one from the queue waits until
// it can have the device alone. A lock is held as long as any process has it open, and ends with them.
// Thread: plain values; a lock goes along with a fork.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lathe::launch {

class DeviceLock {
public:
    enum class Use { Shared, Alone };
    /// Nothing when others keep it from being taken that way now. An error where the lock cannot be opened at all.
    static Result<std::optional<DeviceLock>> take(const std::string& device, Use use);

    DeviceLock(DeviceLock&& other) noexcept;
    DeviceLock& operator=(DeviceLock&& other) noexcept;
    ~DeviceLock();

private:
    explicit DeviceLock(int fd) : m_fd(fd) {}
    int m_fd = -1;
};

using DeviceLocks = std::vector<DeviceLock>;

/// LATHE_DEVICE_LOCKS, else /run/lock, else (where nobody may write there) this user's state folder.
std::filesystem::path deviceLockFolder();
/// What belongs to this user on this machine and to no workspace: $XDG_STATE_HOME/lathe, else ~/.local/state/lathe.
std::filesystem::path stateFolder();

}  // namespace lathe::launch
