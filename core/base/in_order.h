// Work on many things in two steps: the first on several threads at once, the second on one thing after another.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <functional>

namespace lathe {

/// Of thing `index`.
using Step = std::function<Result<void>(std::size_t index)>;

/// For each thing below `count`: `first` on one of so many threads (this one is among them), and `second` after it, in the
/// order of the things and never two at once, on whichever thread has time. No thread ever waits for another but at the end, so
/// that one which is held up (by other programs, say) holds up its own thing alone. The first error in that order is returned;
/// things after it may have had their first step, none has its second. Neither step may throw.
Result<void> inOrder(std::size_t count, std::size_t threads, const Step& first, const Step& second);

}  // namespace lathe
