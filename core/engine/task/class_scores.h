// What is counted over classified samples. Definitions are scikit-learn's, with 0 where nothing divides.
// Everything is summed in the order of the samples, so that the same samples give the same bits however they were batched.
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lathe::engine {

/// Σ weights by actual class (row) and predicted class (column).
struct Confusion {
    explicit Confusion(std::int64_t classCount) : classes(classCount), cells(static_cast<std::size_t>(classCount * classCount), 0.0) {}
    double& at(std::int64_t actual, std::int64_t predicted) { return cells[static_cast<std::size_t>(actual * classes + predicted)]; }
    double at(std::int64_t actual, std::int64_t predicted) const { return cells[static_cast<std::size_t>(actual * classes + predicted)]; }

    std::int64_t classes;
    std::vector<double> cells;
};

struct PrecisionRecall {
    double precision = 0, recall = 0, f1 = 0;
};

PrecisionRecall ofClass(const Confusion& confusion, std::int64_t which);
/// Over all decisions together: with one class a sample all three are the accuracy.
PrecisionRecall microAverage(const Confusion& confusion);
/// Mean over the classes that occur, actual or predicted.
PrecisionRecall macroAverage(const Confusion& confusion);

/// Area under the ROC curve: the part of pairs (positive, negative) whose positive has the higher score, equal scores
/// counting half; pairs weigh the product of their weights. NaN without a positive or without a negative.
/// Requires: spans of one length.
double areaUnderCurve(std::span<const double> scores, const std::vector<bool>& isPositive, std::span<const double> weights);

}  // namespace lathe::engine
