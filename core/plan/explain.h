// One update in words: the order of its events under a configuration, what is divided by what, when gradients are reduced,
// and which counter moves when. tst_explain compares the order with what the loop does.
// Thread: pure functions.
#pragma once

#include "base/kinds.h"
#include "config/sections.h"

#include <functional>
#include <string>
#include <vector>

namespace lathe::plan {

struct UpdateEvent {
    std::string name;     ///< "reduce"
    std::string detail;   ///< a sentence or two
};

/// What a strategy does in an update, for a configuration that names it.
using Explanation = std::function<std::string(const config::RunConfig& config)>;
/// What forward passes compute in, by precision.mode; how gradients are reduced, by parallel.strategy. Windows have theirs in
/// accumulationKinds(). What plug-ins add is known where they are loaded; elsewhere their names stand for it.
Kinds<Explanation>& precisionWords();
Kinds<Explanation>& parallelWords();

std::vector<UpdateEvent> explainUpdate(const config::RunConfig& config);

}  // namespace lathe::plan
