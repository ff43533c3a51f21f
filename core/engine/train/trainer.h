// The loop of one rank. The order of events in an update is told in words by plan/explain.h, and TrainerParts::trace tells it
// as it happens. Everything that decides numbers is a strategy, task or model; everything that only looks is a hook.
//
// All ranks run the same loop in step: what one rank alone knows (its clock, a signal, a hook's wish) is agreed on before
// anything is done about it. A rank that fails leaves the loop from where it is, without another word to the others; they
// notice.
//
// Counts: global_step = applied updates, update_attempts = applied + skipped. Interval events fire only after an applied
// update. A length in updates ends on applied updates, a length in epochs ends on data.
// Thread: run() uses the calling thread for everything.
#pragma once

#include "config/sections.h"
#include "engine/model/model.h"
#include "engine/parallel/parallel.h"
#include "engine/task/task.h"
#include "engine/train/active_time.h"
#include "engine/train/curve.h"
#include "engine/train/hooks.h"
#include "engine/train/micro_batch_limit.h"
#include "engine/train/optimizer.h"
#include "engine/train/precision.h"
#include "engine/train/progress.h"
#include "engine/train/saver.h"
#include "engine/train/trajectory_guard.h"
#include "engine/train/triggers.h"
#include "engine/train/weight_average.h"
#include "live/segment.h"
#include "plan/accumulation.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace lathe::engine {

/// Gives this rank's share of a window, wherever it lies; loading it twice gives the same.
class WindowSource {
public:
    virtual ~WindowSource() = default;
    /// `out` is replaced. The error names the sample.
    virtual Result<void> load(const plan::Window& window, const plan::Sharing::Share& share, std::vector<Batch>& out) = 0;
};

/// One pass over this rank's part of the evaluation data: ranks take turns, batch by batch.
class EvaluationSource {
public:
    virtual ~EvaluationSource() = default;
    virtual std::int64_t samples() const = 0;   ///< of all ranks
    virtual std::int64_t batches() const = 0;   ///< of all ranks
    virtual void rewind() = 0;
    virtual bool atEnd() const = 0;
    virtual Result<Batch> next() = 0;
};

/// What a run is made of; nothing is owned.
struct TrainerParts {
    Task* task = nullptr;
    Model* model = nullptr;
    FlatStorage* storage = nullptr;
    Optimizer* optimizer = nullptr;
    WeightAverage* average = nullptr;             ///< null: none is kept
    Parallel* parallel = nullptr;
    Precision* precision = nullptr;
    const plan::OrderShape* order = nullptr;      ///< with the accumulation, which learns what became of each window
    WindowSource* windows = nullptr;
    EvaluationSource* evaluationData = nullptr;   ///< null: nothing is held out
    Curve* curve = nullptr;
    BestValue* best = nullptr;
    Progress* progress = nullptr;
    RunningIntervals* intervals = nullptr;        ///< null: those in seconds begin with the session
    Saver* saver = nullptr;                       ///< null on all ranks: nothing is saved; that of the first rank is used
    ActiveTime* time = nullptr;
    std::vector<Hook*> hooks;                     ///< called in this order
    TrajectoryGuard* guard = nullptr;             ///< null: updates are left out only when they are not finite
    HookLog* log = nullptr;                       ///< null: nobody listens
    MicroBatchLimit* microBatchLimit = nullptr;   ///< null: micro-batches are always as planned
    std::function<void(live::Activity)> onActivity = {};  ///< what this rank turns to within an update
    /// Told each event of an update where it happens, by its name in plan/explain.h; null: nobody listens.
    std::function<void(std::string_view)> trace = nullptr;
};

struct TrainerSettings {
    std::uint64_t seed = 0;
    std::optional<std::int64_t> epochs, maxUpdates;
    std::optional<double> maxGradNorm, maxGradValue;
    bool evaluatesAverage = false;                ///< the mean of the weights in place of them, where there is one
    Interval normsEvery, histogramsEvery;         ///< what hooks see of gradients and weights at an update
    std::int64_t maxSkippedInARow = 50;
    Interval evaluateEvery, saveEvery;
    bool probes = true;                           ///< each save looks at the window that comes next, for the proof of a resume
    bool saveBest = false;                        ///< also after an evaluation that is the best so far
    bool saveAtStart = false;                     ///< of a fresh run, so that there is something to go back to
    std::int64_t rollBacksDone = 0, maxRollBacks = 0;   ///< by itself, in the run so far and at most
    bool halvesMicroBatches = false;              ///< where memory runs out the window begins again with smaller ones
};

class Trainer {
public:
    Trainer(TrainerParts parts, TrainerSettings settings);

