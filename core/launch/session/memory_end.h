// The end of a session that memory ran out in: its record, and what would need less memory as changes of the configuration.
// Thread: functions without shared state.
#pragma once

#include "base/result.h"
#include "config/sections.h"
#include "live/segment.h"
#include "rundir/run_folder.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::launch {

/// What would have needed less memory: as far as the sizes are known only what can be enough, the one that costs least first,
/// and behind these what may help without its saving being known. Each leaves a configuration that can be run.
std::vector<rundir::Remedy> remediesFor(const config::RunConfig& config, const rundir::MemoryRecord& record);
/// Told in the place of remedies where there are none.
inline constexpr std::string_view kNoRemedy = "No change of the settings is known that would be enough; use a smaller model, or a machine with more memory";
/// The worker's own account, or what the last beat tells of one that the system ended; with remedies.
rundir::MemoryRecord memoryOfEnd(const std::optional<rundir::MemoryRecord>& told, const live::Heartbeat& beat, int rank, const config::RunConfig& config);
/// Remedy `number` (from 1) of the newest session of a run, as settings ("key=value"). `goesOn`: the run goes on from a
/// checkpoint, where some settings are fixed. Errors are Usage and say which there are.
Result<std::vector<std::string>> remedySettings(const rundir::RunFolder& run, std::int64_t number, bool goesOn);

}  // namespace lathe::launch
