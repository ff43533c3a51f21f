// Hooks watch training at named points and may ask for something; only the loop acts. Nothing here includes LibTorch
// beyond what a Batch needs.
// Thread: all hooks run on the training thread.
#pragma once

#include "base/counters.h"
#include "rundir/run_folder.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::engine {

struct Batch;

/// What one attempt at an update did.
struct UpdateResult {
    bool applied = false;
    std::string reason;          ///< why it was not applied: "the loss is nan"
    bool notFinite = false;      ///< because loss or gradient is not finite
    double loss = 0;             ///< as it is, over the whole window, undivided for nobody's sake
    double learningRate = 0;
    double gradNorm = 0;         ///< before clipping
    double weight = 0;           ///< Σ weights that the loss was divided by
    double scale = 1;            ///< of the loss in the backward pass (fp16)
    double seconds = 0;
    std::int64_t samples = 0, microBatches = 0;   ///< of the whole window, on all ranks
    std::uint64_t windowDigest = 0;               ///< of the sample ids of the whole window in order
};

using Metrics = std::map<std::string, double>;

/// An evaluation that ended.
struct EvaluationOutcome {
    Metrics metrics;
    bool isBest = false;
    std::string rateCut;         ///< a sentence when the plateau schedule cut the learning rate
    double seconds = 0;
    std::int64_t samples = 0;
};

/// A save that ended. `error` set: nothing was published and training goes on.
struct SaveOutcome {
    std::string folder;
    std::string reason;          ///< why it was made: interval | best | asked | stop | end
    std::uint64_t bytes = 0, linkedBytes = 0;
    double seconds = 0;
    bool isBest = false;
    Metrics metrics;             ///< newest evaluation
    std::string error;
};

/// How a session ends.
struct Ending {
    rundir::State state = rundir::State::Completed;
    std::string why;
    bool save = true;            ///< leave a checkpoint
    bool lostContact = false;    ///< because another rank is gone
};

/// MicroStep and EvalBatch fire for every batch, Update for every attempt (applied or skipped), the others once each.
enum class Point { TrainStart, WindowStart, MicroStep, Update, EvalStart, EvalBatch, EvalEnd, BeforeSave, AfterSave, Exception, TrainEnd };
std::string_view name(Point point);

/// What a hook may see; pointers are set at the points they belong to.
struct HookContext {
    Point point = Point::TrainStart;
    const Counters* counters = nullptr;
    const UpdateResult* update = nullptr;               ///< Update
    const std::vector<Batch>* batches = nullptr;        ///< WindowStart, MicroStep, Update: those of this rank
    const EvaluationOutcome* evaluation = nullptr;      ///< EvalEnd
    const SaveOutcome* save = nullptr;                  ///< AfterSave
    const Ending* ending = nullptr;                     ///< TrainEnd
    std::string_view text;                              ///< Exception: what it said
    std::int64_t done = 0, total = 0;                   ///< EvalBatch: samples; MicroStep: micro-batches
};

/// Asked for by hooks, OR-ed over all of them and, before the loop acts, over all ranks: a hook may ask on one rank alone.
struct Wishes {
    bool evaluate = false, save = false, pause = false;
    std::optional<Ending> stop;                         ///< the first one counts
};

class Hook {
public:
    virtual ~Hook() = default;
    virtual std::string_view hookName() const = 0;
    /// A required hook that throws ends training; another one is reported and training goes on.
    virtual bool required() const { return false; }
    virtual void at(const HookContext& context, Wishes& wishes) = 0;
    /// Blocks while the pause asked for lasts. Called by the loop between updates and between the
    /// batches of an evaluation. Returns early for something
    /// else that was asked for meanwhile, with the pause asked for again.
    virtual void waitWhilePaused(Wishes&) {}
};

}  // namespace lathe::engine
