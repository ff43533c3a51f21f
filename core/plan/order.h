// Which samples come when. Pure arithmetic: the engine, the form and the supervisor ask the same functions.
//
// An epoch is a permutation of the samples, a function of (seed, epoch). It is cut into micro-batches of `batchSize`,
// these into windows of `microBatches`; a window is one update attempt. A window never crosses an epoch: the last one
// may be short, and is normalised over what it holds. The position is (epoch, plan entry = samples consumed in it).
#pragma once

#include "base/counters.h"
#include "base/interval.h"
#include "config/sections.h"

#include <cstdint>
#include <memory>
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

/// What samples weigh (their own weight, or their tokens), by their place in an epoch's order.
class EntryWeights {
public:
    virtual ~EntryWeights() = default;
    /// Σ over the plan entries [begin, end). Thread: any number of threads.
    virtual double sum(Epoch epoch, std::int64_t begin, std::int64_t end) const = 0;
};

class Accumulation;
/// Windows of so many micro-batches each.
std::shared_ptr<Accumulation> fixedWindows(std::int64_t microBatches);

struct OrderShape {
    std::int64_t samples = 0;       ///< in the training part
    std::int64_t batchSize = 1;     ///< samples in a micro-batch
    std::shared_ptr<Accumulation> accumulation = fixedWindows(1);  ///< when a window is full; null: of a plug-in that is not loaded here
    bool dropLast = false;          ///< drop the micro-batch that is not full
    std::shared_ptr<const EntryWeights> weights;  ///< null: each sample weighs sampleWeight
    double sampleWeight = 1;        ///< exactly, or about what samples of a text weigh: bytes of a row

    std::int64_t batchesPerEpoch() const;
    /// Once windows have their full size, as if each sample weighed sampleWeight; nothing where the accumulation is not known.
    std::optional<std::int64_t> updatesPerEpoch() const;
    std::int64_t samplesPerEpoch() const;  ///< after dropLast
};

/// Of a run's training part with so many samples; `weights` is left empty, and the accumulation where it is one of a plug-in
/// that is not loaded.
OrderShape orderShape(const config::RunConfig& config, std::int64_t samples);

/// One window: the ranges [begin, end) of plan entries of its micro-batches, all in one epoch.
struct Window {
    struct Range {
        std::int64_t begin = 0;
        std::int64_t end = 0;
    };
    Epoch epoch;
    UpdateAttempt attempt;  ///< windows of the run before it
    std::vector<Range> microBatches;
    bool isTail = false;    ///< the epoch ended before it was full
    std::int64_t limit = 0; ///< samples that limited() left in a micro-batch at most; 0: it was not asked
    Epoch nextEpoch;        ///< position after it
    PlanEntry nextEntry;

    std::int64_t samples() const { return microBatches.empty() ? 0 : microBatches.back().end - microBatches.front().begin; }
};

/// The window that starts at a position. Requires: entry < samplesPerEpoch(). `attempt`: windows of the run before it,
/// which says how far a ramp has come. Requires: the accumulation is known. What a plug-in's throws comes through.
Window windowAt(const OrderShape& shape, Epoch epoch, PlanEntry entry, UpdateAttempt attempt = UpdateAttempt());

/// The same samples in micro-batches of at most `most`: larger ones are cut into parts of that size and a last one. 0: as it
/// is. Where batchSize is a multiple of `most` this is the window of a run that has micro-batches of that size.
Window limited(Window window, std::int64_t most);

/// How the micro-batches of a window are shared out among ranks: contiguous parts, in rank order. The samples of a window
/// do not depend on it.
struct Sharing {
    struct Share {
        std::size_t begin = 0, end = 0;  ///< micro-batches of the window
        std::size_t count() const { return end - begin; }
    };
    int rank = 0, world = 1;
    bool aligned = false;                ///< blocks of a power of two, as a binary tree over the micro-batches wants them

    Share of(std::size_t microBatches) const { return ofRank(microBatches, rank); }
    Share ofRank(std::size_t microBatches, int which) const;
};

/// Updates of the whole run: windows of all epochs, cut by maxUpdates; of an accumulation that changes on the way as if it
/// stayed as it is. Nothing when neither is set, or when that cannot be foretold.
std::optional<GlobalStep> plannedUpdates(const OrderShape& shape, std::optional<std::int64_t> epochs,
                                         std::optional<std::int64_t> maxUpdates);

/// When evaluations are due: as written, but "every epoch" of a run of one epoch means 20 times in it.
Interval evaluationInterval(Interval every, std::optional<std::int64_t> epochs, std::optional<GlobalStep> planned);

}  // namespace lathe::plan
