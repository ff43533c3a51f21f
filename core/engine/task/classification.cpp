#include "engine/task/class_scores.h"
#include "engine/task/task_kinds.h"

#include <ATen/core/Reduction.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace lathe::engine {
namespace {

using nlohmann::json;

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kMostInMatrix = 64;      ///< classes; of more the most frequent confusions are told
constexpr std::size_t kMostConfusions = 100;
constexpr std::int64_t kMostClassesForAuc = 100;  ///< a score a sample and class is kept for it

at::Tensor lossSum(const at::Tensor& output, const Batch& batch, double smoothing) {
    const auto reduction = batch.weight.defined() ? at::Reduction::None : at::Reduction::Sum;
    const at::Tensor loss = at::cross_entropy_loss(output, batch.target, {}, reduction, -100, smoothing);
    return batch.weight.defined() ? weightedSum(loss, batch) : loss;
}

/// What the pools of one task have in common.
struct Measures {
    double smoothing = 0;
    std::vector<config::Metric> metrics;
    std::vector<std::string> classNames;   ///< as many as outputs; of outputs without a class: their number

    std::int64_t classes() const { return static_cast<std::int64_t>(classNames.size()); }
    bool wants(const std::string& name) const {
        return std::any_of(metrics.begin(), metrics.end(), [&](const config::Metric& metric) { return metric.name == name; });
    }
    /// Columns of scores that AUC needs: of two classes the second says all.
    std::int64_t scoreColumns() const { return !wants("auc") ? 0 : classes() == 2 ? 1 : classes(); }
    std::int64_t columns() const { return kFixed + scoreColumns(); }

    enum Column : std::int64_t { Loss, Weight, Actual, Predicted, Place, kFixed };
};

/// Keeps a row for every sample: loss, weight, class, predicted class, place of the class among the scores, and for AUC
/// the scores. Everything is computed from the rows in order, so that neither batches nor ranks change a bit. Rows stay on
/// the device until then, so that a batch costs no wait.
class ClassificationPool final : public MetricPool {
public:
    explicit ClassificationPool(std::shared_ptr<const Measures> measures) : m_measures(std::move(measures)) {}

    void add(const at::Tensor& output, const Batch& batch) override {
        const at::NoGradGuard noGrad;
        const auto asDouble = output.options().dtype(at::kDouble);
        const at::Tensor loss = at::cross_entropy_loss(output, batch.target, {}, at::Reduction::None, -100, m_measures->smoothing);
        const at::Tensor weight = batch.weight.defined() ? batch.weight.to(at::kDouble) : at::ones({output.size(0)}, asDouble);
        const at::Tensor own = output.gather(1, batch.target.unsqueeze(1));
        const at::Tensor isBefore = at::arange(output.size(1), batch.target.options()).unsqueeze(0) < batch.target.unsqueeze(1);
        const at::Tensor ahead = ((output > own) | ((output == own) & isBefore)).sum(1).to(at::kDouble);
        const at::Tensor place = at::where(own.squeeze(1).isnan(), static_cast<double>(output.size(1)), ahead);
        std::vector<at::Tensor> columns{at::stack({loss.to(at::kDouble), weight, batch.target.to(at::kDouble), output.argmax(1).to(at::kDouble), place}, 1)};
        if (const std::int64_t scores = m_measures->scoreColumns(); scores > 0)
            columns.push_back(at::softmax(output.to(at::kDouble), 1).narrow(1, output.size(1) - scores, scores));
        m_rows.push_back(at::cat(columns, 1));
    }
    at::Tensor statistics() const override { return m_rows.empty() ? at::empty({0}, at::kDouble) : at::cat(m_rows).flatten(); }
    void merge(const at::Tensor& statistics) override {
        if (statistics.numel() > 0) m_rows.push_back(statistics.view({-1, m_measures->columns()}));
    }

