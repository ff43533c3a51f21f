#include "engine/task/task_kinds.h"

#include <ATen/core/Reduction.h>

#include <limits>

namespace lathe::engine {
namespace {

enum class Loss { Mse, Mae, Huber };

/// [N, targets] losses of each target.
at::Tensor elementLosses(const at::Tensor& output, const at::Tensor& target, Loss loss) {
    switch (loss) {
    case Loss::Mae: return at::l1_loss(output, target, at::Reduction::None);
    case Loss::Huber: return at::huber_loss(output, target, at::Reduction::None, 1.0);
    case Loss::Mse: break;
    }
    return at::mse_loss(output, target, at::Reduction::None);
}

/// Everything in double on the device: sums of loss and errors, and for r2 weight, mean and squared deviation of each
/// target, merged batch by batch (Chan et al.), which does not cancel.
class RegressionPool final : public MetricPool {
public:
    RegressionPool(Loss loss, std::vector<config::Metric> metrics) : m_loss(loss), m_metrics(std::move(metrics)) {}

    void add(const at::Tensor& output, const Batch& batch) override {
        const at::NoGradGuard noGrad;
        const double added = sumOfWeights(batch);
        if (!(added > 0))
            return;
        const at::Tensor y = batch.target.to(at::kDouble), guess = output.to(at::kDouble);
        const at::Tensor weight = batch.weight.defined() ? batch.weight.to(at::kDouble).unsqueeze(1)
                                                         : at::ones({y.size(0), 1}, y.options());
        const at::Tensor losses = elementLosses(output, batch.target, m_loss).to(at::kDouble);
        const at::Tensor sums = at::stack({(weight * losses).sum(0), (weight * (y - guess).square()).sum(0), (weight * (y - guess).abs()).sum(0)});
        const at::Tensor mean = (weight * y).sum(0) / added;
        const at::Tensor spread = (weight * (y - mean).square()).sum(0);
        take(added, sums, mean, spread);
    }

    at::Tensor statistics() const override {
        if (m_weight == 0) return at::empty({0}, at::kDouble);
        return at::cat({at::full({1}, m_weight, m_sums.options()), m_sums.flatten(), m_mean, m_spread});
    }
    void merge(const at::Tensor& statistics) override {
        const std::int64_t targets = (statistics.numel() - 1) / 5;
        if (targets <= 0) return;
        take(statistics[0].item<double>(), statistics.narrow(0, 1, 3 * targets).view({3, targets}), statistics.narrow(0, 1 + 3 * targets, targets),
             statistics.narrow(0, 1 + 4 * targets, targets));
    }

    std::map<std::string, double> values() const override {
        if (m_weight == 0)
            return chosenOf({{"loss", kNothing}, {"mse", kNothing}, {"mae", kNothing}, {"r2", kNothing}}, m_metrics);
        const at::Tensor means = (m_sums.mean(1) / m_weight).cpu();
        const at::Tensor explained = at::where(m_spread > 0, 1 - m_sums[1] / m_spread, kNothing);
        return chosenOf({{"loss", means[0].item<double>()}, {"mse", means[1].item<double>()}, {"mae", means[2].item<double>()},
                         {"r2", explained.mean().item<double>()}}, m_metrics);
    }

private:
    void take(double added, const at::Tensor& sums, const at::Tensor& mean, const at::Tensor& spread) {
        if (m_weight == 0) {
            m_sums = sums;
            m_mean = mean;
            m_spread = spread;
        } else {
            const at::Tensor step = mean - m_mean;
            m_sums = m_sums + sums;
            m_spread = m_spread + spread + step.square() * (m_weight * added / (m_weight + added));
            m_mean = m_mean + step * (added / (m_weight + added));
        }
        m_weight += added;
    }

    static constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
    Loss m_loss;
    const std::vector<config::Metric> m_metrics;
    double m_weight = 0;
    at::Tensor m_sums;            ///< [3, targets]: loss, squared, absolute error
    at::Tensor m_mean, m_spread;  ///< [targets]
};

class Regression final : public Task {
public:
    Regression(Loss loss, std::int64_t targets, std::vector<config::Metric> metrics) : m_loss(loss), m_targets(targets), m_metrics(std::move(metrics)) {}

    std::int64_t outputs() const override { return m_targets; }
    std::vector<double> weightsOf(const Batch& batch) const override { return {sumOfWeights(batch)}; }
    std::vector<LossTerm> loss(const at::Tensor& output, const Batch& batch) const override {
        return {LossTerm{weightedSum(elementLosses(output, batch.target, m_loss).mean(1), batch)}};
    }
    std::unique_ptr<MetricPool> metrics() const override { return std::make_unique<RegressionPool>(m_loss, m_metrics); }
    std::vector<config::Metric> metricInfo() const override { return m_metrics; }

private:
    Loss m_loss;
    std::int64_t m_targets;
    const std::vector<config::Metric> m_metrics;
};

}  // namespace

Result<std::unique_ptr<Task>> makeRegression(const config::RunConfig& config, std::int64_t targets) {
    const std::string& name = config.task.loss;
    const Loss loss = name == "mae" ? Loss::Mae : name == "huber" ? Loss::Huber : Loss::Mse;
    LATHE_TRY_ASSIGN(std::vector<config::Metric> metrics, config::chosenMetrics(config));
    return std::unique_ptr<Task>(std::make_unique<Regression>(loss, targets, std::move(metrics)));
}

}  // namespace lathe::engine
