// The supervisor: owns one session of one run. Makes the shared memory, starts the workers, records their frames,
// answers control requests, keeps summary.json and live.json, applies retention, and writes the exit record.
// Contract with a worker (app/worker):
//   lathe-worker train --run FOLDER --session N --rank K --world W --segment-fd 3 --lifeline-fd 4
//   - reads FOLDER/sessions/N.yaml (effective configuration) and sessions/N.json (what to load)
//   - holds workers.lock shared for its life; writes ring K and heartbeat K only
//   - watches the control block; when the lifeline closes it finishes the update, saves and exits within 60 s
//   - emits an "ended" event with {"state", "why", "counters"} as its last frame, and exits with an ExitCode
//   standard output and error go to logs/rank-<k>.log
// Thread: run() uses the calling thread for everything.
#pragma once

#include "base/exit_code.h"
#include "base/result.h"
#include "rundir/run_folder.h"

#include <filesystem>
#include <string>
#include <vector>

namespace lathe::launch {

struct SupervisorOptions {
    rundir::RunFolder run;
    int session = 0;                     ///< its sessions/<n>.yaml and .json are in place
    int readyFd = -1;                    ///< one byte is written here once the control socket answers (detached start)
    bool foregroundProgress = false;     ///< print a progress line to standard error
};

/// Runs the session to its end; the exit record is written before it returns.
/// Requires: the caller holds run.lock() exclusively (handed over as `lock`).
Result<ExitCode> superviseSession(const SupervisorOptions& options, rundir::RunLock lock);

}  // namespace lathe::launch
