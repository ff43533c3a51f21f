// From a prepared session to its end, or to a supervisor of its own in the background.
#pragma once

#include "actions.h"
#include "base/result.h"
#include "launch/run/run_settings.h"
#include "launch/session/supervisor.h"
#include "launch/verbs/prepare.h"

namespace lathe::trainer {

/// Says so where a worker without supervisor, or a supervisor that still notifies, has to be waited for.
void tellLeftover(const rundir::RunFolder& run);
/// --set, and the options that stand for settings.
std::vector<std::string> settingsOf(const Options& options);
/// --remedy as settings, none where it is not given. `goesOn`: the run goes on from a checkpoint.
Result<std::vector<std::string>> remedyOf(const Options& options, const rundir::RunFolder& run, bool goesOn);
/// Supervises a prepared session here, or in the background with --detach; prints what came of it. `trialUpdates`: the run
/// is a trial (trial.h).
ExitCode start(const Options& options, Result<launch::Prepared> prepared, std::optional<std::int64_t> trialUpdates = {});
/// A recorder in the background for a process that is there already; prints what its client needs to reach it.
ExitCode startRecording(const Options& options, Result<launch::Prepared> prepared, const launch::Recording& recording);

}  // namespace lathe::trainer
