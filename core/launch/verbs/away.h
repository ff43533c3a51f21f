// What ended while nobody looked.
// Thread: functions without shared state.
#pragma once

#include "rundir/run_folder.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lathe::launch {

struct RunEnding {
    rundir::RunFolder run;
    std::string name;                                 ///< as people call it now
    rundir::State state = rundir::State::Completed;   ///< judged (standingOf), never one that is alive
    std::string why;
    std::int64_t endedNs = 0;                         ///< wall time; of a run that was lost its last sign of life
};

/// Runs of a workspace that ended after `sinceNs` (wall time) and are not up again, oldest end first. Folders whose summary
/// did not change since then are not opened.
std::vector<RunEnding> endingsSince(const std::filesystem::path& workspace, std::int64_t sinceNs);

/// "2 completed, 1 diverged at 03:12": what went well first, the time (local, with the day where it is not `nowNs`'s) of what
/// did not. Empty for no endings.
std::string endingsText(const std::vector<RunEnding>& endings, std::int64_t nowNs);

/// A moment as people write it: "8h", "90min", "2d" before `nowNs`, or local time as "03:12" (the last one before `nowNs`),
/// "2026-11-29", "2026-11-29 22:00", or UTC as "2026-11-29T22:00:00Z".
Result<std::int64_t> momentFrom(const std::string& text, std::int64_t nowNs);

}  // namespace lathe::launch