    std::map<std::string, double> values() const override {
        const Table table(*this);
        std::map<std::string, double> all = averages(table);
        all["auc"] = m_measures->wants("auc") ? areaOf(table) : kNothing;
        if (!(table.weight > 0))
            for (auto& [name, value] : all) value = kNothing;
        return chosenOf(all, m_measures->metrics);
    }

    std::vector<EvaluationRecord> records() const override {
        const Table table(*this);
        if (!(table.weight > 0)) return {};
        json content = m_measures->classes() <= kMostInMatrix ? matrix(table.confusion) : json();
        if (content.is_null() || content.dump().size() > kMostRecordBytes) content = frequentConfusions(table.confusion);
        return {{EvaluationRecord::Kind::Table, "confusion", content.dump()}};
    }

private:
    /// The rows in main memory, and the sums over them.
    struct Table {
        explicit Table(const ClassificationPool& pool) : columns(pool.m_measures->columns()), confusion(pool.m_measures->classes()) {
            if (pool.m_rows.empty()) return;
            values = at::cat(pool.m_rows).cpu().contiguous();
            const std::int64_t last = confusion.classes - 1;
            for (std::int64_t i = 0; i < values.size(0); ++i) {
                const double weighs = at(i, Measures::Weight);
                weight += weighs;
                if (weighs > 0) loss += weighs * at(i, Measures::Loss);
                for (std::int64_t k = 0; k < kPlaces; ++k) inFirst[k] += at(i, Measures::Place) <= static_cast<double>(k) ? weighs : 0;
                const auto actual = static_cast<std::int64_t>(at(i, Measures::Actual)), predicted = static_cast<std::int64_t>(at(i, Measures::Predicted));
                confusion.at(std::clamp<std::int64_t>(actual, 0, last), std::clamp<std::int64_t>(predicted, 0, last)) += weighs;
            }
        }
        double at(std::int64_t row, std::int64_t column) const { return values.const_data_ptr<double>()[row * columns + column]; }
        std::int64_t rows() const { return values.defined() ? values.size(0) : 0; }

        static constexpr std::int64_t kPlaces = 5;
        std::int64_t columns;
        at::Tensor values;
        double weight = 0, loss = 0, inFirst[kPlaces] = {};
        Confusion confusion;
    };

    std::map<std::string, double> averages(const Table& table) const {
        double right = 0;
        for (std::int64_t i = 0; i < table.confusion.classes; ++i) right += table.confusion.at(i, i);
        std::map<std::string, double> all{{"loss", table.loss / table.weight}, {"accuracy", right / table.weight},
                                          {"top3_accuracy", table.inFirst[2] / table.weight}, {"top5_accuracy", table.inFirst[4] / table.weight}};
        const auto put = [&](const std::string& ending, const PrecisionRecall& scores) {
            all["precision" + ending] = scores.precision;
            all["recall" + ending] = scores.recall;
            all["f1" + ending] = scores.f1;
        };
        put("_micro", microAverage(table.confusion));
        put("_macro", macroAverage(table.confusion));
        put("", table.confusion.classes > 1 ? ofClass(table.confusion, 1) : PrecisionRecall());
        return all;
    }

    /// Of two classes that of the second; of more the mean over those that have samples, each against the rest.
    double areaOf(const Table& table) const {
        const std::int64_t classes = m_measures->classes(), scoreColumns = m_measures->scoreColumns();
        std::vector<double> scores, weights;
        std::vector<bool> isPositive;
        double sum = 0, counted = 0;
        for (std::int64_t i = 0; i < scoreColumns; ++i) {
            const auto which = static_cast<double>(classes - scoreColumns + i);
            scores.clear(), weights.clear(), isPositive.clear();
            for (std::int64_t row = 0; row < table.rows(); ++row) {
                if (table.at(row, Measures::Weight) == 0) continue;  // whatever it scored
                scores.push_back(table.at(row, Measures::kFixed + i));
                weights.push_back(table.at(row, Measures::Weight));
                isPositive.push_back(table.at(row, Measures::Actual) == which);
            }
            if (std::any_of(scores.begin(), scores.end(), [](double score) { return std::isnan(score); })) return kNothing;
            const double area = areaUnderCurve(scores, isPositive, weights);
            if (std::isnan(area)) continue;
            sum += area;
            ++counted;
        }
        return counted > 0 ? sum / counted : kNothing;
    }

