// BatchNorm statistics of a window on all ranks.
#pragma once

#include "engine/model/model.h"
#include "engine/parallel/parallel.h"

#include <vector>

namespace lathe::engine {

/// Replaces this rank's statistics by those of all ranks, in the order of the window's micro-batches, so that running
/// statistics are the same everywhere. Requires: every rank calls it, for the same model.
void gatherStatistics(Parallel& parallel, Model& model, std::vector<StatisticsUpdate>& statistics);

}  // namespace lathe::engine
