// A run small enough to be computed by hand: output = input * p, loss = Σ weight * output, micro-batches from a list.
#pragma once

#include "engine/train/trainer.h"

#include <functional>
#include <limits>

namespace lathe::engine::test {

/// One parameter "p" that multiplies the input, and a buffer "seen" that counts micro-batches applied.
class ScaleBlock final : public Block {
public:
    ScaleBlock(const std::string& prefix, std::int64_t width, at::ScalarType dtype) : Block("scale", 0) {
        m_parameters.push_back({prefix + "p", at::ones({width}, dtype).requires_grad_(true)});
        m_buffers.push_back({prefix + "seen", at::zeros({1}, at::kDouble)});
    }
    at::Tensor forward(Context& context, const at::Tensor& input) override {
        if (context.training && context.statistics) context.statistics->push_back({this, 0, input.detach().sum(), {}});
        return input * m_parameters[0].tensor;
    }
    void applyStatistics(const StatisticsUpdate& update) override {
        m_buffers[0].tensor.add_(1);
        lastStatistic = update.mean.item<double>();
    }
    double lastStatistic = 0;
};

class ScaleModel final : public Model {
public:
    explicit ScaleModel(std::int64_t width = 1, at::ScalarType dtype = at::kFloat, const std::string& prefix = {}) {
        m_blocks.push_back(std::make_unique<ScaleBlock>(prefix, width, dtype));
    }
    at::Tensor p() { return m_blocks[0]->parameters()[0].tensor; }
    double seen() { return m_blocks[0]->buffers()[0].tensor.item<double>(); }
};

class MeanPool final : public MetricPool {
public:
    void add(const at::Tensor& output, const Batch& batch) override {
        m_sum += output.sum().item<double>();
        m_weight += batch.weight.defined() ? batch.weight.sum().item<double>() : static_cast<double>(batch.count());
    }
    at::Tensor statistics() const override { return at::tensor({m_sum, m_weight}, at::kDouble); }
    void merge(const at::Tensor& statistics) override {
        m_sum += statistics[0].item<double>();
        m_weight += statistics[1].item<double>();
    }
    std::map<std::string, double> values() const override { return {{"loss", m_sum / m_weight}}; }

private:
    double m_sum = 0, m_weight = 0;
};

/// Evaluations whose value is told beforehand, one after the other.
class ScriptedPool final : public MetricPool {
public:
    explicit ScriptedPool(double value) : m_value(value) {}
    void add(const at::Tensor&, const Batch&) override {}
    at::Tensor statistics() const override { return at::empty({0}, at::kDouble); }
    void merge(const at::Tensor&) override {}
    std::map<std::string, double> values() const override { return {{"loss", m_value}}; }

private:
    double m_value;
};

class ScaleTask : public Task {
public:
    std::int64_t outputs() const override { return 1; }
    std::vector<double> weightsOf(const Batch& batch) const override {
        return {batch.weight.defined() ? batch.weight.sum().item<double>() : static_cast<double>(batch.count())};
    }
    std::vector<LossTerm> loss(const at::Tensor& output, const Batch& batch) const override {
        const at::Tensor sum = (batch.weight.defined() ? output * batch.weight.unsqueeze(1) : output).sum();
        return {LossTerm{sum}};
    }
    std::unique_ptr<MetricPool> metrics() const override {
        if (script.empty()) return std::make_unique<MeanPool>();
        const double value = script[std::min(evaluations, script.size() - 1)];
        ++evaluations;
        return std::make_unique<ScriptedPool>(value);
    }
    std::vector<config::Metric> metricInfo() const override { return {{"loss", false}}; }

