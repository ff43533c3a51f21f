// One worker as a child process: started without a shell, with exactly the descriptors it needs, watched by pidfd.
// Thread: one.
#pragma once

#include "base/result.h"
#include "rundir/run_folder.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lathe::launch {

/// How a child ended: one of the two is set.
struct ExitStatus {
    std::optional<int> code, signal;
};

struct WorkerCommand {
    std::filesystem::path program;
    std::vector<std::string> arguments;  ///< without the program's name
    std::filesystem::path log;           ///< standard output and error are appended here
    int segmentFd = -1;                  ///< becomes 3
    int lifelineFd = -1;                 ///< becomes 4
};

class WorkerProcess {
public:
    /// Own session, default signals, standard input /dev/null, every other descriptor closed.
    static Result<WorkerProcess> start(const WorkerCommand& command, const std::string& token);
    WorkerProcess(WorkerProcess&& other) noexcept;
    WorkerProcess& operator=(WorkerProcess&&) = delete;
    /// Ends a child that still runs (SIGKILL) and collects it.
    ~WorkerProcess();

    int pidfd() const { return m_pidfd; }   ///< readable once it ended
    const rundir::ProcessIdentity& identity() const { return m_identity; }
    /// Its end, collected once; nothing while it runs.
    std::optional<ExitStatus> poll();
    void signal(int number) const;

private:
    WorkerProcess(int pidfd, rundir::ProcessIdentity identity) : m_pidfd(pidfd), m_identity(std::move(identity)) {}
    int m_pidfd = -1;
    rundir::ProcessIdentity m_identity;
    std::optional<ExitStatus> m_end;
};

}  // namespace lathe::launch
