// Which checkpoints a rule keeps, and why: asked before anything is removed.
// Thread: pure functions.
#pragma once

#include "rundir/checkpoint_manifest.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lathe::rundir {

struct KeepRule {
    std::int64_t last = 3;              ///< newest usable ones, at least 1
    std::int64_t best = 1;              ///< best ones by `metric`
    std::optional<std::int64_t> every;  ///< also those whose step is a multiple of this
    std::string metric;                 ///< a series
    bool higherIsBetter = false;
};

struct KeepChoice {
    std::string folder;
    bool kept = true;
    std::string why;                    ///< all reasons to keep it: "newest, best"; or why not
};

/// For each of `all`, in their order. `wanted`: folders that stay for other reasons. What cannot be used stays and counts
/// for nothing. Of those that were re-read and found whole two stay, the newest, whatever the rule says.
std::vector<KeepChoice> chooseKept(const std::vector<CheckpointInfo>& all, const KeepRule& rule, const std::multimap<std::string, std::string>& wanted);

}  // namespace lathe::rundir
