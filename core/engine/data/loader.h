// Micro-batches in plan order from a position on. What a batch holds is a function of (data, seed, epoch, plan entry):
// never of the number of threads, of prefetching or of where loading began, and no global generator is touched.
// Thread: one caller at a time. The threads of a loader are its own and end with it.
#pragma once

#include "base/counters.h"
#include "base/result.h"
#include "dataset/dataset.h"
#include "engine/data/batch.h"
#include "engine/data/run_data.h"
#include "plan/order.h"

#include <cstdint>
#include <memory>

namespace lathe::engine {

struct LoaderSettings {
    plan::OrderShape shape;              ///< samples is taken from the part
    plan::Sharing sharing;               ///< only this rank's micro-batches come
    bool foreseesWindows = true;         ///< false: what windows will hold, or who runs it, is not asked for ahead; all micro-batches come
    std::uint64_t seed = 0;
    bool shuffle = false;
    bool augmentFlip = false;
    std::int64_t augmentShift = 0;
    int threads = 0;                     ///< 0: samples are read in the caller
    std::int64_t batchesAhead = 4;       ///< prefetched at most, with threads
    bool oneEpoch = false;               ///< ends after the epoch it was sent to; otherwise goes on for ever
    at::ScalarType dtype = at::kFloat;   ///< of inputs and regression targets: kFloat | kDouble
    at::Device device = at::kCPU;
    /// Data that stay below this and are not augmented are read once, into one tensor on the device.
    std::int64_t memoryLimitBytes = std::int64_t{512} << 20;

    /// Training as the configuration says. Error where accumulation.rule is not known.
    static Result<LoaderSettings> training(const config::RunConfig& config, at::Device device, plan::Sharing sharing = {});
    /// The part in order, once, without augmentation, the short last batch kept.
    /// Ranks take turns, batch by batch.
    static LoaderSettings evaluation(const config::RunConfig& config, at::Device device, plan::Sharing sharing = {});
    /// Takes in how many samples the part has, and their weights. Config error where not one micro-batch is full.
    Result<void> fit(const DataPart& part);
};

at::ScalarType dtypeOf(const config::PrecisionSection& precision);  ///< fp32 -> kFloat, fp64 -> kDouble

class Loader {
public:
    /// Reads everything when it fits in memory (`progress` then counts samples; return false to end with Stopped).
    /// Requires: the part is not empty. Stands at epoch 0, entry 0.
    static Result<std::unique_ptr<Loader>> open(DataPart part, LoaderSettings settings, const LoadProgress& progress = {});
    virtual ~Loader() = default;

    /// Goes to the window that begins there (`attempt`: windows of the run before it, as plan::windowAt wants it), to this
    /// rank's first micro-batch of it; where windows are not foreseen, to that very micro-batch. Costs no reading of what was
    /// skipped. Requires: entry < shape().samplesPerEpoch().
    virtual void seek(Epoch epoch, PlanEntry entry, UpdateAttempt attempt = UpdateAttempt()) = 0;
    /// From the next seek() on micro-batches hold at most so many samples (plan::limited); 0: as the shape says.
    virtual void limitMicroBatch(std::int64_t most) = 0;
    /// The micro-batch that starts at the position, with at most batchSize samples, cut as plan::windowAt says.
    /// A batch stays as it is for as long as somebody holds a tensor of it; nobody may write into one.
    /// An error names the sample ("rose/12.jpg") and repeats until the next seek(). Requires: !atEnd().
    virtual Result<Batch> next() = 0;
    virtual bool atEnd() const = 0;           ///< only with oneEpoch

    /// Where this rank's next micro-batch begins, after the last one that next() returned: prefetched ones do not count.
    /// The entry is -1 where it has none in the coming epoch of windows; next() then needs a seek() before it.
    virtual Epoch epoch() const = 0;
    virtual PlanEntry planEntry() const = 0;
    virtual const plan::OrderShape& shape() const = 0;
    virtual bool foreseesWindows() const = 0;
    virtual bool inMemory() const = 0;
};

}  // namespace lathe::engine
