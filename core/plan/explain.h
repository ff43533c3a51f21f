// One update in words: the order of its events under a configuration, what is divided by what, when gradients are reduced,
// and which counter moves when. tst_explain compares the order with what the loop does.
// Thread: pure functions.
#pragma once

#include "config/sections.h"

#include <string>
#include <vector>

namespace lathe::plan {

struct UpdateEvent {
    std::string name;     ///< "reduce"
    std::string detail;   ///< a sentence or two
};

std::vector<UpdateEvent> explainUpdate(const config::RunConfig& config);

}  // namespace lathe::plan
