#include "engine/task/task_kinds.h"

#include <ATen/core/Reduction.h>

#include <limits>

namespace lathe::engine {
namespace {

at::Tensor lossSum(const at::Tensor& output, const Batch& batch, double smoothing) {
    const auto reduction = batch.weight.defined() ? at::Reduction::None : at::Reduction::Sum;
    const at::Tensor loss = at::cross_entropy_loss(output, batch.target, {}, reduction, -100, smoothing);
    return batch.weight.defined() ? weightedSum(loss, batch) : loss;
}

/// Sums stay on the device, so that a batch costs no wait.
class ClassificationPool final : public MetricPool {
public:
    explicit ClassificationPool(double smoothing) : m_smoothing(smoothing) {}

    void add(const at::Tensor& output, const Batch& batch) override {
        const at::NoGradGuard noGrad;
        const at::Tensor loss = at::cross_entropy_loss(output, batch.target, {}, at::Reduction::None, -100, m_smoothing);
        const at::Tensor right = output.argmax(1).eq(batch.target);
        const at::Tensor weight = at::scalar_tensor(sumOfWeights(batch), loss.options().dtype(at::kDouble));
        merge(at::stack({weightedSum(loss.to(at::kDouble), batch), weightedSum(right.to(at::kDouble), batch), weight}));
    }
    at::Tensor statistics() const override { return m_sums.defined() ? m_sums : at::empty({0}, at::kDouble); }
    void merge(const at::Tensor& statistics) override {
        if (statistics.numel() > 0) m_sums = m_sums.defined() ? m_sums + statistics : statistics;
    }

    std::map<std::string, double> values() const override {
        const at::Tensor sums = m_sums.defined() ? m_sums.cpu() : at::zeros({3}, at::kDouble);
        const double weight = sums[2].item<double>();
        if (!(weight > 0))
            return {{"loss", kNothing}, {"accuracy", kNothing}};
        return {{"loss", sums[0].item<double>() / weight}, {"accuracy", sums[1].item<double>() / weight}};
    }

private:
    static constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
    double m_smoothing;
    at::Tensor m_sums;  ///< loss, right answers, weight
};

class Classification final : public Task {
public:
    Classification(double smoothing, std::int64_t classes) : m_smoothing(smoothing), m_classes(classes) {}

    std::int64_t outputs() const override { return m_classes; }
    double weightOf(const Batch& batch) const override { return sumOfWeights(batch); }
    std::vector<LossTerm> loss(const at::Tensor& output, const Batch& batch) const override {
        return {{"loss", lossSum(output, batch, m_smoothing), sumOfWeights(batch), 1}};
    }
    std::unique_ptr<MetricPool> metrics() const override { return std::make_unique<ClassificationPool>(m_smoothing); }
    std::vector<config::Metric> metricInfo() const override { return config::metricsOf("classification"); }

private:
    double m_smoothing;
    std::int64_t m_classes;
};

}  // namespace

std::unique_ptr<Task> makeClassification(const config::TaskSection& section, std::int64_t classes) {
    return std::make_unique<Classification>(section.labelSmoothing, classes);
}

}  // namespace lathe::engine
