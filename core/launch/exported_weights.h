// One plain safetensors file with a model's own names out of the pieces of a checkpoint.
#pragma once

#include "base/result.h"
#include "rundir/checkpoint_manifest.h"

#include <filesystem>

namespace lathe {
class FileSystem;
}

namespace lathe::launch {

/// Whether an export takes it: parameters and buffers.
bool isWeight(const rundir::TensorEntry& tensor);
/// Parameters and buffers, optimizer state left out. Every file that is read is checked against its size and header;
/// tensors in several pieces (several ranks) are Unsupported.
Result<void> writeWeights(FileSystem& fs, const std::filesystem::path& checkpoint, const rundir::CheckpointManifest& manifest,
                          const std::filesystem::path& file);

}  // namespace lathe::launch
