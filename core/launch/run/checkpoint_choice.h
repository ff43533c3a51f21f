// The checkpoints of a run by the names that people give them, and which of them lie on its surviving line.
// Thread: functions without shared state; not while other threads of this process change the same run.
#pragma once

#include "base/result.h"
#include "rundir/checkpoint_hold.h"
#include "rundir/run_folder.h"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace lathe::launch {

/// "RUN@120", "RUN@s003-000000120", "RUN@best", "RUN@latest" -> run and checkpoint folder name (usable ones only). RUN alone:
/// its newest one; "best", a step or a folder alone: of the newest run.
Result<std::pair<rundir::RunFolder, std::string>> findCheckpoint(const std::filesystem::path& workspace, const std::string& reference);
/// The same, of a run that may be up: its rule does not remove it while it is held.
struct HeldCheckpoint {
    rundir::RunFolder run;
    std::string folder;
    rundir::CheckpointHold hold;
};
Result<HeldCheckpoint> holdCheckpoint(const std::filesystem::path& workspace, const std::string& reference);
/// Found as above, but one that is named by its folder need not be usable.
Result<std::pair<rundir::RunFolder, std::string>> findAnyCheckpoint(const std::filesystem::path& workspace, const std::string& reference);
/// RUN@best: of the usable checkpoints in this run the best by its metric; NotFound where none was evaluated.
Result<std::string> bestCheckpoint(const rundir::RunFolder& run);
/// Newest usable checkpoint of the surviving line, or empty. For whoever decides or writes by it.
Result<std::string> readNewestOnLine(const rundir::RunFolder& run);
/// The same for those who only show it: empty also where it cannot be told.
std::string newestOnLine(const rundir::RunFolder& run);
/// Usable checkpoints of the surviving line up to a step, newest first.
Result<std::vector<std::string>> lineUpTo(const rundir::RunFolder& run, std::int64_t step);
/// What is wrong with checkpoints of the line that are newer than `chosen` (empty: with all of them), or empty.
Result<std::string> passedOver(const rundir::RunFolder& run, const std::string& chosen);
/// The same as a notice, with how many updates are lost by it. `notAfter`: only of what lies up to this step; `unread`: what
/// else was passed over.
Result<std::string> passedOverNotice(const rundir::RunFolder& run, const std::string& chosen, std::int64_t notAfter = std::numeric_limits<std::int64_t>::max(), const std::string& unread = {});

}  // namespace lathe::launch
