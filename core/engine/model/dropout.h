// Dropout whose mask is a function of its address: nothing to save, nothing to restore, the same on every device and
// for every number of threads. Backward makes the mask again, so none is kept.
#pragma once

#include "engine/model/dropout_kernel.h"

#include <torch/types.h>

#include <cstdint>

namespace lathe::engine {

struct DropoutAddress {
    std::uint64_t seed = 0;
    std::int64_t attempt = 0, microBatch = 0;
    std::uint32_t role = 0;               ///< of the model in its task: 0 where there is one
    std::uint32_t block = 0, call = 0;
};

DropoutKey dropoutKey(const DropoutAddress& address);

/// Each element is 0 with `probability`, else divided by 1 - probability. `firstElement` is the place of the input's
/// first element in the unsharded tensor. A non-finite input stays non-finite. Requires: 0 <= probability < 1.
at::Tensor dropout(const at::Tensor& input, double probability, const DropoutKey& key, std::int64_t firstElement = 0);

/// The same from tensor operators alone, without gradient: for devices without a kernel.
at::Tensor dropoutByOperators(const at::Tensor& input, double probability, const DropoutKey& key, std::int64_t firstElement = 0);

}  // namespace lathe::engine
