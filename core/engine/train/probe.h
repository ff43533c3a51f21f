// The proof of resume: what the windows after a checkpoint gave, compared with what a session that goes on from it
// computes for the same windows. The first one is computed at each save without applying anything and kept inside the
// checkpoint, for a run that ends there; where training went on, the first kProvenUpdates are kept in run.sqlite.
#pragma once

#include "engine/train/hooks.h"

#include <string>

namespace lathe::engine {

/// Updates after a checkpoint that are kept and compared: the state of an optimizer shows from the second one on.
constexpr std::int64_t kProvenUpdates = 4;

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
