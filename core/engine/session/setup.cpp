#include "engine/session/setup.h"

#include "config/config.h"
#include "config/plugin_list.h"
#include "engine/train/guard.h"
#include "engine/train/worse_evaluation.h"

#include <algorithm>

namespace lathe::engine {

static RankPlace onDevice(RankPlace place, at::Device device) {
    place.cuda = device.is_cuda();
    return place;
}

Result<std::unique_ptr<Setup>> Setup::ofRun(const rundir::RunFolder& run) {
    LATHE_TRY_ASSIGN(const int session, rundir::readNewestSession(run));
    LATHE_TRY_ASSIGN(const config::RunConfig config, config::loadUsable((session > 0 ? run.sessionYaml(session) : run.configYaml()).string()));
    return build(config, [](live::Phase, std::int64_t, std::int64_t) { return true; });
}

Result<std::unique_ptr<Setup>> Setup::build(const config::RunConfig& chosen, const SetupProgress& report, const RankPlace& place) {
    auto setup = std::make_unique<Setup>();
    setup->config = chosen;
    LATHE_TRY(setup->prepare(place));
    LATHE_TRY(guarded("loading the data", [&] { return setup->openData(report, place); }));
    if (!report(live::Phase::BuildingModel, 0, 0)) return Error{ErrorCode::Stopped, "Stopped while building the model", {}, {}};
    LATHE_TRY(guarded("building the model", [&] { return setup->buildModel(place); }));
    return setup;
}

Result<std::unique_ptr<Setup>> Setup::outline(const config::RunConfig& chosen) {
    auto setup = std::make_unique<Setup>();
    setup->config = chosen;
    setup->m_isOutline = true;
    const RankPlace place{.rank = 0, .world = static_cast<int>(chosen.parallel.ranks)};
    LATHE_TRY(setup->prepare(place));
    LATHE_TRY(guarded("looking at the data", [&] { return setup->openData([](live::Phase, std::int64_t, std::int64_t) { return true; }, place); }));
    LATHE_TRY(guarded("describing the model", [&] { return setup->buildModel(place); }));
    return setup;
}

Result<void> Setup::prepare(const RankPlace& place) {
    applyDeterminism(config.parallel);
    keepFreedMemory();
    threads = applyThreads(config.parallel, place.world);
    LATHE_TRY_ASSIGN(device, chooseDevice(config.parallel, place.rank, place.world));
    LATHE_TRY_ASSIGN(plugins, loadPlugins(config.plugins, pluginFolder()));  // after the environment is set: they may start threads
    return {};
}

Result<void> Setup::openData(const SetupProgress& report, const RankPlace& place) {
    const LoadProgress loaded = [&](std::int64_t done, std::int64_t total) { return report(live::Phase::LoadingData, done, total); };
    if (!loaded(0, 0)) return Error{ErrorCode::Stopped, "Stopped while loading the data", {}, {}};
    LATHE_TRY_ASSIGN(data, openRunData(config, loaded, m_isOutline ? Reading::Survey : Reading::Whole));
    dataFingerprint = dataset::fingerprint(*data.train.dataset);
    if (const auto most = config.evaluation.maxBatches) {
        const auto samples = static_cast<std::size_t>(config.evaluation.batchSize.value_or(config.data.batchSize)) * static_cast<std::size_t>(*most);
        data.eval.ids.resize(std::min(data.eval.ids.size(), samples));
    }
    LATHE_TRY_ASSIGN(task, makeTask(config, data.train.dataset->info()));
    LATHE_TRY_ASSIGN(best, BestValue::make(config.evaluation, metricsOf(*task)));
    const plan::Sharing sharing{place.rank, place.world, config.parallel.reduction == "tree"};
    LATHE_TRY_ASSIGN(LoaderSettings training, LoaderSettings::training(config, device, sharing));
    LATHE_TRY(training.fit(data.train));
    order = training.shape;
    if (!m_isOutline) {
        LATHE_TRY_ASSIGN(trainLoader, Loader::open(data.train, std::move(training), loaded));
    }
    if (!m_isOutline && !data.eval.ids.empty()) {
        LATHE_TRY_ASSIGN(evalLoader, Loader::open(data.eval, LoaderSettings::evaluation(config, device, {place.rank, place.world, false}), loaded));
    }
    if (const std::int64_t batches = order.batchesPerEpoch(); batches < place.world)
        return Error{ErrorCode::Config, std::to_string(place.world) + " ranks share an epoch of " + std::to_string(batches) + " micro-batches: some would never have one. "
                     "Use fewer parallel.ranks, or a smaller data.batch_size", "parallel.ranks", {}};
    plannedUpdates = plan::plannedUpdates(order, config.run.epochs, config.run.maxUpdates);
    if (!plan::curveKinds().find(config.schedule.name))
        return Error{ErrorCode::Config, "There is no schedule \"" + config.schedule.name + "\"; there are " + plan::curveKinds().names(), "schedule.name", {}};
    LATHE_TRY_ASSIGN(curve, Curve::make(config, plannedUpdates, {best->metric(), best->higherIsBetter()}));
    return {};
}

Result<void> Setup::buildModel(const RankPlace& place) {
    const at::Device where = m_isOutline ? at::Device(at::kMeta) : device;
    LATHE_TRY_ASSIGN(precision, makePrecision(config.precision, device));
    if (!m_isOutline || place.world == 1) {
        LATHE_TRY_ASSIGN(parallel, makeParallel(config.parallel, onDevice(place, device)));
    } else {
        LATHE_TRY(checkParallel(config.parallel, place.world));
    }
    const auto seed = static_cast<std::uint64_t>(config.run.seed);
    LATHE_TRY_ASSIGN(model, makeModel(config.model, data.modelShape(task->outputs()), seed, precision->parameterType(), where));
    if (!config.model.weights.empty()) LATHE_TRY(loadWeights(*model, config.model.weights));
    LATHE_TRY_ASSIGN(table, ParamTable::make(*model, config.optimizer));
    storage = std::make_unique<FlatStorage>(*table);
    LATHE_TRY_ASSIGN(optimizer, Optimizer::make(config.optimizer, *storage, table->groups()));
    modelState = std::make_unique<ModelState>(*model, *table);
    state.add(*modelState);
    state.add(*optimizer);
    state.add(*curve);
    state.add(*best);
    state.add(progress);
    state.add(intervals);
    state.add(microBatchLimit);
    keptAccumulation = std::make_unique<KeptAccumulation>(*order.accumulation);
    state.add(*keptAccumulation);
    if (precision->hasState()) state.add(*precision);
    if (config.optimizer.ema) {
        average = std::make_unique<WeightAverage>(*storage, config.optimizer);
        state.add(*average);
    }
    guard = std::make_unique<TrajectoryGuard>(config.guard);
    state.add(*guard);
    if (config.guard.onWorse != "go_on") LATHE_TRY(addHook(std::make_unique<WorseEvaluation>(config.guard, *best), {}));
    for (LoadedPlugin& plugin : plugins)
        for (std::unique_ptr<Hook>& hook : plugin.hooks) LATHE_TRY(addHook(std::move(hook), plugin.name));
    return {};
}

Result<void> Setup::addHook(std::unique_ptr<Hook> hook, const std::string& plugin) {
    for (const auto& known : hooks)
        if (known->hookName() == hook->hookName())
            return Error{ErrorCode::Config, "The plug-in " + plugin + " brings a hook \"" + std::string(hook->hookName()) + "\", and there is one of that name already; use one of them",
                         "plugins." + plugin, {}};
    keptHooks.push_back(std::make_unique<KeptHook>(*hook));
    state.add(*keptHooks.back());
    hooks.push_back(std::move(hook));
    return {};
}

TrainerParts Setup::parts() {
    m_windows.emplace(*trainLoader);
    if (evalLoader) m_evaluation.emplace(*evalLoader);
    m_time.emplace(Clock::system());
    TrainerParts parts{.task = task.get(), .model = model.get(), .storage = storage.get(), .optimizer = optimizer.get(), .average = average.get(), .parallel = parallel.get(),
                       .precision = precision.get(), .order = &order, .windows = &*m_windows,
                       .evaluationData = m_evaluation ? &*m_evaluation : nullptr, .curve = &*curve, .best = &*best, .progress = &progress, .intervals = &intervals, .time = &*m_time,
                       .guard = guard.get(), .microBatchLimit = &microBatchLimit};
    for (const auto& hook : hooks) parts.hooks.push_back(hook.get());
    return parts;
}

static bool goesBackByItself(const config::GuardSection& section) {
    const auto actions = {section.onNotFinite, section.onLossSpike, section.onGradientExplosion, section.onWorse};
    return std::find(actions.begin(), actions.end(), "roll_back") != actions.end();
}

TrainerSettings Setup::settings() const {
    return {.seed = static_cast<std::uint64_t>(config.run.seed), .epochs = config.run.epochs, .maxUpdates = config.run.maxUpdates,
            .maxGradNorm = config.optimizer.maxGradNorm, .maxGradValue = config.optimizer.maxGradValue,
            .evaluatesAverage = config.optimizer.ema && config.evaluation.weights == "ema",
            .normsEvery = config.telemetry.normsEvery, .histogramsEvery = config.telemetry.histogramsEvery, .maxSkippedInARow = config.precision.maxSkippedInARow,
            .evaluateEvery = plan::evaluationInterval(config.evaluation.every, config.run.epochs, plannedUpdates), .saveEvery = config.checkpoint.every,
            .probes = config.parallel.determinism == "exact", .saveBest = config.checkpoint.keepBest > 0, .saveAtStart = goesBackByItself(config.guard), .maxRollBacks = config.guard.maxRollBacks,
            .halvesMicroBatches = config.guard.onOutOfMemory == "halve"};
}

Environment Setup::environment() const {
    Environment record = environmentRecord(config, device, threads, precision->name(), parallel ? parallel->layout() : std::string());
    for (const LoadedPlugin& plugin : plugins) record["plug-in " + plugin.name] = plugin.version + ", " + plugin.digest;
    return record;
}

}  // namespace lathe::engine
