// The proof of resume, small form: what the window after a checkpoint gave, kept inside the checkpoint. It is computed
// without applying anything, and compared with what the resumed session computes for the same window.
#pragma once

#include "engine/train/hooks.h"

#include <string>

namespace lathe::engine {

/// Digest of one window before its update: which samples, and the bits of loss and norm.
struct Probe {
    std::string samples;   ///< digest of the sample ids in order, whatever the number of ranks; empty: there is no probe
    std::string loss;      ///< exact text
    std::string gradNorm;

    bool operator==(const Probe&) const = default;
};

Probe probeOf(const UpdateResult& result);
/// "data order" | "loss" | "norm": the first thing that differs, or empty.
std::string firstDifference(const Probe& expected, const Probe& found);

}  // namespace lathe::engine
