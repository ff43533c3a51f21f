// A process that was there before its supervisor: a script that started a recorder for itself. It is watched, not owned:
// how it ends only it can tell.
// Thread: one.
#pragma once

#include "launch/process/program_process.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lathe::launch {

class AdoptedProcess : public ProgramProcess {
public:
    /// Of this user, alive now (NotFound, Permission).
    static Result<std::unique_ptr<AdoptedProcess>> adopt(std::int64_t pid, const std::string& token);
    ~AdoptedProcess() override;

    int pollFd() const override { return m_ended ? -1 : m_pidfd; }
    /// Neither code nor signal is known.
    std::optional<ExitStatus> poll() override;
    void signal(int number) override;
    std::vector<rundir::ProcessIdentity> identities() const override { return {m_identity}; }

private:
    AdoptedProcess(int pidfd, rundir::ProcessIdentity identity) : m_pidfd(pidfd), m_identity(std::move(identity)) {}
    int m_pidfd;
    bool m_ended = false;
    rundir::ProcessIdentity m_identity;
};

/// To a process of this user; nothing happens where there is none of that number.
void signalOwn(std::int64_t pid, int number);

/// The words that started a process, and the folder it works in now.
struct ProcessOrigin {
    std::vector<std::string> words;
    std::string folder;
};
Result<ProcessOrigin> originOf(std::int64_t pid);

}  // namespace lathe::launch
