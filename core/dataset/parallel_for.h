// One piece of work for each number, spread over threads.
#pragma once

#include "base/result.h"
#include "dataset/source.h"

#include <cstdint>
#include <functional>

namespace lathe::dataset {

/// Calls work(i) for 0 … count-1 from several threads, in any order, and report() of the source from the caller's thread.
/// Stopped when the source wants to end; throws std::bad_alloc when a call of work did. Nothing runs any more on return.
Result<void> parallelFor(const Source& source, std::int64_t count, const std::function<void(std::int64_t)>& work);

}  // namespace lathe::dataset
