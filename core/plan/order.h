// Which samples come when. Pure arithmetic: the engine, the form and the supervisor ask the same functions.
//
// An epoch is a permutation of the samples, a function of (seed, epoch). It is cut into micro-batches of `batchSize`,
// these into windows of `microBatches`; a window is one update attempt. A window never crosses an epoch: the last one
// may be short, and is normalised over what it holds. The position is (epoch, plan entry = samples consumed in it).
#pragma once

#include "base/counters.h"
#include "base/interval.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace lathe::plan {

/// Sample ids of an epoch in order; 0..samples-1 when not shuffled.
std::vector<std::int64_t> epochOrder(std::int64_t samples, std::uint64_t seed, Epoch epoch, bool shuffle);

/// The seeded choice of the held-out part: ids of train and eval, each ascending. evalCount = round(fraction * samples),
/// at least 1 and at most samples - 1 when 0 < fraction and samples > 1.
struct Split {
    std::vector<std::int64_t> train;
    std::vector<std::int64_t> eval;
};
Split split(std::int64_t samples, double evalFraction, std::uint64_t splitSeed);

struct OrderShape {
    std::int64_t samples = 0;       ///< in the training part
    std::int64_t batchSize = 1;     ///< samples in a micro-batch
    std::int64_t microBatches = 1;  ///< micro-batches in a window
    bool dropLast = false;          ///< drop the micro-batch that is not full

    std::int64_t batchesPerEpoch() const;
    std::int64_t updatesPerEpoch() const;
    std::int64_t samplesPerEpoch() const;  ///< after dropLast
};

/// One window: the ranges [begin, end) of plan entries of its micro-batches, all in one epoch.
struct Window {
    struct Range {
        std::int64_t begin = 0;
        std::int64_t end = 0;
    };
    Epoch epoch;
    std::vector<Range> microBatches;
    bool isTail = false;  ///< holds fewer micro-batches than a full window
    Epoch nextEpoch;      ///< position after it
    PlanEntry nextEntry;
};

/// The window that starts at a position. Requires: entry < samplesPerEpoch().
Window windowAt(const OrderShape& shape, Epoch epoch, PlanEntry entry);

/// Updates of the whole run: epochs * updatesPerEpoch, cut by maxUpdates. Nothing when neither is set.
std::optional<GlobalStep> plannedUpdates(const OrderShape& shape, std::optional<std::int64_t> epochs,
                                         std::optional<std::int64_t> maxUpdates);

/// When evaluations are due: as written, but "every epoch" of a run of one epoch means 20 times in it.
Interval evaluationInterval(Interval every, std::optional<std::int64_t> epochs, std::optional<GlobalStep> planned);

}  // namespace lathe::plan
