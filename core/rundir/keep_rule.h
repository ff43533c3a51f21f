// Which checkpoints a rule keeps, and why: asked before anything is removed.
// Thread: pure functions.
#pragma once

#include "rundir/checkpoint_manifest.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lathe::rundir {

struct KeepRule {
    std::int64_t last = 3;              ///< newest usable ones of the line that goes on, at least 1
    std::int64_t best = 1;              ///< best ones by `metric`, wherever they are
    std::optional<std::int64_t> every;  ///< also those whose step is a multiple of this, wherever they are
    std::string metric;                 ///< a series
    bool higherIsBetter = false;
};

enum class KeepReason { Newest, Best, Every, Pinned, Parent, InUse, Origin, LeftBranch, Verified, BeingWritten, Unusable };

struct KeepChoice {
    std::string folder;
    std::vector<KeepReason> reasons;    ///< to keep it; none: it goes
    bool kept() const { return !reasons.empty(); }
};

/// What the rule does not know by itself.
struct KeepFacts {
    std::multimap<std::string, KeepReason> wanted;   ///< folders that stay for other reasons
    std::set<std::string> left;                      ///< those on branches that going back left
};

/// For each of `all`, in their order. What cannot be used stays and counts for nothing. Of those that were re-read and found
/// whole two stay, the newest of the line that goes on before others, whatever the rule says.
std::vector<KeepChoice> chooseKept(const std::vector<CheckpointInfo>& all, const KeepRule& rule, const KeepFacts& facts);

/// "newest, best", or why it goes: "neither among the newest 3 nor the best 1"
std::string textOf(const KeepChoice& choice, const KeepRule& rule);

}  // namespace lathe::rundir
