#include "config/metrics.h"

namespace lathe::config {

std::vector<Metric> metricsOf(std::string_view task) {
    if (task == "classification") return {{"accuracy", true}, {"loss", false}};
    return {{"loss", false}, {"mse", false}, {"mae", false}, {"r2", true}};
}

Result<Metric> bestMetric(const EvaluationSection& evaluation, const std::vector<Metric>& metrics) {
    std::string known = "auto", wanted = evaluation.bestMetric;
    if (wanted.starts_with("eval/")) wanted.erase(0, 5);
    for (Metric metric : metrics) {
        known += ", " + metric.name;
        if (wanted != "auto" && wanted != metric.name) continue;
        if (evaluation.bestDirection != "auto") metric.higherIsBetter = evaluation.bestDirection == "max";
        return metric;
    }
    return Error{ErrorCode::Config, "This task has no metric \"" + wanted.substr(0, 40) + "\"; choose one of " + known,
                 "evaluation.best_metric", {}};
}

Result<Metric> bestMetric(const RunConfig& config) { return bestMetric(config.evaluation, metricsOf(config.task.name)); }

}  // namespace lathe::config
