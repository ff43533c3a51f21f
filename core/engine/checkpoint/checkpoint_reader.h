// Loads checkpoints, strictly: every file's hash is verified and every name, type and shape compared before anything
// reaches the model. Whatever is wrong comes back as one sentence; what is found there has changed nothing. Only then the state
// is taken, read once more from the same open files; where the disk fails that time, or the state does not come out as it was
// saved (its digest), it holds a part or something else, and must not be trained on.
// Thread: one thread at a time; a few of its own read for it meanwhile.
#pragma once

#include "engine/checkpoint/trainer_record.h"
#include "rundir/checkpoint_manifest.h"

#include <filesystem>
#include <functional>

namespace lathe::engine {

struct LoadedCheckpoint {
    rundir::CheckpointManifest manifest;
    TrainerRecord record;
};

/// Called with the bytes checked so far, on one of the threads that read, one at a time.
using CheckProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Takes the entire state; afterwards the digest of `state` equals the manifest's.
Result<LoadedCheckpoint> loadCheckpoint(const std::filesystem::path& folder, TrainState& state, const CheckProgress& progress = {});

/// Takes the tensors of these names only (a model's parameters and buffers); other tensors of the checkpoint are left.
Result<LoadedCheckpoint> loadCheckpointWeights(const std::filesystem::path& folder, const std::vector<StateTensor>& wanted,
                                               const CheckProgress& progress = {});

/// What loadCheckpoint() would say, of the small files alone: names, types, shapes and small values, which `state` takes; no
/// tensor is read and no hash compared.
Result<LoadedCheckpoint> fitCheckpoint(const std::filesystem::path& folder, TrainState& state);
/// The same of loadCheckpointWeights().
Result<void> fitCheckpointWeights(const std::filesystem::path& folder, const std::vector<StateTensor>& wanted);

}  // namespace lathe::engine
