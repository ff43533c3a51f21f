// The metrics that tasks evaluate, and which of them says what is best: one list for validation, engine and retention.
// How to add one: engine/task/task.h.
// Thread: functions without shared state.
#pragma once

#include "base/result.h"
#include "config/sections.h"

#include <string>
#include <string_view>
#include <vector>

namespace lathe::config {

struct Metric {
    std::string name;            ///< "accuracy"; recorded as the series "eval/accuracy"
    bool higherIsBetter = false;
    bool isUsual = true;         ///< evaluated where evaluation.metrics names none
};

/// All that the task of this name can give; `auto` as the best one means the first.
std::vector<Metric> metricsOf(std::string_view task);

/// Those that are evaluated, in the order of metricsOf(): what evaluation.metrics names (the usual ones where it is
/// empty), the loss, and the one that says what is best. A Config error with the list when a name is not on it.
Result<std::vector<Metric>> chosenMetrics(const RunConfig& config);

/// What evaluation.best_metric and best_direction choose among `metrics`; a Config error that lists them otherwise.
Result<Metric> bestMetric(const EvaluationSection& evaluation, const std::vector<Metric>& metrics);
Result<Metric> bestMetric(const RunConfig& config);

}  // namespace lathe::config
