#include "config/config.h"
#include "engine/session/inspect.h"

#include "base/number_text.h"
#include "config/plugin_list.h"
#include "engine/checkpoint/checkpoint_reader.h"
#include "engine/session/resume.h"
#include "engine/session/setup.h"
#include "engine/session/telemetry.h"
#include "engine/train/guard.h"
#include "plan/accumulation.h"
#include "plan/explain.h"

#include <nlohmann/json.hpp>
#include <torch/headeronly/version.h>

namespace lathe::engine {
namespace {

using nlohmann::json;

/// What a session that goes on from there would tell; its refusals are errors.
Result<json> describeResume(Setup& setup, const DescribedStart& start) {
    if (start.weightsOnly) {
        LATHE_TRY(fitCheckpointWeights(start.checkpoint, setup.modelState->stateTensors()));
        return json();
    }
    LATHE_TRY_ASSIGN(const LoadedCheckpoint checkpoint, fitCheckpoint(start.checkpoint, setup.state));
    Environment now = setup.environment();
    if (!setup.parallel) {   // no rank was met: the layout follows from these settings
        const config::Loaded saved = config::parse(checkpoint.record.configYaml, "/");
        const config::ParallelSection &a = saved.config.parallel, &b = setup.config.parallel;
        const auto layout = checkpoint.record.environment.find("layout");
        const bool isSame = a.ranks == b.ranks && a.strategy == b.strategy && a.reduction == b.reduction && layout != checkpoint.record.environment.end();
        now["layout"] = isSame ? layout->second : b.strategy + ", " + b.reduction + ", " + std::to_string(b.ranks) + " ranks";
    }
    LATHE_TRY_ASSIGN(const Reconciliation told, reconcile(setup, checkpoint.record, now, start.checkpoint.filename().string(), start.newCurve));
    return json({{"curve", told.curve}, {"warnings", told.others}, {"not_comparable", told.reasons}});
}

Result<json> describe(const config::RunConfig& config, const DescribedStart& start) {
    LATHE_TRY_ASSIGN(const std::unique_ptr<Setup> setup, Setup::outline(config));
    std::int64_t trainable = 0;
    std::uint64_t bytes = 0, trained = 0;
    json tensors = json::array();
    for (const ParamRow& row : setup->table->rows()) {
        trainable += row.trainable ? row.numel() : 0;
        const std::uint64_t rowBytes = static_cast<std::uint64_t>(row.numel()) * c10::elementSize(row.dtype);
        bytes += rowBytes;
        trained += row.trainable ? rowBytes : 0;
        tensors.push_back({{"name", row.name}, {"shape", row.shape}, {"block", row.block}});
    }
    json answer = {{"precision", setup->precision->name()}, {"precision_why", setup->precision->why()}, {"parameters", setup->table->totalElements()}, {"trainable", trainable},
                   {"bytes", {{"weights", bytes}, {"training", bytes + trained * (1 + (config.optimizer.ema ? 1 : 0) + Optimizer::stateTensorsPerParameter(config.optimizer))}, {"trained", trained}}},
                   {"updates_per_epoch", setup->order.updatesPerEpoch().value_or(0)}, {"planned_updates", nullptr}, {"train_samples", setup->order.samples},
                   {"eval_samples", setup->data.eval.ids.size()}, {"tensors", tensors}, {"groups", groupsJson(setup->table->groups())}};
    if (setup->plannedUpdates) answer["planned_updates"] = setup->plannedUpdates->value();
    if (!start.checkpoint.empty()) {
        LATHE_TRY_ASSIGN(answer["resume"], describeResume(*setup, start));
    }
    return answer;
}

Result<std::string> evaluate(const rundir::RunFolder& run, const std::string& checkpoint) {
    LATHE_TRY_ASSIGN(const std::unique_ptr<Setup> setup, Setup::ofRun(run));
    if (!setup->evalLoader)
        return Error{ErrorCode::Config, "Nothing is held out for evaluation; set data.eval or data.eval_fraction", "data.eval_fraction", {}};
    std::vector<StateTensor> weights = setup->modelState->stateTensors();
    const bool isMean = setup->average && setup->config.evaluation.weights == "ema";
    if (isMean)
        for (StateTensor& mean : setup->average->stateTensors()) weights.push_back(std::move(mean));
    LATHE_TRY_ASSIGN(const LoadedCheckpoint loaded, loadCheckpointWeights(run.checkpoints() / checkpoint, weights));
    LoaderEvaluation evaluation(*setup->evalLoader);
    ActiveTime time(Clock::system());
    TrainerParts parts{.task = setup->task.get(), .model = setup->model.get(), .storage = setup->storage.get(), .optimizer = setup->optimizer.get(), .average = setup->average.get(),
                       .parallel = setup->parallel.get(), .precision = setup->precision.get(), .evaluationData = &evaluation, .best = &*setup->best,
                       .progress = &setup->progress, .time = &time};
    setup->progress.counters = loaded.manifest.counters;   // what a model writes depends on the update
    const TrainerSettings settings{.seed = static_cast<std::uint64_t>(setup->config.run.seed), .evaluatesAverage = isMean};
    LATHE_TRY_ASSIGN(const std::optional<EvaluationOutcome> outcome, Trainer(parts, settings).evaluateOnce());
    json records = json::array();
    for (const EvaluationRecord& record : outcome->records)
        records.push_back({{"name", record.name}, {"content", record.kind == EvaluationRecord::Kind::Table ? json::parse(record.content) : json(record.content)}});
    return json({{"records", records}, {"run", run.name()}, {"checkpoint", checkpoint}, {"step", loaded.manifest.counters.globalStep.value()},
                 {"metrics", metricTexts(outcome->metrics)}, {"samples", outcome->samples}, {"seconds", outcome->seconds}}).dump();
}

/// What a plug-in should bring.
template <typename Maker>
Result<void> isThere(const Kinds<Maker>& kinds, const std::string& thing, const char* key) {
    if (config::pluginOf(thing).empty() || kinds.find(thing)) return {};
    return Error{ErrorCode::Config, "There is no \"" + thing + "\"; there are " + kinds.names(), key, {}};
}

/// One step of the real optimizer on a line through two points, checked by hand.
Result<void> checkStep() {
    config::ModelSection section;
    section.name = "linear";
    LATHE_TRY_ASSIGN(const std::unique_ptr<Model> model, makeModel(section, {.features = 2, .outputs = 1}, 1, at::kDouble, at::kCPU));
    const ParamTable table(*model);
    FlatStorage storage(table);
    config::OptimizerSection sgd;
    sgd.name = "sgd";
    sgd.momentum = sgd.weightDecay = 0;
    LATHE_TRY_ASSIGN(const std::unique_ptr<Optimizer> optimizer, Optimizer::make(sgd, storage));
    const at::Tensor weight = model->parameters().front().tensor, before = weight.detach().clone();
    Context context;
    model->forward(context, at::ones({1, 2}, at::kDouble)).sum().backward();
    optimizer->step(0.5);
    if (!at::allclose(weight, before - 0.5)) return Error{ErrorCode::Internal, "A gradient step gave a wrong weight", {}, {}};
    return {};
}

Result<void> checkProduct() {
    const at::Tensor a = at::arange(600, at::kDouble).view({20, 30}), b = at::ones({30, 2}, at::kDouble);
    if (at::mm(a, b)[19][1].item<double>() != 17535.0) return Error{ErrorCode::Internal, "A matrix product is wrong", {}, {}};
    return {};
}

}  // namespace

Result<std::string> describeConfig(const std::string& fileOrPreset, const DescribedStart& start) {
    LATHE_TRY_ASSIGN(const config::RunConfig config, config::loadUsable(fileOrPreset));
    const auto answer = guarded("describing the session", [&] { return describe(config, start); });
    if (answer.ok()) return answer->dump();
    return json({{"refused", {{"key", answer.error().key}, {"sentence", answer.error().text()}}}}).dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<std::string> explainConfig(const std::string& fileOrPreset) {
    LATHE_TRY_ASSIGN(const config::RunConfig config, config::loadUsable(fileOrPreset));
    return guarded("explaining an update", [&]() -> Result<std::string> {
        LATHE_TRY_ASSIGN(const std::vector<LoadedPlugin> plugins, loadPlugins(config.plugins, pluginFolder()));
        LATHE_TRY(plan::makeAccumulation(config.accumulation));
        LATHE_TRY(isThere(parallelKinds(), config.parallel.strategy, "parallel.strategy"));
        LATHE_TRY(isThere(precisionKinds(), config.precision.mode, "precision.mode"));
        LATHE_TRY(isThere(plan::curveKinds(), config.schedule.name, "schedule.name"));
        json update = json::array();
        for (const plan::UpdateEvent& event : plan::explainUpdate(config)) update.push_back({{"event", event.name}, {"detail", event.detail}});
        return json({{"update", update}}).dump();
    });
}

Result<std::string> curveOfConfig(const std::string& fileOrPreset, const std::vector<std::int64_t>& steps) {
    LATHE_TRY_ASSIGN(const config::RunConfig config, config::loadUsable(fileOrPreset));
    return guarded("computing the learning rate", [&]() -> Result<std::string> {
        LATHE_TRY_ASSIGN(const std::vector<LoadedPlugin> plugins, loadPlugins(config.plugins, pluginFolder()));
        LATHE_TRY(isThere(plan::curveKinds(), config.schedule.name, "schedule.name"));
        json factors = json::array();
        for (const std::int64_t step : steps) factors.push_back(plan::factorAt(config.schedule, GlobalStep(step)));
        return json({{"factors", factors}}).dump();
    });
}

Result<std::string> evaluateCheckpoint(const std::filesystem::path& run, const std::string& checkpoint) {
    return guarded("evaluating a checkpoint", [&] { return evaluate(rundir::RunFolder(run), checkpoint); });
}

const char* torchVersion() { return TORCH_VERSION; }

std::string selftest() {
    json checks = json::array();
    bool ok = true;
    const auto check = [&](const std::string& what, const Result<void>& result) {
        ok = ok && result.ok();
        checks.push_back({{"name", what}, {"ok", result.ok()}, {"detail", result.ok() ? "" : result.error().text()}});
    };
    check("matrix product", guarded("multiplying matrices", [] { return checkProduct(); }));
    check("gradient step", guarded("stepping", [] { return checkStep(); }));
    return json({{"libtorch", TORCH_VERSION}, {"ok", ok}, {"checks", checks}}).dump();
}

}  // namespace lathe::engine
