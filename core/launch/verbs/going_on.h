// The rules for going on from a checkpoint, asked by the verbs that do it and by the sheet that tells it beforehand.
// Thread: functions without shared state.
#pragma once

#include "base/result.h"
#include "config/config.h"
#include "rundir/checkpoint_manifest.h"

#include <cstdint>
#include <filesystem>
#include <optional>

namespace lathe::launch {

/// Whether the state of a checkpoint allows this change of a setting only in a new run.
bool isFixed(const config::Field& field, const config::RunConfig& before, const config::RunConfig& after);
/// Config error naming the first setting that the state of a checkpoint does not allow to change.
Result<void> refuseFixedChanges(const config::RunConfig& before, const config::RunConfig& after, bool isNewRun);
/// What a checkpoint carries of the learning rate, see engine/train/curve.h.
struct StoredCurve {
    std::optional<std::int64_t> length;
    double plateauScale = 1;
};
/// `checkpoint`: its folder. Nothing of it is a problem of its own: what cannot be read is not known.
StoredCurve storedCurve(const std::filesystem::path& checkpoint);

/// Usage error, with the key to extend, where a run that goes on from this checkpoint is at its end already. One that still
/// owes an evaluation there goes on for that alone. `curveLength`: that of its stored curve.
Result<void> refuseReached(const config::RunConfig& config, const rundir::CheckpointManifest& checkpoint, std::optional<std::int64_t> curveLength = {});

}  // namespace lathe::launch
