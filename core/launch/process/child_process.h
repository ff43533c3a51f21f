// A child process: started without a shell, with exactly the descriptors it needs, watched by pidfd.
// Thread: one.
#pragma once

#include "base/result.h"
#include "rundir/run_folder.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lathe::launch {

/// How a child ended: code or signal is set, or nobody knows.
struct ExitStatus {
    std::optional<int> code, signal;
    std::string note;   ///< what else there is to say, or empty
};

/// "SIGSEGV, a crash in memory access", for people.
std::string signalText(int number);

/// Of what a run computes with: where memory runs out the system takes it before its supervisor, which tells why it ended.
inline constexpr int kExpendable = 300;

struct ChildCommand {
    std::filesystem::path program;
    std::string name;                      ///< what it is told to be called; empty: as the program
    std::vector<std::string> arguments;    ///< without the program's name
    std::filesystem::path log;             ///< standard output and error are appended here
    std::vector<int> descriptors;          ///< become 3, 4, …
    std::vector<std::string> environment;  ///< "NAME=VALUE" on top of this process's own
    int expendable = 0;                    ///< added to this process's oom_score_adj: who goes first where memory runs out
};

class ChildProcess {
public:
    /// Own session, default signals, standard input /dev/null, every other descriptor closed.
    static Result<ChildProcess> start(const ChildCommand& command, const std::string& token);
    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess& operator=(ChildProcess&&) = delete;
    /// Ends a child that still runs (SIGKILL) and collects it. What it started and left in its group is ended with it.
    ~ChildProcess();

    int pollFd() const { return m_pidfd; }   ///< readable when poll() may know more
    /// Its end, once it is there; nothing while it runs.
    std::optional<ExitStatus> poll();
    /// SIGKILL reaches its whole group.
    void signal(int number) const;
    const rundir::ProcessIdentity& identity() const { return m_identity; }

private:
    void endGroup() const;

    ChildProcess(int pidfd, rundir::ProcessIdentity identity) : m_pidfd(pidfd), m_identity(std::move(identity)) {}
    int m_pidfd = -1;
    rundir::ProcessIdentity m_identity;
    std::optional<ExitStatus> m_end;
};

}  // namespace lathe::launch
