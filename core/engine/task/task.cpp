#include "engine/task/task_kinds.h"

namespace lathe::engine {

at::Tensor weightedSum(const at::Tensor& losses, const Batch& batch) {
    return batch.weight.defined() ? (losses * batch.weight).sum() : losses.sum();
}

double sumOfWeights(const Batch& batch) {
    return batch.weight.defined() ? batch.weight.sum(at::kDouble).item<double>() : static_cast<double>(batch.count());
}

std::map<std::string, double> chosenOf(const std::map<std::string, double>& values, const std::vector<config::Metric>& metrics) {
    std::map<std::string, double> chosen;
    for (const config::Metric& metric : metrics) chosen[metric.name] = values.at(metric.name);
    return chosen;
}

static Result<std::unique_ptr<Task>> classificationOf(const config::RunConfig& config, const dataset::Info& data) {
    const auto found = static_cast<std::int64_t>(data.classNames.size());
    const std::int64_t classes = config.task.numClasses.value_or(found);
    if (found == 0)
        return Error{ErrorCode::Config, "Classification needs classes, and the data have none; choose regression or another data.target", "task.name", {}};
    if (classes < found)
        return Error{ErrorCode::Config,
                     "task.num_classes is " + std::to_string(classes) + ", but the data hold " + std::to_string(found) + " classes; raise it or leave it empty",
                     "task.num_classes", {}};
    return makeClassification(config, data.classNames);
}

static Result<std::unique_ptr<Task>> regressionOf(const config::RunConfig& config, const dataset::Info& data) {
    const auto targets = static_cast<std::int64_t>(data.targetNames.size());
    if (targets == 0 || !data.classNames.empty())
        return Error{ErrorCode::Config, "Regression needs numeric targets, and the data have none; use a CSV file and name data.target", "task.name", {}};
    return makeRegression(config, targets);
}

static Result<std::unique_ptr<Task>> languageOf(const config::RunConfig& config, const dataset::Info& data) {
    if (data.context == 0) return Error{ErrorCode::Config, "Language is learned from a text file, and the data are none; choose one, or another task", "task.name", {}};
    return makeLanguage(config);
}

Kinds<TaskMaker>& taskKinds() {
    static Kinds<TaskMaker> kinds{{{"classification", classificationOf}, {"regression", regressionOf}, {"language", languageOf}}};
    return kinds;
}

Result<std::unique_ptr<Task>> makeTask(const config::RunConfig& config, const dataset::Info& data) {
    const TaskMaker* maker = taskKinds().find(config.task.name);
    if (maker) return (*maker)(config, data);
    return Error{ErrorCode::Config, "There is no task \"" + config.task.name + "\"; known are " + taskKinds().names(), "task.name", {}};
}

}  // namespace lathe::engine
