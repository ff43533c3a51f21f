#include "engine/task/class_scores.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace lathe::engine {
namespace {

struct Counts {
    double right = 0, predicted = 0, actual = 0;
};

double part(double of, double whole) { return whole > 0 ? of / whole : 0; }

PrecisionRecall scoresOf(const Counts& counts) {
    return {part(counts.right, counts.predicted), part(counts.right, counts.actual), part(2 * counts.right, counts.predicted + counts.actual)};
}

Counts countsOf(const Confusion& confusion, std::int64_t which) {
    Counts counts{confusion.at(which, which), 0, 0};
    for (std::int64_t other = 0; other < confusion.classes; ++other) {
        counts.predicted += confusion.at(other, which);
        counts.actual += confusion.at(which, other);
    }
    return counts;
}

}  // namespace

PrecisionRecall ofClass(const Confusion& confusion, std::int64_t which) { return scoresOf(countsOf(confusion, which)); }

PrecisionRecall microAverage(const Confusion& confusion) {
    Counts all;
    for (std::int64_t i = 0; i < confusion.classes; ++i) {
        const Counts counts = countsOf(confusion, i);
        all.right += counts.right;
        all.predicted += counts.predicted;
        all.actual += counts.actual;
    }
    return scoresOf(all);
}

PrecisionRecall macroAverage(const Confusion& confusion) {
    PrecisionRecall sum;
    double met = 0;
    for (std::int64_t i = 0; i < confusion.classes; ++i) {
        const Counts counts = countsOf(confusion, i);
        if (counts.predicted == 0 && counts.actual == 0) continue;
        const PrecisionRecall scores = scoresOf(counts);
        sum.precision += scores.precision;
        sum.recall += scores.recall;
        sum.f1 += scores.f1;
        ++met;
    }
    return {part(sum.precision, met), part(sum.recall, met), part(sum.f1, met)};
}

double areaUnderCurve(std::span<const double> scores, const std::vector<bool>& isPositive, std::span<const double> weights) {
    std::vector<std::size_t> order(scores.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
    double below = 0, pairs = 0, positives = 0;   // weight of negatives with a lower score; Σ over positives of what they beat
    for (std::size_t first = 0; first < order.size();) {
        double tiedPositive = 0, tiedNegative = 0;
        std::size_t last = first;
        for (; last < order.size() && scores[order[last]] == scores[order[first]]; ++last)
            (isPositive[order[last]] ? tiedPositive : tiedNegative) += weights[order[last]];
        if (last == first) return std::numeric_limits<double>::quiet_NaN();  // a score that is no number
        pairs += tiedPositive * (below + tiedNegative / 2);
        below += tiedNegative;
        positives += tiedPositive;
        first = last;
    }
    return positives > 0 && below > 0 ? pairs / (positives * below) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace lathe::engine
