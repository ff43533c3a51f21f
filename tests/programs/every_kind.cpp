// A plug-in with one thing of each kind, and with the faults that tests ask for by its settings.
#include "base/number_text.h"
#include "engine/plugin/plugin.h"

#include <cmath>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

using namespace lathe;
using namespace lathe::engine;

namespace {

/// Keeps the worker in one of its phases as long as a pipe is there and somebody has it open for writing.
struct Hold {
    std::string phase, pipe;
    void in(std::string_view now) const {
        if (phase == now && isTraining()) std::ifstream(pipe).get();
    }
    /// "lathe-worker train …": one that is only asked what would be is not held.
    static bool isTraining() {
        std::ifstream words("/proc/self/cmdline");
        std::string program, verb;
        return std::getline(words, program, '\0') && std::getline(words, verb, '\0') && verb == "train";
    }
};

/// Throws at the update it is told, and counts updates in a series and in its state.
class Counting final : public Hook {
public:
    Counting(std::int64_t throwAt, bool required, Hold hold) : m_throwAt(throwAt), m_required(required), m_hold(std::move(hold)) {}
    std::string_view hookName() const override { return "counting"; }
    bool required() const override { return m_required; }
    void at(const HookContext& context, Wishes&) override {
        if (context.point == Point::WindowStart) m_hold.in(m_isUpdated ? "training" : "first update");
        if (context.point == Point::EvalBatch) m_hold.in("evaluating");
        if (context.point == Point::BeforeSave) m_hold.in("saving");
        if (context.point != Point::Update) return;
        m_isUpdated = true;
        context.log->value("counting/updates", static_cast<double>(++m_updates));
        for (const char* ours : {"train/loss", "train/tokens_per_second"}) context.log->value(ours, -1);   // must be ignored
        if (m_updates == m_throwAt) throw std::runtime_error("counted too far");
        if (m_updates == 3) context.log->event("counted", "Counted to three", R"({"three": 3})");
        if (m_updates == 3) context.log->event("resume_report", "Continues exactly, says who", R"({"outcome": "continues exactly"})");  // becomes a note
    }
    HookState state() const override { return {{"updates", std::to_string(m_updates)}}; }
    void setState(const HookState& state) override {
        m_hold.in("loading the checkpoint");
        m_updates = std::stoll(state.at("updates"));
    }

private:
    const std::int64_t m_throwAt;
    const bool m_required;
    const Hold m_hold;
    bool m_isUpdated = false;   ///< in this session
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
    explicit Worst(bool fails) : m_fails(fails) {}
    void add(const at::Tensor& output, const Batch& batch) override {
        if (m_fails) throw std::runtime_error("it lost its glasses");
        m_worst = std::max(m_worst, (output - batch.target).abs().max().item<double>());
    }
    at::Tensor statistics() const override { return at::full({1}, m_worst, at::kDouble); }
    void merge(const at::Tensor& statistics) override { m_worst = std::max(m_worst, statistics[0].item<double>()); }
    std::map<std::string, double> values() const override { return {{"worst", m_worst}}; }

private:
    const bool m_fails;
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

/// A window holds as many micro-batches as `size`, which grows by one after each update whose loss is not below the best.
class Growing final : public plan::Accumulation {
public:
    Growing(std::int64_t size, std::string fault) : m_size(size), m_fault(std::move(fault)) {}
    bool isFull(const plan::OpenWindow& window) const override {
        if (m_fault == "throw" && m_settled == 4) throw std::runtime_error("it lost count");
        while (m_fault == "hang when asked" && !Hold::isTraining()) ::pause();
        return m_fault != "never" && window.microBatches >= m_size;
    }
    void settle(const plan::WindowOutcome& outcome) override {
        if (++m_settled == 4 && m_fault == "settle") throw std::runtime_error("it lost count");
        if (outcome.loss < m_best) m_best = outcome.loss;
        else ++m_size;
    }
    plan::AccumulationState state() const override { return {{"size", std::to_string(m_size)}, {"best", exactText(m_best)}}; }
    void setState(const plan::AccumulationState& state) override {
        m_size = std::stoll(state.at("size"));
        m_best = readDouble(state.at("best")).value();
    }

private:
    std::int64_t m_size, m_settled = 0;
    double m_best = std::numeric_limits<double>::infinity();
    const std::string m_fault;
};

/// Gradients of all ranks are gathered and added up in rank order, once a window.
class InRankOrder final : public GroupParallel {
public:
    InRankOrder(const RankPlace& place, std::unique_ptr<RankGroup> group, std::string fault) : GroupParallel(place, std::move(group)), m_fault(std::move(fault)) {}
    std::string layout() const override { return "in rank order, " + std::to_string(world()); }
    void runWindow(FlatStorage& storage, std::size_t microBatches, const MicroStep& step) override {
        if (m_fault == "throw" && ++m_windows == 4 && rank() == world() - 1) throw std::runtime_error("it lost its way");
        storage.clearGradients();
        const auto share = sharing().of(microBatches);
        for (std::size_t i = share.begin; i < share.end; ++i) step(i);
        if (world() == 1 || m_fault == "forget") return;
        const at::NoGradGuard noGrad;
        for (at::Tensor arena : storage.gradientArenas()) {
            const at::Tensor all = group().gather(arena).view({world(), -1});
            arena.copy_(all[0]);
            for (int other = 1; other < world(); ++other) arena.add_(all[other]);
        }
    }

private:
    const std::string m_fault;
    int m_windows = 0;
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
    const Hold hold{registry.text("hold_in", ""), registry.text("hold_pipe", "")};
    hold.in("starting");
    registry.addHook([=] { return std::make_unique<Counting>(throwAt, required, hold); });
    if (registry.flag("twice", false)) registry.addSchedule("halving", [](const config::ScheduleSection&, GlobalStep) { return 1.0; });
    const std::string fault = registry.text("fault", "");
    registry.addSchedule("halving", [fault](const config::ScheduleSection&, GlobalStep applied) {
        return fault == "nan" && applied.value() == 4 ? std::nan("") : 1.0 / static_cast<double>(1 + applied.value());
    });
    const std::int64_t size = registry.integer("window", 1, 1);
    if (fault == "same name") registry.addAccumulation("growing", "", {});
    registry.addAccumulation("growing", "a window that begins with " + std::to_string(size) + " and grows", [=](const config::AccumulationSection&) {
        return Result<std::shared_ptr<plan::Accumulation>>(std::make_shared<Growing>(size, fault));
    });
    registry.addParallel("in_rank_order", "gathered and added up in rank order", [=](const config::ParallelSection&, const RankPlace& place) -> Result<std::unique_ptr<Parallel>> {
        std::unique_ptr<RankGroup> group;
        if (place.world > 1) {
            LATHE_TRY_ASSIGN(group, RankGroup::connect(place));
        }
        return std::unique_ptr<Parallel>(std::make_unique<InRankOrder>(place, std::move(group), fault));
    });
    registry.addMetric("worst", false, [fault] { return std::make_unique<Worst>(fault == "metric"); });
    registry.addModel("product", [hold](const config::ModelSection&, const ModelShape& shape, const WeightSource& source) {
        hold.in("building the model");
        return Result<std::unique_ptr<Model>>(std::make_unique<ProductModel>(shape, source));
    });
    registry.addTask("fourth", [hold](const config::RunConfig&, const dataset::Info& data) {
        hold.in("loading data");
        return Result<std::unique_ptr<Task>>(std::make_unique<Fourth>(static_cast<std::int64_t>(data.targetNames.size())));
    });
    registry.addPrecision("short", "arithmetic in bf16 by the plug-in", [](const config::PrecisionSection&, c10::Device) { return Result<std::unique_ptr<Precision>>(std::make_unique<Short>()); });
    registry.addPrecision("long", "everything in fp64", [](const config::PrecisionSection&, c10::Device) { return Result<std::unique_ptr<Precision>>(std::make_unique<Long>()); });
}
