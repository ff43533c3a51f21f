// How big a model and its checkpoints will be, without building it.
// Thread: pure functions.
#pragma once

#include "config/sections.h"
#include "dataset/dataset.h"

#include <cstdint>
#include <optional>

namespace lathe::trainer {

/// Trainable parameters; nothing when the data do not tell the shapes or the model is not known.
std::optional<std::int64_t> estimateParameters(const config::RunConfig& config, const dataset::Info& data);
/// Bytes of a checkpoint with optimizer state.
std::uint64_t checkpointBytes(const config::RunConfig& config, std::int64_t parameters);

}  // namespace lathe::trainer
