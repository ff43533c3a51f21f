// What a loader hands to a task. Thread: plain values.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace lathe::engine {

/// A micro-batch on the device.
struct Batch {
    at::Tensor input;               ///< [N, features] or [N, C, H, W]; text: [N, 2, T] int64, bytes and the document of each
    at::Tensor target;              ///< classification: [N] int64; regression: [N, targets]; text: [N, T] int64, -100: nothing
    at::Tensor weight;              ///< [N] or undefined (all 1); text: bytes to be foretold, on the CPU
    std::vector<std::int64_t> ids;  ///< sample ids
    std::int64_t count() const { return static_cast<std::int64_t>(ids.size()); }
};

}  // namespace lathe::engine
