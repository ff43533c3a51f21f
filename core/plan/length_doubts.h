// What speaks against a curve, a warm-up or a ramp that is longer or shorter than the run it belongs to.
// Thread: a pure function.
#pragma once

#include "base/counters.h"
#include "config/sections.h"

#include <optional>
#include <string>
#include <vector>

namespace lathe::plan {

struct LengthDoubt {
    std::string key;        ///< the setting to change
    std::string sentence;
};

/// Told by `check`, `explain`, the form and the run itself. `planned`: updates of the run; where that is not known, what the
/// configuration alone says of it. Curves of plug-ins are their own affair.
std::vector<LengthDoubt> lengthDoubts(const config::RunConfig& config, std::optional<GlobalStep> planned);

}  // namespace lathe::plan
