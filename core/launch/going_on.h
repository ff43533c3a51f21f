// The rules for going on from a checkpoint, asked by the verbs that do it and by the sheet that tells it beforehand.
// Thread: functions without shared state.
#pragma once

#include "base/result.h"
#include "config/config.h"
#include "rundir/checkpoint_manifest.h"

namespace lathe::launch {

/// Whether the state of a checkpoint allows this change of a setting only in a new run.
bool isFixed(const config::Field& field, const config::RunConfig& before, const config::RunConfig& after);
/// Config error naming the first setting that the state of a checkpoint does not allow to change.
Result<void> refuseFixedChanges(const config::RunConfig& before, const config::RunConfig& after, bool isNewRun);
/// Usage error, with the key to extend, where a run that goes on from this checkpoint is at its end already. One that still
/// owes an evaluation there goes on for that alone.
Result<void> refuseReached(const config::RunConfig& config, const rundir::CheckpointManifest& checkpoint);

}  // namespace lathe::launch