    std::vector<double> script;
    mutable std::size_t evaluations = 0;
};

/// `rows` are the inputs of one micro-batch, each of the model's width.
inline Batch batchOf(const std::vector<std::vector<double>>& rows, std::int64_t firstId = 0, at::ScalarType dtype = at::kFloat) {
    Batch batch;
    const auto width = static_cast<std::int64_t>(rows.front().size());
    batch.input = at::zeros({static_cast<std::int64_t>(rows.size()), width}, at::kDouble);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::int64_t j = 0; j < width; ++j) batch.input[static_cast<std::int64_t>(i)][j] = rows[i][static_cast<std::size_t>(j)];
        batch.ids.push_back(firstId + static_cast<std::int64_t>(i));
    }
    batch.input = batch.input.to(dtype);
    return batch;
}

class ListSource final : public WindowSource {
public:
    Result<void> load(const plan::Window& window, const plan::Sharing::Share& share, std::vector<Batch>& out) override {
        out.clear();
        for (std::size_t i = share.begin; i < share.end; ++i) out.push_back(batches.at(static_cast<std::size_t>(window.microBatches[i].begin)));
        ++windows;
        sizes.push_back(out.size());
        return {};
    }
    std::vector<Batch> batches;
    std::vector<std::size_t> sizes;
    int windows = 0;
};

class ListEvaluation final : public EvaluationSource {
public:
    std::int64_t samples() const override { return static_cast<std::int64_t>(list.size()); }
    std::int64_t batches() const override { return samples(); }
    void rewind() override { m_next = 0; }
    bool atEnd() const override { return m_next == list.size(); }
    Result<Batch> next() override {
        if (fail) return Error{ErrorCode::Data, "rose/12.jpg cannot be decoded", {}, {}};
        return list[m_next++];
    }
    std::vector<Batch> list;
    bool fail = false;

private:
    std::size_t m_next = 0;
};

/// Remembers what was asked to be saved.
class MemorySaver final : public Saver {
public:
    void begin(const SaveRequest& request) override {
        m_looks = 0;
        m_outcome.emplace(save(request));
    }
    bool ended() const override { return m_outcome && ++m_looks > endsAfter; }
    Result<SaveOutcome> finish() override { return *std::exchange(m_outcome, std::nullopt); }
    Result<SaveOutcome> save(const SaveRequest& request) {
        if (failures-- > 0) return Error{ErrorCode::NoSpace, "need 8 MB, have 2 MB", {}, {}};
        steps.push_back(request.progress.counters.globalStep.value());
        metrics.push_back(request.metrics);
        best.push_back(request.isBest);
        pending.push_back(request.progress.evaluationPending);
        reasons.push_back(request.reason);
        probes.push_back(request.probe);
        if (onSave) onSave();
        return SaveOutcome{.folder = "s001-" + std::to_string(steps.back()), .reason = request.reason, .counters = request.progress.counters, .isBest = request.isBest, .metrics = request.metrics};
    }
    std::vector<std::int64_t> steps;
    std::vector<Metrics> metrics;
    std::vector<bool> best, pending;
    std::vector<std::string> reasons;
    std::vector<Probe> probes;
    std::function<void()> onSave;
    int failures = 0;
    int endsAfter = 0;   ///< so many looks at whether it has; the loop looks after each update

private:
    mutable int m_looks = 0;
    std::optional<Result<SaveOutcome>> m_outcome;
};

struct Row {
    Counters counters;
    UpdateResult result;
};

