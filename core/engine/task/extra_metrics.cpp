// Metrics that plug-ins bring, pooled beside those of the task.
#include "engine/task/task.h"

#include <c10/util/Exception.h>

#include <new>
#include <stdexcept>
#include <utility>

namespace lathe::engine {
namespace {

/// What a plug-in's metric throws names it; LibTorch's own faults stay what they are, for memory that runs out is told apart.
template <typename Work>
auto named(const std::string& name, const Work& work) {
    try {
        return work();
    } catch (const c10::Error&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& problem) {
        if (name.empty()) throw;
        throw std::runtime_error("The metric " + name + " failed: " + problem.what());
    }
}

/// Its statistics: for each pool the length of its own, then those.
class JoinedPool final : public MetricPool {
public:
    explicit JoinedPool(const Task& task) {
        m_pools.emplace_back("", task.metrics());
        for (const auto& [name, metric] : extraMetrics().all()) m_pools.emplace_back(name, metric.make());
    }
    void add(const at::Tensor& output, const Batch& batch) override {
        for (auto& [name, pool] : m_pools) named(name, [&, &pool = pool] { pool->add(output, batch); });
    }
    at::Tensor statistics() const override {
        std::vector<at::Tensor> parts;
        for (const auto& [name, pool] : m_pools) {
            const at::Tensor part = named(name, [&pool = pool] { return pool->statistics().to(at::kCPU, at::kDouble); });
            parts.push_back(at::full({1}, static_cast<double>(part.numel()), at::kDouble));
            parts.push_back(part);
        }
        return at::cat(parts);
    }
    void merge(const at::Tensor& statistics) override {
        std::int64_t place = 0;
        for (auto& [name, pool] : m_pools) {
            const auto length = static_cast<std::int64_t>(statistics[place].item<double>());
            named(name, [&, &pool = pool] { pool->merge(statistics.narrow(0, place + 1, length)); });
            place += 1 + length;
        }
    }
    std::vector<EvaluationRecord> records() const override { return m_pools.front().second->records(); }
    std::map<std::string, double> values() const override {
        std::map<std::string, double> all;
        for (const auto& [name, pool] : m_pools) {
            const auto values = named(name, [&pool = pool] { return pool->values(); });
            if (name.empty()) all = values;
            else if (!values.empty()) all[name] = values.begin()->second;
        }
        return all;
    }

private:
    std::vector<std::pair<std::string, std::unique_ptr<MetricPool>>> m_pools;   ///< by name; the task's own has none
};

}  // namespace

Kinds<ExtraMetric>& extraMetrics() {
    static Kinds<ExtraMetric> kinds{{}};
    return kinds;
}

std::unique_ptr<MetricPool> poolOf(const Task& task) {
    if (extraMetrics().all().empty()) return task.metrics();
    return std::make_unique<JoinedPool>(task);
}

std::vector<config::Metric> metricsOf(const Task& task) {
    std::vector<config::Metric> all = task.metricInfo();
    for (const auto& [name, metric] : extraMetrics().all()) all.push_back({name, metric.higherIsBetter});
    return all;
}

}  // namespace lathe::engine
