// How a session ended, from all that is known once its processes are gone.
// Thread: functions without shared state.
#pragma once

#include "launch/run/session_end.h"
#include "launch/session/running.h"
#include "launch/session/session_wishes.h"

#include <cstdint>
#include <optional>

namespace lathe::launch {

/// All of them outlive it.
struct GoneSession {
    const rundir::RunFolder& run;
    const FrameBook& book;
    const Running& running;
    const SessionWishes& wishes;
    std::int64_t safeStep = 0;        ///< of the newest checkpoint
    std::int64_t updates = 0;         ///< attempts that the run has made in all its sessions
    int ranks = 1;
    bool isRemoved = false;           ///< the run folder is no more
};

/// The rank whose end explains the others'.
int decidingRank(const GoneSession& session);
/// … its exit; nothing where it was not started, or is out of sight.
std::optional<ExitStatus> exitOf(const GoneSession& session);
EndFacts factsOf(const GoneSession& session);
/// A rank is named where there are several and it did not end well.
SessionEnd judge(const GoneSession& session);

}  // namespace lathe::launch
