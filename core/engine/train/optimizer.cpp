#include "engine/train/optimizer.h"

namespace lathe::engine {
namespace {

class AdamW final : public Optimizer {
public:
    AdamW(const config::OptimizerSection& section, const FlatStorage& storage)
        : Optimizer(section, storage, "adamw", {"exp_avg", "exp_avg_sq"}) {
        // The operator only reads the counts, so all buffers of a device share one.
        for (const at::Tensor& value : m_values) {
            if (!m_count.defined()) m_count = at::zeros({}, value.options().dtype(at::kFloat));
            m_counts.push_back(m_count);
        }
    }

private:
    void apply(double learningRate) override {
        m_count.fill_(static_cast<double>(m_updates));
        at::_fused_adamw_(m_values, m_gradients, m_state[0], m_state[1], {}, m_counts, learningRate, m_section.beta1,
                          m_section.beta2, m_section.weightDecay, m_section.epsilon, false, false);
    }

    at::Tensor m_count;
    std::vector<at::Tensor> m_counts;
};

class Sgd final : public Optimizer {
public:
    Sgd(const config::OptimizerSection& section, const FlatStorage& storage)
        : Optimizer(section, storage, "sgd", section.momentum > 0 ? std::vector<std::string>{"momentum"} : std::vector<std::string>{}) {}

private:
    void apply(double learningRate) override {
        const at::TensorList momentum = m_state.empty() ? at::TensorList() : at::TensorList(m_state[0]);
        at::_fused_sgd_(m_values, m_gradients, momentum, m_section.weightDecay, m_section.momentum, learningRate, 0.0,
                        m_section.nesterov, false, m_updates == 1);
    }
};

}  // namespace

Result<std::unique_ptr<Optimizer>> Optimizer::make(const config::OptimizerSection& section, const FlatStorage& storage) {
    if (section.name == "adamw") return std::unique_ptr<Optimizer>(std::make_unique<AdamW>(section, storage));
    if (section.name == "sgd") return std::unique_ptr<Optimizer>(std::make_unique<Sgd>(section, storage));
    return Error{ErrorCode::Config, "Optimizer “" + section.name + "” is not known; use adamw or sgd", "optimizer.name", {}};
}

Optimizer::Optimizer(const config::OptimizerSection& section, const FlatStorage& storage, std::string kind, std::vector<std::string> slots)
    : m_section(section), m_storage(storage), m_kind(std::move(kind)), m_slots(std::move(slots)) {
    for (const Flat& flat : storage.flats()) {
        m_values.push_back(flat.value);
        m_gradients.push_back(flat.gradient);
    }
    for (std::size_t slot = 0; slot < m_slots.size(); ++slot) {
        m_state.emplace_back();
        for (const at::Tensor& value : m_values) m_state.back().push_back(at::zeros_like(value));
    }
}

void Optimizer::step(double learningRate) {
    const at::NoGradGuard noGrad;
    ++m_updates;
    if (!m_values.empty()) apply(learningRate);
}

StateValues Optimizer::stateValues() const {
    return {{"kind", m_kind}, {"updates", std::to_string(m_updates)}};
}

Result<void> Optimizer::setStateValues(const StateValues& values) {
    StateValueReader reader(values);
    const std::string kind = reader.text("kind");
    const std::int64_t updates = reader.integer("updates");
    LATHE_TRY(reader.finish(stateName()));
    if (kind != m_kind)
        return Error{ErrorCode::Config, "The checkpoint was made with optimizer “" + kind + "”; this run asks for “" + m_kind +
                     "”. Keep " + kind + ", or start from the weights alone", "optimizer.name", {}};
    m_updates = updates;
    return {};
}

std::vector<StateTensor> Optimizer::stateTensors() const {
    std::vector<StateTensor> all;
    for (const ShardView& view : m_storage.views()) {
        for (std::size_t slot = 0; slot < m_slots.size(); ++slot) {
            const at::Tensor& flat = m_state[slot][view.flat];
            all.push_back({view.parameter + "/" + m_slots[slot], "optimizer",
                           flat.narrow(0, view.offset, view.value.numel()).view(view.value.sizes()), false});
        }
    }
    return all;
}

}  // namespace lathe::engine
