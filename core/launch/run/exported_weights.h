// One plain safetensors file with a model's own names out of the pieces of a checkpoint.
#pragma once

#include "base/result.h"
#include "rundir/checkpoint_manifest.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace lathe {
class FileSystem;
}

namespace lathe::launch {

/// What an export takes, by the name that it has there: parameters and buffers; with `means`, the running mean of each
/// parameter that has one in its place. NotFound when there is none.
Result<std::vector<std::pair<std::string, const rundir::TensorEntry*>>> exportedTensors(const rundir::CheckpointManifest& manifest, bool means);
/// Writes exportedTensors(), optimizer state left out. Every file that is read is checked against its size and header;
/// tensors in several pieces (several ranks) are Unsupported.
Result<void> writeWeights(FileSystem& fs, const std::filesystem::path& checkpoint, const rundir::CheckpointManifest& manifest,
                          bool means, const std::filesystem::path& file);

}  // namespace lathe::launch
