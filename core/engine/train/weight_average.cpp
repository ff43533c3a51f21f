#include "engine/train/weight_average.h"

#include <algorithm>

namespace lathe::engine {

WeightAverage::WeightAverage(const FlatStorage& storage, const config::OptimizerSection& section)
    : m_storage(storage), m_decay(section.emaDecay), m_warmsUp(section.emaWarmup) {
    const at::NoGradGuard noGrad;
    for (const Flat& flat : storage.flats()) m_means.push_back(flat.value.clone());
    for (const ShardView& view : storage.views()) {
        const auto shaped = [&](const at::Tensor& flat) { return flat.narrow(0, view.offset, view.value.numel()).view(view.value.sizes()); };
        m_weights.push_back(shaped(storage.flats()[view.flat].value));
        m_shaped.push_back(shaped(m_means[view.flat]));
    }
}

double WeightAverage::decay() const {
    const auto n = static_cast<double>(m_updates);
    return m_warmsUp ? std::min(m_decay, (1 + n) / (10 + n)) : m_decay;
}

void WeightAverage::update() {
    const at::NoGradGuard noGrad;
    const double rest = 1 - decay();
    for (std::size_t i = 0; i < m_means.size(); ++i) m_means[i].lerp_(m_storage.flats()[i].value, rest);
    ++m_updates;
}

void WeightAverage::restart() {
    const at::NoGradGuard noGrad;
    for (std::size_t i = 0; i < m_means.size(); ++i) m_means[i].copy_(m_storage.flats()[i].value);
    m_updates = 0;
}

Result<void> WeightAverage::setStateValues(const StateValues& values) {
    StateValueReader reader(values);
    const std::int64_t updates = reader.integer("updates");
    LATHE_TRY(reader.finish(stateName()));
    if (updates < 0) return Error{ErrorCode::Corrupt, "The saved mean of the weights counts " + std::to_string(updates) + " updates", {}, {}};
    m_updates = updates;
    return {};
}

std::vector<StateTensor> WeightAverage::stateTensors() const {
    std::vector<StateTensor> all;
    for (std::size_t i = 0; i < m_shaped.size(); ++i) all.push_back({m_storage.views()[i].parameter + "/ema", "ema", m_shaped[i], false});
    return all;
}

void WeightAverage::place(bool mean) {
    const at::NoGradGuard noGrad;
    for (std::size_t i = 0; i < m_weights.size(); ++i) {
        at::Tensor parameter = m_storage.views()[i].value;
        parameter.set_data(mean ? m_shaped[i] : m_weights[i]);
    }
}

WeightAverage::InUse::InUse(WeightAverage* average) : m_average(average) {
    if (m_average) m_average->place(true);
}

WeightAverage::InUse::~InUse() {
    if (m_average) m_average->place(false);
}

}  // namespace lathe::engine