    json matrix(const Confusion& confusion) const {
        json columns = json::array({"actual"}), rows = json::array();
        for (const std::string& name : m_measures->classNames) columns.push_back(name);
        for (std::int64_t actual = 0; actual < confusion.classes; ++actual) {
            json row = json::array({m_measures->classNames[static_cast<std::size_t>(actual)]});
            for (std::int64_t predicted = 0; predicted < confusion.classes; ++predicted) row.push_back(confusion.at(actual, predicted));
            rows.push_back(std::move(row));
        }
        return {{"columns", columns}, {"rows", rows}};
    }

    json frequentConfusions(const Confusion& confusion) const {
        struct Cell {
            double weight;
            std::int64_t actual, predicted;
        };
        std::vector<Cell> cells;
        for (std::int64_t actual = 0; actual < confusion.classes; ++actual)
            for (std::int64_t predicted = 0; predicted < confusion.classes; ++predicted)
                if (actual != predicted && confusion.at(actual, predicted) > 0) cells.push_back({confusion.at(actual, predicted), actual, predicted});
        std::stable_sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) { return a.weight > b.weight; });
        if (cells.size() > kMostConfusions) cells.resize(kMostConfusions);
        const auto named = [&](std::int64_t which) { return m_measures->classNames[static_cast<std::size_t>(which)].substr(0, 200); };
        json rows = json::array();
        for (const Cell& cell : cells) rows.push_back({named(cell.actual), named(cell.predicted), cell.weight});
        return {{"columns", {"actual", "predicted", "weight"}}, {"rows", rows}};
    }

    std::shared_ptr<const Measures> m_measures;
    std::vector<at::Tensor> m_rows;   ///< [samples of a batch, columns]
};

class Classification final : public Task {
public:
    explicit Classification(Measures measures) : m_measures(std::make_shared<const Measures>(std::move(measures))) {}

    std::int64_t outputs() const override { return m_measures->classes(); }
    std::vector<double> weightsOf(const Batch& batch) const override { return {sumOfWeights(batch)}; }
    std::vector<LossTerm> loss(const at::Tensor& output, const Batch& batch) const override {
        return {LossTerm{lossSum(output, batch, m_measures->smoothing)}};
    }
    std::unique_ptr<MetricPool> metrics() const override { return std::make_unique<ClassificationPool>(m_measures); }
    std::vector<config::Metric> metricInfo() const override { return m_measures->metrics; }

private:
    const std::shared_ptr<const Measures> m_measures;
};

}  // namespace

Result<std::unique_ptr<Task>> makeClassification(const config::RunConfig& config, std::vector<std::string> classNames) {
    Measures measures{config.task.labelSmoothing, {}, std::move(classNames)};
    LATHE_TRY_ASSIGN(measures.metrics, config::chosenMetrics(config));
    const std::int64_t classes = config.task.numClasses.value_or(measures.classes());
    while (measures.classes() < classes) measures.classNames.push_back(std::to_string(measures.classes()));
    for (const std::string name : {"precision", "recall", "f1"})
        if (classes != 2 && measures.wants(name))
            return Error{ErrorCode::Config, name + " is that of the second of two classes, and there are " + std::to_string(classes) + "; choose " + name + "_macro or " + name + "_micro",
                         "evaluation.metrics", {}};
    if (classes > kMostClassesForAuc && measures.wants("auc"))
        return Error{ErrorCode::Config, "auc is computed for at most " + std::to_string(kMostClassesForAuc) + " classes, and there are " + std::to_string(classes) + "; leave it out", "evaluation.metrics", {}};
    return std::unique_ptr<Task>(std::make_unique<Classification>(std::move(measures)));
}

}  // namespace lathe::engine
