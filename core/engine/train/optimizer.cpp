#include "engine/train/optimizer.h"

#include "engine/train/lion_kernel.h"

#include <algorithm>

namespace lathe::engine {
namespace {

/// Elements that a thread takes at a time; fewer are not worth a second one.
constexpr std::int64_t kGrain = 32768;

/// Adam, with decay in the gradient (Kingma and Ba 2015) or apart from it (Loshchilov and Hutter 2019).
class Adam final : public Optimizer {
public:
    explicit Adam(const config::OptimizerSection& section) : Optimizer(section, slots()), m_isDecoupled(section.name == "adamw") {}
    static std::vector<std::string> slots() { return {"exp_avg", "exp_avg_sq"}; }

private:
    void apply(Part& part, double learningRate) override {
        const at::Tensor& first = part.values.front();
        // The operators only read the counts, so all buffers of a type share one.
        at::Tensor& count = m_counts[first.scalar_type()];
        if (!count.defined()) count = at::zeros({}, first.options().dtype(at::kFloat));
        count.fill_(static_cast<double>(m_updates));
        const std::vector<at::Tensor> counts(part.values.size(), count);
        const double beta2 = m_section.beta2.value_or(0.999);
        const auto& state = part.state;
        if (m_isDecoupled) at::_fused_adamw_(part.values, part.gradients, state[0], state[1], {}, counts, learningRate, m_section.beta1, beta2, part.weightDecay, m_section.epsilon, false, false);
        else at::_fused_adam_(part.values, part.gradients, state[0], state[1], {}, counts, learningRate, m_section.beta1, beta2, part.weightDecay, m_section.epsilon, false, false);
    }

    bool m_isDecoupled;
    std::map<at::ScalarType, at::Tensor> m_counts;
};

class Sgd final : public Optimizer {
public:
    explicit Sgd(const config::OptimizerSection& section) : Optimizer(section, slots(section)) {}
    static std::vector<std::string> slots(const config::OptimizerSection& section) {
        return section.momentum > 0 ? std::vector<std::string>{"momentum"} : std::vector<std::string>{};
    }

private:
    void apply(Part& part, double learningRate) override {
        const at::TensorList momentum = part.state.empty() ? at::TensorList() : at::TensorList(part.state[0]);
        at::_fused_sgd_(part.values, part.gradients, momentum, part.weightDecay, m_section.momentum, learningRate, m_section.dampening,
                        m_section.nesterov, false, m_updates == 1);
    }
};

class Lion final : public Optimizer {
public:
    explicit Lion(const config::OptimizerSection& section) : Optimizer(section, slots()) {}
    static std::vector<std::string> slots() { return {"exp_avg"}; }

private:
    void apply(Part& part, double learningRate) override {
        const LionStep step{learningRate, part.weightDecay, m_section.beta1, m_section.beta2.value_or(0.99)};
        for (std::size_t i = 0; i < part.values.size(); ++i) {
            at::Tensor& value = part.values[i];
            at::Tensor& mean = part.state[0][i];
            if (!value.is_cpu()) onDevice(value, part.gradients[i], mean, step);
            else if (value.scalar_type() == at::kDouble) onCpu<double>(value, part.gradients[i], mean, step);
            else onCpu<float>(value, part.gradients[i], mean, step);
        }
    }
    template <typename T>
    static void onCpu(at::Tensor& value, const at::Tensor& gradient, at::Tensor& mean, const LionStep& step) {
        T* values = value.mutable_data_ptr<T>();
        const T* gradients = gradient.const_data_ptr<T>();
        T* means = mean.mutable_data_ptr<T>();
        at::parallel_for(0, value.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
            lionKernel(values + begin, gradients + begin, means + begin, end - begin, step);
        });
    }
    static void onDevice(at::Tensor& value, const at::Tensor& gradient, at::Tensor& mean, const LionStep& step) {
        const at::Tensor sign = at::lerp(gradient, mean, step.beta1).sign_();
        value.mul_(1 - step.rate * step.weightDecay).sub_(sign, step.rate);
        mean.lerp_(gradient, 1 - step.beta2);
    }
};

}  // namespace

Result<std::unique_ptr<Optimizer>> Optimizer::make(const config::OptimizerSection& section, const FlatStorage& storage,
                                                   const std::vector<plan::ParamGroup>& groups) {
    std::unique_ptr<Optimizer> made;
    if (section.name == "adamw" || section.name == "adam") made = std::make_unique<Adam>(section);
    if (section.name == "sgd") made = std::make_unique<Sgd>(section);
    if (section.name == "lion") made = std::make_unique<Lion>(section);
    if (!made) return Error{ErrorCode::Config, "Optimizer “" + section.name + "” is not known; use adamw, adam, sgd or lion", "optimizer.name", {}};
    made->adopt(storage, groups);
    return made;
}

std::size_t Optimizer::stateTensorsPerParameter(const config::OptimizerSection& section) {
    if (section.name == "sgd") return Sgd::slots(section).size();
    return section.name == "lion" ? Lion::slots().size() : Adam::slots().size();
}

void Optimizer::adopt(const FlatStorage& storage, const std::vector<plan::ParamGroup>& groups) {
    m_storage = &storage;
    m_state.resize(m_slots.size());
    for (const Flat& flat : storage.flats()) {
        const plan::ParamGroup all{.name = {}, .weightDecay = m_section.weightDecay};
        const plan::ParamGroup& group = flat.group < groups.size() ? groups[flat.group] : all;
        auto part = std::find_if(m_parts.begin(), m_parts.end(), [&](const Part& known) {
            return known.rateFactor == group.rateFactor && known.weightDecay == group.weightDecay && known.values.front().scalar_type() == flat.value.scalar_type();
        });
        if (part == m_parts.end()) part = m_parts.insert(part, Part{group.rateFactor, group.weightDecay, {}, {}, std::vector<std::vector<at::Tensor>>(m_slots.size())});
        part->values.push_back(flat.value);
        part->gradients.push_back(flat.gradient);
        for (std::size_t slot = 0; slot < m_slots.size(); ++slot) {
            m_state[slot].push_back(at::zeros_like(flat.value));
            part->state[slot].push_back(m_state[slot].back());
        }
    }
}

void Optimizer::step(double learningRate) {
    const at::NoGradGuard noGrad;
    ++m_updates;
    for (Part& part : m_parts) apply(part, learningRate * part.rateFactor);
}

StateValues Optimizer::stateValues() const {
    return {{"kind", m_section.name}, {"updates", std::to_string(m_updates)}};
}

Result<void> Optimizer::setStateValues(const StateValues& values) {
    StateValueReader reader(values);
    const std::string kind = reader.text("kind");
    const std::int64_t updates = reader.integer("updates");
    LATHE_TRY(reader.finish(stateName()));
    if (kind != m_section.name)
        return Error{ErrorCode::Config, "The checkpoint was made with optimizer “" + kind + "”; this run asks for “" + m_section.name +
                     "”. Keep " + kind + ", or start from the weights alone", "optimizer.name", {}};
    m_updates = updates;
    return {};
}

std::vector<StateTensor> Optimizer::stateTensors() const {
    std::vector<StateTensor> all;
    for (const ShardView& view : m_storage->views()) {
        for (std::size_t slot = 0; slot < m_slots.size(); ++slot) {
            const at::Tensor& flat = m_state[slot][view.flat];
            all.push_back({view.parameter + "/" + m_slots[slot], "optimizer",
                           flat.narrow(0, view.offset, view.value.numel()).view(view.value.sizes()), false});
        }
    }
    return all;
}

}  // namespace lathe::engine
