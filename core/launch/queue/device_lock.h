// Who computes on which device of this machine, over all users: a lock for each device, by its UUID ("cpu" for the
// processor). A session that was started by hand shares its device with others of that kind; one from the queue waits until
// it can have the device alone. A lock is held as long as any process has it open, and ends with them. A cleaner may remove its
// file meanwhile: whoever holds it asks renew() several times a second, and a file that was just made is not taken alone yet.
// Thread: plain values; a lock goes along with a fork.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lathe::launch {

class DeviceLock {
public:
    enum class Use { Shared, Alone };
    /// Nothing when others keep it from being taken that way now. An error where the lock cannot be opened at all.
    static Result<std::optional<DeviceLock>> take(const std::string& device, Use use);

    const std::string& device() const { return m_device; }
    const std::filesystem::path& file() const { return m_file; }
    /// Takes what stands under its name in the same way where that is another file by now, or none. False: others have it.
    Result<bool> renew();

    DeviceLock(DeviceLock&& other) noexcept;
    DeviceLock& operator=(DeviceLock&& other) noexcept;
    ~DeviceLock();

private:
    DeviceLock(int fd, std::string device, std::filesystem::path file, Use use) : m_fd(fd), m_device(std::move(device)), m_file(std::move(file)), m_use(use) {}
    static Result<std::optional<DeviceLock>> lock(const std::string& device, const std::filesystem::path& file, Use use);
    bool stands() const;
    bool isNew() const;

    int m_fd = -1;
    std::string m_device;
    std::filesystem::path m_file;
    Use m_use = Use::Shared;
};

using DeviceLocks = std::vector<DeviceLock>;

/// LATHE_DEVICE_LOCKS, else /run/lock, else (where nobody may write there) this user's state folder.
std::filesystem::path deviceLockFolder();
/// What belongs to this user on this machine and to no workspace: $XDG_STATE_HOME/lathe, else ~/.local/state/lathe.
std::filesystem::path stateFolder();

}  // namespace lathe::launch