class Recorder final : public Hook {
public:
    std::string_view hookName() const override { return "recorder"; }
    bool required() const override { return isRequired; }
    void at(const HookContext& context, Wishes& wishes) override {
        order += std::string(name(context.point)) + "; ";
        if (context.point == Point::Update) rows.push_back({*context.counters, *context.update});
        if (context.point == Point::MicroStep) stepsSeen.push_back(context.counters->globalStep.value());
        if (context.point == Point::EvalEnd) evaluations.emplace_back(context.counters->globalStep.value(), context.evaluation->metrics.at("loss"));
        if (context.point == Point::AfterSave && !context.save->error.empty()) saveErrors.push_back(context.save->error);
        if (context.point == Point::Exception) exceptions.emplace_back(context.text);
        if (act) act(context, wishes);
    }
    void waitWhilePaused(Wishes& wishes) override {
        ++pauses;
        if (whilePaused) whilePaused(wishes);
    }
    std::vector<Row> rows;
    std::vector<std::int64_t> stepsSeen;
    std::vector<std::pair<std::int64_t, double>> evaluations;
    std::vector<std::string> saveErrors, exceptions;
    std::string order;
    std::function<void(const HookContext&, Wishes&)> act;
    std::function<void(Wishes&)> whilePaused;
    bool isRequired = false;
    int pauses = 0;
};

/// Everything a Trainer needs, around a ScaleModel.
struct Fixture {
    explicit Fixture(std::int64_t width = 1, at::ScalarType dtype = at::kFloat, const config::OptimizerSection& optimizer = sgd(1.0))
        : model(width, dtype), table(model), storage(table), section(optimizer) {
        this->optimizer = Optimizer::make(section, storage).value();
        config::EvaluationSection evaluationSection;
        best = std::make_unique<BestValue>(BestValue::make(evaluationSection, task.metricInfo()).value());
        settings.epochs = 1;
    }
    static config::OptimizerSection sgd(double rate) {
        config::OptimizerSection section;
        section.name = "sgd";
        section.learningRate = rate;
        section.momentum = 0;
        section.weightDecay = 0;
        return section;
    }
    /// Trains over `windows.batches`, so many of them a window.
    Ending run(std::int64_t microBatches) { return run(plan::fixedWindows(microBatches)); }
    Ending run(std::shared_ptr<plan::Accumulation> accumulation) {
        shape.samples = static_cast<std::int64_t>(windows.batches.size());
        shape.batchSize = 1;
        shape.accumulation = std::move(accumulation);
        TrainerParts parts{.task = other ? other : &task, .model = &model, .storage = &storage, .optimizer = optimizer.get(), .average = average,
                           .parallel = group ? group : parallel.get(), .precision = precision.get(), .order = &shape, .windows = source ? source : &windows,
                           .evaluationData = evaluation.list.empty() ? nullptr : &evaluation, .curve = &curve, .best = best.get(), .progress = &progress, .intervals = &intervals,
                           .saver = saves ? &saver : nullptr, .time = clock ? clock : &time, .hooks = {&recorder}};
        parts.guard = guard.get();
        parts.trace = trace;
        for (Hook* hook : hooks) parts.hooks.push_back(hook);
        return Trainer(parts, settings).run();
    }
    double p(std::int64_t i = 0) { return model.p()[i].item<double>(); }

    ScaleModel model;
    ParamTable table;
    FlatStorage storage;
    config::OptimizerSection section;
    std::unique_ptr<Optimizer> optimizer;
    ScaleTask task;
    ListSource windows;
    ListEvaluation evaluation;
    std::unique_ptr<BestValue> best;
    Progress progress;
    RunningIntervals intervals;
    MemorySaver saver;
    bool saves = true;
    ActiveTime time{Clock::system()};
    Recorder recorder;
    std::unique_ptr<Parallel> parallel = makeSingleProcess();
    std::unique_ptr<Precision> precision = makePrecision({}).value();
    plan::OrderShape shape;
    Curve curve = Curve::constant(section.learningRate);
    TrainerSettings settings;
    WeightAverage* average = nullptr;
    std::unique_ptr<TrajectoryGuard> guard;
    std::vector<Hook*> hooks;   ///< after the recorder
    std::function<void(std::string_view)> trace;
    Parallel* group = nullptr;         ///< in place of the single process
    WindowSource* source = nullptr;    ///< in place of windows
    Task* other = nullptr;             ///< in place of task
    ActiveTime* clock = nullptr;       ///< in place of time
};

}  // namespace lathe::engine::test
