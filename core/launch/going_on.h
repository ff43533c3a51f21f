// The rules for going on from a checkpoint, asked by the verbs that do it and by the sheet that tells it beforehand.
// Thread: functions without shared state.
#pragma once

#include "base/counters.h"
#include "base/result.h"
#include "config/config.h"

namespace lathe::launch {

/// Whether the state of a checkpoint allows this change of a setting only in a new run.
bool isFixed(const config::Field& field, const config::RunConfig& before, const config::RunConfig& after);
/// Config error naming the first setting that the state of a checkpoint does not allow to change.
Result<void> refuseFixedChanges(const config::RunConfig& before, const config::RunConfig& after, bool isNewRun);
/// Usage error, with the key to extend, where the run is at its end already.
Result<void> refuseReached(const config::RunConfig& config, const Counters& counters);

}  // namespace lathe::launch
