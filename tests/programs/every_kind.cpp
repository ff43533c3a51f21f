// A plug-in with one thing of each kind, and with the faults that tests ask for by its settings.
#include "engine/plugin/plugin.h"

#include <stdexcept>

using namespace lathe;
using namespace lathe::engine;

namespace {

/// Throws at the update it is told, and counts updates in a series and in its state.
class Counting final : public Hook {
public:
    Counting(std::int64_t throwAt, bool required) : m_throwAt(throwAt), m_required(required) {}
    std::string_view hookName() const override { return "counting"; }
    bool required() const override { return m_required; }
    void at(const HookContext& context, Wishes&) override {
        if (context.point != Point::Update) return;
        context.log->value("counting/updates", static_cast<double>(++m_updates));
        for (const char* ours : {"train/loss", "train/tokens_per_second"}) context.log->value(ours, -1);   // must be ignored
        if (m_updates == m_throwAt) throw std::runtime_error("counted too far");
        if (m_updates == 3) context.log->event("counted", "Counted to three", R"({"three": 3})");
        if (m_updates == 3) context.log->event("resume_report", "Continues exactly, says who", R"({"outcome": "continues exactly"})");  // becomes a note
    }
    HookState state() const override { return {{"updates", std::to_string(m_updates)}}; }
    void setState(const HookState& state) override { m_updates = std::stoll(state.at("updates")); }

private:
    const std::int64_t m_throwAt;
    const bool m_required;
    std::int64_t m_updates = 0;
};

/// Output = input · weight.
class Product final : public Block {
public:
    Product(const ModelShape& shape, const WeightSource& source) : Block("product", 0) {
        at::Tensor weight = source.uniform("weight", {shape.outputs, shape.features}, 0.1);
        m_parameters.push_back({"weight", weight.requires_grad_(true)});
    }
    at::Tensor forward(Context&, const at::Tensor& input) override { return at::linear(input.flatten(1), m_parameters[0].tensor); }
};

class ProductModel final : public Model {
public:
    ProductModel(const ModelShape& shape, const WeightSource& source) { m_blocks.push_back(std::make_unique<Product>(shape, source)); }
};

/// Largest absolute error.
class Worst final : public MetricPool {
public:
    void add(const at::Tensor& output, const Batch& batch) override { m_worst = std::max(m_worst, (output - batch.target).abs().max().item<double>()); }
    at::Tensor statistics() const override { return at::full({1}, m_worst, at::kDouble); }
    void merge(const at::Tensor& statistics) override { m_worst = std::max(m_worst, statistics[0].item<double>()); }
    std::map<std::string, double> values() const override { return {{"worst", m_worst}}; }

private:
    double m_worst = 0;
};

/// Mean fourth power of the error.
class Fourth final : public Task {
public:
    explicit Fourth(std::int64_t targets) : m_targets(targets) {}
    std::int64_t outputs() const override { return m_targets; }
    std::vector<double> weightsOf(const Batch& batch) const override { return {static_cast<double>(batch.count())}; }
    std::vector<LossTerm> loss(const at::Tensor& output, const Batch& batch) const override {
        return {LossTerm{(output - batch.target).pow(4).sum()}};
    }
    std::unique_ptr<MetricPool> metrics() const override { return std::make_unique<Loss>(); }
    std::vector<config::Metric> metricInfo() const override { return {{"loss", false}}; }

private:
    class Loss final : public MetricPool {
    public:
        void add(const at::Tensor& output, const Batch& batch) override {
            m_sum += (output - batch.target).pow(4).sum().item<double>();
            m_count += static_cast<double>(batch.count());
        }
        at::Tensor statistics() const override { return at::tensor({m_sum, m_count}, at::kDouble); }
        void merge(const at::Tensor& statistics) override { m_sum += statistics[0].item<double>(), m_count += statistics[1].item<double>(); }
        std::map<std::string, double> values() const override { return {{"loss", m_sum / m_count}}; }

    private:
        double m_sum = 0, m_count = 0;
    };
    std::int64_t m_targets;
};

class Short final : public Precision {
public:
    std::string name() const override { return "every_kind/short"; }
    std::optional<at::ScalarType> castType() const override { return at::kBFloat16; }
};

class Long final : public Precision {
public:
    std::string name() const override { return "every_kind/long"; }
    at::ScalarType parameterType() const override { return at::kDouble; }   // not possible: data come in fp32
};

}  // namespace

LATHE_PLUGIN("every_kind", "2.5", registry) {
    const std::int64_t throwAt = registry.integer("throw_at", 0, 0);
    const bool required = registry.flag("required", false);
    if (registry.flag("fail", false)) throw std::runtime_error("it was told to");
    registry.addHook([=] { return std::make_unique<Counting>(throwAt, required); });
    if (registry.flag("twice", false)) registry.addSchedule("halving", [](const config::ScheduleSection&, GlobalStep) { return 1.0; });
    registry.addSchedule("halving", [](const config::ScheduleSection&, GlobalStep applied) { return 1.0 / static_cast<double>(1 + applied.value()); });
    registry.addMetric("worst", false, [] { return std::make_unique<Worst>(); });
    registry.addModel("product", [](const config::ModelSection&, const ModelShape& shape, const WeightSource& source) {
        return Result<std::unique_ptr<Model>>(std::make_unique<ProductModel>(shape, source));
    });
    registry.addTask("fourth", [](const config::RunConfig&, const dataset::Info& data) {
        return Result<std::unique_ptr<Task>>(std::make_unique<Fourth>(static_cast<std::int64_t>(data.targetNames.size())));
    });
    registry.addPrecision("short", [](const config::PrecisionSection&, c10::Device) { return Result<std::unique_ptr<Precision>>(std::make_unique<Short>()); });
    registry.addPrecision("long", [](const config::PrecisionSection&, c10::Device) { return Result<std::unique_ptr<Precision>>(std::make_unique<Long>()); });
}
