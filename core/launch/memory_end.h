// The end of a session that memory ran out in: its record, and what would need less memory as changes of the configuration.
// Thread: functions without shared state.
#pragma once

#include "base/result.h"
#include "config/sections.h"
#include "live/segment.h"
#include "rundir/run_folder.h"

#include <optional>
#include <string>
#include <vector>

namespace lathe::launch {

/// What would have needed less memory, the one that costs least first. Each leaves a configuration that can be run.
std::vector<rundir::Remedy> remediesFor(const config::RunConfig& config, const rundir::MemoryRecord& record);
/// The worker's own account, or what the last beat tells of one that the system ended; with remedies.
rundir::MemoryRecord memoryOfEnd(const std::optional<rundir::MemoryRecord>& told, const live::Heartbeat& beat, int rank, const config::RunConfig& config);
/// Remedy `number` (from 1) of the newest session of a run, as settings ("key=value"). `goesOn`: the run goes on from a
/// checkpoint, where some settings are fixed. Errors are Usage and say which there are.
Result<std::vector<std::string>> remedySettings(const rundir::RunFolder& run, std::int64_t number, bool goesOn);

}  // namespace lathe::launch
