// Data parallel: every rank holds the whole model, runs its share of each window, and reduces gradients with the others.
//
// reduce_at window: gradients are reduced once, bucket by bucket while the backward pass of the share's last micro-batch
// still runs; always in the same order, whatever becomes ready first. reduce_at micro_step: after each micro-batch.
// reduction ring: Gloo's ring; the bits depend on ranks and layout, not on timing. reduction tree: as GradientTree, across
// ranks too, so that the bits do not depend on the number of ranks (a power of two).
#pragma once

#include "base/kinds.h"
#include "config/sections.h"
#include "engine/parallel/parallel.h"
#include "engine/parallel/rank_group.h"

#include <functional>

namespace lathe::engine {

/// Makes the strategy of this rank; what it has to say to the others is said through a RankGroup, or in its own way.
using ParallelMaker = std::function<Result<std::unique_ptr<Parallel>>(const config::ParallelSection& section, const RankPlace& place)>;
/// All strategies by name. A built-in one is a line in data_parallel.cpp.
Kinds<ParallelMaker>& parallelKinds();

/// What makeParallel() refuses without meeting other ranks.
Result<void> checkParallel(const config::ParallelSection& section, int world);

/// The one that section.strategy names; auto: single for one rank, else ddp. Waits for the others where there are several.
/// Errors name parallel.* keys.
Result<std::unique_ptr<Parallel>> makeParallel(const config::ParallelSection& section, const RankPlace& place);

}  // namespace lathe::engine