    /// Trains until the target is reached or something ends it. Failures are endings too.
    Ending run();
    /// One evaluation, outside of training too. Nothing when it was given up for a stop.
    Result<std::optional<EvaluationOutcome>> evaluateOnce();

private:
    struct Due {
        bool evaluation = false, save = false;
        bool saved = false;                  ///< the save that was being written has ended
    };
    struct OutOfStep;
    void whileInStep(const std::function<void()>& part);
    void train();
    bool update();
    Result<UpdateResult> tryUpdate();
    bool beginAgain(const Error& error);
    void tellSmaller(std::int64_t before, const Error& error);
    void addEvaluated(MetricPool& pool, const Batch& batch);
    std::optional<at::Tensor> evaluated(const Batch& batch);
    void endOutOfMemory(const Error& error);
    Due dueNow(bool applied);
    void agreeOnWishes(Due& due);
    void adoptStop();
    void adoptRollBack();
    bool goesBack() const { return m_wishes.rollBack.has_value(); }
    void goBack();
    void watch(UpdateResult& result);
    void veto(UpdateResult& result);
    void act(const GuardFinding& finding);
    std::vector<std::int64_t> samplesOfWindow();
    Result<void> loadWindow();
    Result<UpdateResult> attempt(bool apply);
    Result<UpdateResult> compute(bool apply);
    void sumGradients(double scale, bool apply);
    void runMicroStep(std::size_t microBatch, double scale);
    void turnTo(live::Activity activity) {
        if (m_parts.onActivity) m_parts.onActivity(activity);
    }
    void weighWindow(UpdateResult& result);
    at::Tensor forward(Context& context, const at::Tensor& input);
    void forwardBackward(std::size_t microBatch, double scale);
    void keepLoss(const LossTerm& term);
    at::Tensor seedGradient(double factor, const at::Tensor& like);
    GradientNorm takeNumbers(UpdateResult& result);
    void lookInside(UpdateResult& result);
    void applyUpdate(const UpdateResult& result);
    void count(const UpdateResult& result);
    void settle(const UpdateResult& result);
    void checkTarget();
    void evaluateAndKeep(const std::string& reason);
    bool evaluate();
    bool discards();
    void demonstrate(EvaluationOutcome& outcome);
    struct Going {
        bool stops = false;                  ///< any rank wants a stop
        bool isBusy = false;                 ///< any rank has more to do before the next one
    };
    Going keepInStep(std::int64_t done, bool isBusy);
    void save(const std::string& reason);
    bool isSaver() const { return m_parts.parallel->rank() == 0; }
    bool saveHasEnded() const { return m_saving && isSaver() && m_parts.saver->ended(); }
    void settleSave();
    Result<void> shareOutcome(Result<SaveOutcome>& saved);
    void probeNextWindow();
    void noteIntervals();
    void obey();
    void holdWhilePaused();
    void conclude();
    void visit(HookContext context);
    void happens(std::string_view event) {
        if (m_parts.trace && !m_isLooking) m_parts.trace(event);
    }
    template <typename Call>
    void call(Hook& hook, std::string_view where, bool tells, Call&& what);
    void end(rundir::State state, std::string why, bool save = true);
    void endBy(const Error& error, bool save);
    bool hasFailed() const;
    rundir::MemoryRecord memoryRecord(const Error& error) const;

    TrainerParts m_parts;
    TrainerSettings m_settings;
    Progress& m_progress;
    Epoch m_weighedEpoch;                    ///< where the newest window with weight ended, or the session began
    Trigger m_evaluateEvery, m_saveEvery, m_normsEvery, m_histogramsEvery;
    Wishes m_wishes;
    bool m_agreed = false;                   ///< all ranks have the same wishes
    bool m_outOfStep = false;                ///< this rank failed: the others are elsewhere
    std::optional<Ending> m_ending;
    bool m_hasCheckpoint = false;            ///< there is one to go back to
    bool m_unsaved = false;                  ///< something happened since the newest checkpoint, or the one that is being written
    bool m_saving = false;                   ///< one is being written
    double m_stallSeconds = 0;               ///< that it has cost so far
    std::string m_saveProblem;   ///< of the newest try; empty: it went well
    bool m_applying = false;                 ///< parameters are being changed: not a state to save
    std::optional<std::size_t> m_microStep;  ///< the micro-batch of the window that is being computed
    std::optional<Error> m_shortage;         ///< this rank's memory ran out in the window
    std::optional<rundir::MemoryRecord> m_shortageRecord;  ///< what is known of that
    std::int64_t m_evaluatedAtOnce = 0;      ///< samples, where memory ran out with more in this session; 0: whole batches
    bool m_allFellShort = false;             ///< some rank's did, all know it, and nothing was applied

    plan::Window m_window;                   ///< the loaded one
    plan::Sharing::Share m_share;            ///< what this rank runs of it
    std::vector<Batch> m_batches;            ///< of this rank
    bool m_windowLoaded = false;
    Probe m_probe;
    std::optional<UpdateAttempt> m_probed;   ///< after which it was made
    bool m_isLooking = false;                ///< at the next window, of which nothing is applied
    std::vector<StatisticsUpdate> m_statistics;
    std::vector<double> m_totals;            ///< Σ weights of each term over the window
    std::vector<double> m_losses;            ///< coefficient · sum of each term of each of this rank's micro-batches
    std::vector<at::Tensor> m_deviceLosses;  ///< those that are on another device
    std::vector<std::size_t> m_devicePlaces; ///< where they belong in m_losses
    std::vector<double> m_weights;           ///< scratch of weighWindow()
    bool m_isVetoed = false;                 ///< a hook of any rank asked to leave the window out
    at::Tensor m_seed;
    double m_seedFactor = 0;
};

}  // namespace lathe::engine
