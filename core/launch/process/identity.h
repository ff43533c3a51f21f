// Who a process is. A pid alone proves nothing: it is taken again by others. Linux, /proc.
// Thread: no shared state.
#pragma once

#include "rundir/run_folder.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace lathe::launch {

std::string hostName();
/// Differs after each start of the machine.
std::string bootId();
/// "LATHE_SOCKET=<path in the run folder>": stands in the environment of what a command's run starts, and tells whose a
/// process is; not the run's id, which a copied folder has too.
std::string ownerVariable(const rundir::RunFolder& run);
/// What /proc/<pid>/stat tells of a process.
struct ProcessFacts {
    std::string name;             ///< of its program, at most 15 bytes
    char state = '?';             ///< Z: ended, not collected yet
    std::int64_t parent = 0;
    std::uint64_t startTime = 0;
};
std::optional<ProcessFacts> factsOf(std::int64_t pid);
std::optional<std::uint64_t> startTimeOf(std::int64_t pid);
/// Whether any process has this id now; one that ended and was not collected yet does not count.
bool isTaken(std::int64_t pid);
/// Of a process of this user's that lives now; nothing when it does not.
std::optional<rundir::ProcessIdentity> identityOf(std::int64_t pid, const std::string& token);

/// A process that is certainly the one meant, held by a pidfd, so that no signal can reach a stranger.
class VerifiedProcess {
public:
    /// Nothing when it is gone, or the pid belongs to another program by now, or it runs on another host.
    static std::optional<VerifiedProcess> find(const rundir::ProcessIdentity& who);
    VerifiedProcess(VerifiedProcess&& other) noexcept;
    VerifiedProcess& operator=(VerifiedProcess&&) = delete;
    ~VerifiedProcess();

    bool isAlive() const;
    bool signal(int number) const;  ///< false when it is gone
    bool isStopped() const;         ///< by Ctrl-Z, SIGSTOP or a debugger
    /// Whether it has this very file open (by device and inode).
    bool hasOpen(const std::filesystem::path& file) const;

private:
    VerifiedProcess(int pidfd, std::int64_t pid) : m_pidfd(pidfd), m_pid(pid) {}
    int m_pidfd;
    std::int64_t m_pid;
};

/// "process 12 is stopped (Ctrl-Z or SIGSTOP); kill -CONT 12 lets it go on", or empty where it is not, or is not there.
std::string stoppedNote(const rundir::ProcessIdentity& who);

}  // namespace lathe::launch
