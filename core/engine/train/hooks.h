// Hooks watch training at named points and may ask for something; only the loop acts. Nothing here includes LibTorch: what
// looks into batches includes engine/data/batch.h itself.
//
// Order: hooks run in the order they were registered in, ours first, then those of plug-ins in the order of the
// configuration. What all of them wish is joined over all ranks before the loop does anything about it; then in this order:
// roll back, pause, evaluate, save, stop. A stop that a person asks for comes before a roll-back.
// Thread: all hooks run on the training thread.
#pragma once

#include "base/counters.h"
#include "engine/task/evaluation_record.h"
#include "rundir/memory_record.h"
#include "rundir/run_folder.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::engine {

struct Batch;
struct Distributions;

/// What the guard found in an update.
struct GuardFinding {
    std::string trigger;                          ///< not finite | loss spike | gradient explosion | worse evaluation
    std::string action;                           ///< skip | pause | roll_back | stop
    std::string reason;                           ///< as a part of a sentence: "the loss is 9.1, 12 deviations above …"
    std::map<std::string, double> values;         ///< what it was judged by
    std::vector<std::int64_t> samples;            ///< ids of the window on all ranks in order; of an evaluation: none
};

/// What one attempt at an update did.
struct UpdateResult {
    bool applied = false;
    std::string reason;          ///< why it was not applied: "the loss is nan"
    bool notFinite = false;      ///< because loss or gradient is not finite
    bool weightless = false;     ///< because no sample of the window has weight
    bool vetoed = false;         ///< because a hook asked for that
    bool shown = false;          ///< a hook asked for it to be put into the curves
    double loss = 0;             ///< as it is, over the whole window, undivided for nobody's sake
    double learningRate = 0;
    double gradNorm = 0;         ///< before clipping
    double weight = 0;           ///< Σ weights that the loss was divided by
    double scale = 1;            ///< of the loss in the backward pass (fp16)
    double seconds = 0;
    std::int64_t samples = 0, microBatches = 0;   ///< of the whole window, on all ranks
    std::shared_ptr<const Distributions> distributions;  ///< when it was due, on the first rank
    std::uint64_t windowDigest = 0;               ///< of the sample ids of the whole window in order
    std::optional<GuardFinding> finding;          ///< why the guard kept it from being applied
};

using Metrics = std::map<std::string, double>;

/// An evaluation that ended.
struct EvaluationOutcome {
    Metrics metrics;
    std::vector<EvaluationRecord> records;
    bool isBest = false;
    std::string rateCut;         ///< a sentence when the plateau schedule cut the learning rate
    double seconds = 0;
    std::int64_t samples = 0;
};

/// A save that ended: durable and published. `error` set: nothing was published and training goes on.
struct SaveOutcome {
    std::string folder;
    std::string reason;          ///< why it was made: interval | best | asked | stop | end
    Counters counters;           ///< of what was saved; training has gone on since
    std::uint64_t bytes = 0, linkedBytes = 0;
    double seconds = 0;          ///< until it was there
    double stallSeconds = 0;     ///< for which training stood still
    bool isBest = false;
    Metrics metrics;             ///< newest evaluation
    std::string error;
};

/// Going back to the newest checkpoint that is not after `notAfter`, at a lower learning rate.
struct RollBack {
    GlobalStep notAfter;
    std::string why;             ///< a sentence without its full stop
    rundir::State otherwise = rundir::State::Stopped;   ///< what the run ends as where it cannot go back
};

/// How a session ends.
struct Ending {
    rundir::State state = rundir::State::Completed;
    std::string why;
    bool save = true;            ///< leave a checkpoint
    bool lostContact = false;    ///< because another rank is gone
    std::optional<RollBack> rollBack = {};   ///< the run goes on in another session, from the checkpoint that this leads to
    std::shared_ptr<const rundir::MemoryRecord> memory = {};   ///< of memory that ran out: what is known of it
};

/// MicroStep and EvalBatch fire for every batch (EvalBatch also while the model writes a sample of its own), Update for every attempt (applied or skipped), the others once each.
/// AfterSave comes when the checkpoint is durable: some updates later, where training goes on meanwhile.
enum class Point { TrainStart, WindowStart, MicroStep, Update, EvalStart, EvalBatch, EvalEnd, BeforeSave, AfterSave, Exception, TrainEnd };
std::string_view name(Point point);

/// Where hooks put what should be seen beside the run's own curves and events. Only what the first rank says is taken.
class HookLog {
public:
    virtual ~HookLog() = default;
    /// One value of a series at an update; a second one at the same update is ignored, and so is a name under train/, eval/,
    /// precision/ or device/, where the trainer's own series stand.
    virtual void value(std::string_view series, double value) = 0;
    /// An event of the run: kind in lower_snake (one of the trainer's own becomes "note"), a sentence, and facts as a JSON
    /// object or nothing.
    virtual void event(std::string_view kind, std::string_view text, std::string_view json = {}) = 0;
};

/// What a hook may see; pointers are set at the points they belong to.
struct HookContext {
    Point point = Point::TrainStart;
    const Counters* counters = nullptr;
    HookLog* log = nullptr;                             ///< never null
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
    bool evaluate = false, save = false;
    bool log = false;                                   ///< the next update goes into the curves, whatever telemetry.log_every says
    std::optional<std::string> skip;                    ///< leave out the update that is being computed, or else the next one: "the batch is odd"
    bool pause = false;                                 ///< as long as a person wants it: steering alone sets this
    bool hold = false;                                  ///< pause until a person goes on: what other hooks ask for
    std::string holdWhy;                                ///< what that is for, as a sentence; may be empty
    std::optional<RollBack> rollBack;                   ///< of several the one furthest back
    std::optional<Ending> stop;                         ///< the first one counts
};

/// Small values of a hook that are kept with a checkpoint, by name.
using HookState = std::map<std::string, std::string>;

class Hook {
public:
    virtual ~Hook() = default;
    virtual std::string_view hookName() const = 0;
    /// A required hook that throws ends training; another one is reported and training goes on.
    virtual bool required() const { return false; }
    virtual void at(const HookContext& context, Wishes& wishes) = 0;
    /// What decides what it will ask for, where that depends on earlier updates: kept in checkpoints, and given back before
    /// training starts. A hook that a checkpoint does not know begins afresh.
    virtual HookState state() const { return {}; }
    /// Throws, with a sentence, for values it cannot use.
    virtual void setState(const HookState&) {}
    /// Blocks while the pause asked for (wishes.hold: by a hook) lasts. Called by the loop between updates and between the
    /// batches of an evaluation. Returns early for something
    /// else that was asked for meanwhile, with the pause asked for again.
    virtual void waitWhilePaused(Wishes&) {}
};

}  // namespace lathe::engine
