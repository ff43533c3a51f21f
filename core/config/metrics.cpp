#include "config/metrics.h"

#include "config/plugin_list.h"

#include <algorithm>
#include <set>

namespace lathe::config {
namespace {

std::string withoutPrefix(std::string name) {
    if (name.starts_with("eval/")) name.erase(0, 5);
    return name;
}

Error unknown(const std::string& name, const std::vector<Metric>& metrics, const std::string& first, const char* key) {
    std::string known = first;
    for (const Metric& metric : metrics) known += (known.empty() ? "" : ", ") + metric.name;
    return {ErrorCode::Config, "This task has no metric \"" + name.substr(0, 40) + "\"; choose " + (first.empty() ? "among " : "one of ") + known, key, {}};
}

}  // namespace

std::vector<Metric> metricsOf(std::string_view task) {
    if (task == "classification")
        return {{"accuracy", true},
                {"loss", false},
                {"top3_accuracy", true, false},
                {"top5_accuracy", true, false},
                {"precision", true, false},
                {"recall", true, false},
                {"f1", true, false},
                {"precision_micro", true, false},
                {"recall_micro", true, false},
                {"f1_micro", true, false},
                {"precision_macro", true, false},
                {"recall_macro", true, false},
                {"f1_macro", true, false},
                {"auc", true, false}};
    if (task == "language") return {{"loss", false}, {"perplexity", false}, {"bits_per_byte", false}, {"accuracy", true}};
    if (!pluginOf(task).empty()) return {{"loss", false}};  // what else it has is known where it is loaded
    return {{"loss", false}, {"mse", false}, {"mae", false}, {"r2", true}};
}

Result<std::vector<Metric>> chosenMetrics(const RunConfig& config) {
    std::vector<Metric> all = metricsOf(config.task.name);
    LATHE_TRY_ASSIGN(const Metric best, bestMetric(config));
    std::set<std::string> wanted;
    for (const std::string& written : config.evaluation.metrics) {
        const std::string name = withoutPrefix(written);
        if (std::none_of(all.begin(), all.end(), [&](const Metric& metric) { return metric.name == name; }))
            return unknown(name, all, {}, "evaluation.metrics");
        wanted.insert(name);
    }
    std::erase_if(all, [&](const Metric& metric) {
        const bool isWanted = wanted.empty() ? metric.isUsual : wanted.contains(metric.name);
        return !isWanted && metric.name != "loss" && metric.name != best.name;
    });
    return all;
}

Result<Metric> bestMetric(const EvaluationSection& evaluation, const std::vector<Metric>& metrics) {
    const std::string wanted = withoutPrefix(evaluation.bestMetric);
    for (Metric metric : metrics) {
        if (wanted != "auto" && wanted != metric.name) continue;
        if (evaluation.bestDirection != "auto") metric.higherIsBetter = evaluation.bestDirection == "max";
        return metric;
    }
    return unknown(wanted, metrics, "auto", "evaluation.best_metric");
}

/// What a plug-in measures is known only where it is loaded; elsewhere its name and direction are taken as they are said.
Result<Metric> bestMetric(const RunConfig& config) {
    std::vector<Metric> metrics = metricsOf(config.task.name);
    const EvaluationSection& evaluation = config.evaluation;
    const bool isForeign = !pluginOf(evaluation.bestMetric).empty() || (!pluginOf(config.task.name).empty() && evaluation.bestMetric != "auto");
    if (isForeign && evaluation.bestDirection == "auto")
        return Error{ErrorCode::Config, "Whether more or less of \"" + evaluation.bestMetric.substr(0, 40) + "\" is better is not known here: set evaluation.best_direction to min or max",
                     "evaluation.best_direction", {}};
    if (isForeign) metrics.push_back({evaluation.bestMetric, evaluation.bestDirection == "max"});
    return bestMetric(evaluation, metrics);
}

}  // namespace lathe::config
