// The tasks behind makeTask(). Internal to engine/task.
#pragma once

#include "engine/task/task.h"

namespace lathe::engine {

/// Cross entropy with label smoothing s: (1 - s) · -log p(target) + s · mean over classes of -log p.
/// Metrics, all weighted by the samples' weights: loss (the same, smoothing included), accuracy (of equal scores the first
/// class is the answer), top-3 and top-5, precision, recall and F1, AUC (of probabilities). Record: "confusion".
Result<std::unique_ptr<Task>> makeClassification(const config::RunConfig& config, std::vector<std::string> classNames);
/// Mean over targets of (y - ŷ)² | |y - ŷ| | Huber with δ = 1. Metrics: loss, mse, mae, r2 (mean over targets of
/// 1 - residual / total sum of squares; NaN while a target does not vary).
Result<std::unique_ptr<Task>> makeRegression(const config::RunConfig& config, std::int64_t targets);

/// Those of `values` that are among `metrics`.
std::map<std::string, double> chosenOf(const std::map<std::string, double>& values, const std::vector<config::Metric>& metrics);

/// Cross entropy of the next byte, over all bytes that have one. Metrics: loss in nats a byte, perplexity, bits_per_byte,
/// accuracy. Record: "samples", a text that the model writes.
Result<std::unique_ptr<Task>> makeLanguage(const config::RunConfig& config);

/// Σ weight · loss over the samples of [N] losses; Σ loss without weights.
at::Tensor weightedSum(const at::Tensor& losses, const Batch& batch);
/// Σ of a batch's weights.
double sumOfWeights(const Batch& batch);

}  // namespace lathe::engine
