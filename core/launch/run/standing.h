// How a run stands, whoever asks.
// Thread: functions without shared state; not while other threads of this process change the same run.
#pragma once

#include "base/result.h"
#include "rundir/run_folder.h"

#include <string>

namespace lathe::launch {

/// Whether its supervisor, of this machine, is gone and nobody has booked what it left: takeRun() does.
bool isUnsettled(const rundir::RunFolder& run);
/// Why the supervisor of a live run does not answer, where it is stopped (stoppedNote), or empty.
std::string supervisorNote(const rundir::RunFolder& run);

/// The truth about a run in one place: from exit record, lock and identity; the same whoever asks.
struct Standing {
    rundir::State state = rundir::State::Lost;
    std::string why;
    bool onThisHost = true;
};
Standing standingOf(const rundir::RunFolder& run);
/// The same error with a way on, where the record of a session is damaged.
Error unreadableSession(const rundir::RunFolder& run, int session, Error error);

}  // namespace lathe::launch
