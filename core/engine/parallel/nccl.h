// NCCL for ranks on GPUs, from the library that is built where CUDA's toolkit is (engine/parallel/nccl_plugin.h).
// Thread: one thread at a time.
#pragma once

#include "base/result.h"

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <filesystem>

namespace lathe::engine {

/// Where the library lies: beside the program.
std::filesystem::path ncclLibrary();
/// A backend for tensors on this process' GPU. Loads the library, which stays loaded; Unsupported says why it cannot be
/// used here.
Result<c10::intrusive_ptr<c10d::Backend>> makeNccl(const std::filesystem::path& library, c10d::Store& store, int rank, int world,
                                                   std::chrono::milliseconds timeout);

}  // namespace lathe::engine
