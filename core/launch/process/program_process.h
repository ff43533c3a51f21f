// A process that is not ours to program, as its session sees it: a command behind its keeper, or a script that runs already.
#pragma once

#include "launch/process/child_process.h"
#include "rundir/run_folder.h"

#include <optional>
#include <vector>

namespace lathe::launch {

class ProgramProcess {
public:
    virtual ~ProgramProcess() = default;
    virtual int pollFd() const = 0;   ///< readable when poll() may know more; -1 when there is nothing to wait for
    /// Its end, once it is there; nothing while it runs.
    virtual std::optional<ExitStatus> poll() = 0;
    virtual void signal(int number) = 0;
    /// The program's own is the last.
    virtual std::vector<rundir::ProcessIdentity> identities() const = 0;
};

}  // namespace lathe::launch
