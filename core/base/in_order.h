// Work on many things in two steps: the first on several threads at once, the second on one thing after another.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <functional>

namespace lathe {

/// Of thing `index`, on the thread of this call with this number (below `threads`).
using Step = std::function<Result<void>(std::size_t index, std::size_t thread)>;

/// For each thing below `count`: `first` on one of so many threads (this one is number 0), then `second` on the same thread,
/// in the order of the things and never two at once. The first error in that order ends it and is returned; things after it
/// may have had their first step. Neither step may throw.
Result<void> inOrder(std::size_t count, std::size_t threads, const Step& first, const Step& second);

}  // namespace lathe
