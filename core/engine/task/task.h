// A task says what is learned: which loss terms a forward pass gives and which metrics an evaluation pools.
// A new metric: (1) name and direction in config::metricsOf (config/metrics.cpp), the one list that validation, the form,
// "best" and retention ask; its first entry of a task is the default of evaluation.best_metric. (2) Its value in values() of
// the task's pool, from what add() collects and merge() joins: what several ranks or batches pool must be what one
// would. values() names exactly those that config::chosenMetrics chooses (tst_task compares them with the whole list), and
// each becomes the series eval/<name>.
// (3) A case in tst_task against a closed form or PyTorch. Nothing else names metrics.
// Thread: one thread at a time.
#pragma once

#include "base/counters.h"
#include "base/kinds.h"
#include "base/result.h"
#include "config/metrics.h"
#include "config/sections.h"
#include "dataset/dataset.h"
#include "engine/data/batch.h"
#include "engine/model/model.h"
#include "engine/task/evaluation_record.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace lathe::engine {

/// A part of the loss: the update minimises Σ coefficient · Σ sum / Σ weight over the whole window.
struct LossTerm {
    at::Tensor sum;       ///< scalar with gradient: Σ over samples of weight · loss
    double coefficient = 1;
};

/// Evaluation statistics pooled over batches (sums, never means of means). Adding a batch is the same, bit for bit, as
/// merging the statistics of a pool that holds that batch alone: so that several ranks pool what one process would.
class MetricPool {
public:
    virtual ~MetricPool() = default;
    virtual void add(const at::Tensor& output, const Batch& batch) = 0;
    /// Everything pooled so far, as one-dimensional double values; of zero length when nothing was added.
    virtual at::Tensor statistics() const = 0;
    /// Takes in what another pool of the same task gave as statistics().
    virtual void merge(const at::Tensor& statistics) = 0;
    /// "loss", "accuracy" … -> value. NaN where nothing was added.
    virtual std::map<std::string, double> values() const = 0;
    virtual std::vector<EvaluationRecord> records() const { return {}; }
};

/// Output of the model, as it is evaluated, for one input.
using Forward = std::function<at::Tensor(const at::Tensor& input)>;
/// Where a demonstration stands: what it makes is a function of this and the weights.
struct Demonstration {
    std::uint64_t seed = 0;
    GlobalStep step;
    at::Device device = at::kCPU;
    /// Asked before each forward pass; false: a stop was asked for, and nothing more is to be made. Blocks while paused.
    std::function<bool()> goesOn = [] { return true; };
};

class Task {
public:
    virtual ~Task() = default;
    virtual std::int64_t outputs() const = 0;                                        ///< width of the model's last layer
    /// Σ weights of each term of the loss, without a forward pass: at least one, and always as many.
    virtual std::vector<double> weightsOf(const Batch& batch) const = 0;
    /// The terms, in the same order.
    virtual std::vector<LossTerm> loss(const at::Tensor& output, const Batch& batch) const = 0;
    virtual bool weighsTokens() const { return false; }   ///< the first term's weights count tokens
    virtual std::unique_ptr<MetricPool> metrics() const = 0;
    /// What the model makes of its own, to be shown beside an evaluation. Asked on the first rank only; the others wait as
    /// long as it asks goesOn() now and then.
    virtual std::vector<EvaluationRecord> demonstrate(const Forward&, const Demonstration&) const { return {}; }
    virtual std::vector<config::Metric> metricInfo() const = 0;                       ///< first: the default for "best"
};

using TaskMaker = std::function<Result<std::unique_ptr<Task>>(const config::RunConfig& config, const dataset::Info& data)>;
/// All tasks by name. A built-in one is a line in task.cpp.
Kinds<TaskMaker>& taskKinds();

/// A metric that is measured beside those of the task.
struct ExtraMetric {
    bool higherIsBetter = false;
    std::function<std::unique_ptr<MetricPool>()> make;   ///< values() of the pool: any one value
};
Kinds<ExtraMetric>& extraMetrics();
/// A pool of the task with the extra metrics under their names.
std::unique_ptr<MetricPool> poolOf(const Task& task);
/// The task's metrics and the extra ones.
std::vector<config::Metric> metricsOf(const Task& task);

/// From the sections task and evaluation; Config errors name their keys.
Result<std::unique_ptr<Task>> makeTask(const config::RunConfig& config, const dataset::Info& data);

}  // namespace lathe::engine
