// A run's parts, built from its configuration: data, task, model, optimizer, strategies and the registry of their state.
// Thread: one thread at a time.
#pragma once

#include "config/sections.h"
#include "engine/data/loader.h"
#include "engine/parallel/data_parallel.h"
#include "engine/plugin/plugins.h"
#include "engine/session/environment.h"
#include "engine/session/sources.h"
#include "engine/train/curve.h"
#include "engine/train/kept_accumulation.h"
#include "engine/train/kept_hook.h"
#include "engine/train/micro_batch_limit.h"
#include "engine/train/model_state.h"
#include "engine/train/trainer.h"
#include "live/segment.h"
#include "rundir/run_folder.h"

#include <functional>
#include <memory>

namespace lathe::engine {

/// What is being built, for people who wait; false ends it with ErrorCode::Stopped.
using SetupProgress = std::function<bool(live::Phase phase, std::int64_t done, std::int64_t total)>;

struct Setup {
    config::RunConfig config;
    at::Device device = at::kCPU;
    int threads = 1;
    std::vector<LoadedPlugin> plugins;
    RunData data;
    std::string dataFingerprint;
    std::unique_ptr<Task> task;
    std::unique_ptr<Precision> precision;
    plan::OrderShape order;                            ///< of training
    std::unique_ptr<Loader> trainLoader, evalLoader;   ///< evalLoader null: nothing is held out; both null in an outline
    std::unique_ptr<Model> model;
    std::unique_ptr<ParamTable> table;
    std::unique_ptr<FlatStorage> storage;
    std::unique_ptr<Parallel> parallel;                ///< knows the storage; null in an outline of several ranks
    std::unique_ptr<Optimizer> optimizer;
    std::unique_ptr<WeightAverage> average;            ///< null: none is kept
    std::unique_ptr<ModelState> modelState;
    std::optional<Curve> curve;
    std::optional<BestValue> best;
    Progress progress;
    RunningIntervals intervals;
    MicroBatchLimit microBatchLimit;
    std::unique_ptr<TrajectoryGuard> guard;
    std::unique_ptr<KeptAccumulation> keptAccumulation;
    std::vector<std::unique_ptr<Hook>> hooks;          ///< those that the configuration asks for, in their order
    std::vector<std::unique_ptr<KeptHook>> keptHooks;
    TrainState state;
    std::optional<GlobalStep> plannedUpdates;

    /// Config, Data and Unsupported errors name their key. Nothing is loaded into the model but model.weights.
    static Result<std::unique_ptr<Setup>> build(const config::RunConfig& chosen, const SetupProgress& report, const RankPlace& place = {});
    /// To know beforehand what build() would say, as the first of its ranks: tensors have names, shapes and types, and no
    /// numbers; data are surveyed (Reading::Survey), and no other rank is met.
    static Result<std::unique_ptr<Setup>> outline(const config::RunConfig& chosen);
    /// From the configuration of a run's newest session.
    static Result<std::unique_ptr<Setup>> ofRun(const rundir::RunFolder& run);
    Environment environment() const;
    /// Everything a Trainer needs, but for who saves, listens and watches beside the configuration's own hooks. It stays
    /// valid until the next call; the time of training begins with it.
    TrainerParts parts();
    TrainerSettings settings() const;

private:
    Result<void> prepare(const RankPlace& place);
    Result<void> openData(const SetupProgress& report, const RankPlace& place);
    Result<void> buildModel(const RankPlace& place);
    Result<void> addHook(std::unique_ptr<Hook> hook, const std::string& plugin);

    bool m_isOutline = false;
    std::optional<LoaderWindows> m_windows;
    std::optional<LoaderEvaluation> m_evaluation;
    std::optional<ActiveTime> m_time;
};

}  // namespace lathe::engine
