// The tasks behind makeTask(). Internal to engine/task.
#pragma once

#include "engine/task/task.h"

namespace lathe::engine {

/// Cross entropy with label smoothing s: (1 - s) · -log p(target) + s · mean over classes of -log p.
/// Metrics: loss (the same, smoothing included) and accuracy; both weighted by the samples' weights.
std::unique_ptr<Task> makeClassification(const config::TaskSection& section, std::int64_t classes);
/// Mean over targets of (y - ŷ)² | |y - ŷ| | Huber with δ = 1. Metrics: loss, mse, mae, r2 (mean over targets of
/// 1 - residual / total sum of squares; NaN while a target does not vary).
std::unique_ptr<Task> makeRegression(const config::TaskSection& section, std::int64_t targets);

/// Σ weight · loss over the samples of [N] losses; Σ loss without weights.
at::Tensor weightedSum(const at::Tensor& losses, const Batch& batch);
/// Σ of a batch's weights.
double sumOfWeights(const Batch& batch);

}  // namespace lathe::engine
