// Keeps the machine from going to sleep while a run is up, by logind's word: systemd-inhibit holds its lock as long as the
// command lives that it was given, and that is a cat on a pipe which this process holds. However this process ends, the
// lock goes with it. Where there is no logind, one line in the log says so and nothing else happens.
// Thread: one.
#pragma once

#include <string>
#include <sys/types.h>

namespace lathe::launch {

/// Whether the system would grant it now: tried, and let go at once.
bool canStayAwake();

class SleepInhibitor {
public:
    SleepInhibitor() = default;
    ~SleepInhibitor();   ///< lets go
    SleepInhibitor(const SleepInhibitor&) = delete;
    SleepInhibitor& operator=(const SleepInhibitor&) = delete;

    /// `why` is shown to people by `systemd-inhibit --list`.
    void hold(const std::string& why);
    /// Notices when it was refused or ended by somebody else.
    void look();

private:
    pid_t m_pid = -1;
    int m_pipe = -1;     ///< writing end
};

}  // namespace lathe::launch
