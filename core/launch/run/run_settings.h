// What the sessions of a run were told: configurations and settings, and what its kind has no use for.
// Thread: functions without shared state; not while other threads of this process change the same run.
#pragma once

#include "base/result.h"
#include "config/config.h"
#include "rundir/run_folder.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::launch {

/// Settings as text, by name, whatever the kind of the run: to be shown and compared.
Result<std::map<std::string, std::string>> settingsOf(const rundir::RunFolder& run);
/// Effective configuration of a session.
Result<config::RunConfig> configOf(const rundir::RunFolder& run, int session);
/// "section.key=value" over a configuration; the error lists every problem.
Result<config::RunConfig> withSettings(const config::RunConfig& before, const std::vector<std::string>& settings);

/// Why the verbs that need a checkpoint of ours are refused for a run of a person's own command.
inline constexpr std::string_view kOwnCheckpoints = "This script keeps its own checkpoints";
/// The refusal (Usage) for such a run; nothing to object to for others.
Result<void> refuseCommand(const rundir::RunFolder& run);
inline constexpr std::string_view kRecordVerb = "record";   ///< SessionRecord::verb where a script runs already: what it started is not ours to end
/// Fills in what a list says of the kind of a run: task and model, or "command" and the script's name.
void tellKind(const config::RunConfig& config, rundir::Summary& summary);

/// Usage error with the reason where a run's kind has no checkpoints of ours: for all verbs that need one.
Result<void> refuseWithoutCheckpoints(const rundir::RunFolder& run);

}  // namespace lathe::launch
