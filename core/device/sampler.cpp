#include "device/devices.h"
#include "device/nvml.h"
#include "device/proc.h"

#include <algorithm>

namespace lathe::device {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

}  // namespace

struct Sampler::State {
    std::filesystem::path root;
    CpuTime last;
    std::unique_ptr<Nvml> nvml;  ///< null: no GPUs
    std::vector<Nvml::Handle> handles;

    void sampleCpu(std::vector<Sample>& samples) {
        const CpuTime now = cpuTime(root);
        if (now.total > last.total && now.busy >= last.busy)
            samples.push_back({"device/cpu/utilization", "%", 100.0 * static_cast<double>(now.busy - last.busy) / static_cast<double>(now.total - last.total)});
        last = now;
        const Memory used = memory(root);
        if (used.total > 0) samples.push_back({"device/cpu/memory_used", "GiB", static_cast<double>(used.total - std::min(used.total, used.available)) / kGiB});
    }

    void sampleGpu(std::size_t index, std::vector<Sample>& samples) const {
        const std::string prefix = "device/" + std::to_string(index) + "/";
        const auto add = [&](const char* name, const char* unit, std::optional<double> value) {
            if (value) samples.push_back({prefix + name, unit, *value});
        };
        const Nvml::Handle handle = handles[index];
        if (handle == nullptr) return;
        add("utilization", "%", nvml->utilization(handle));
        if (const auto used = nvml->memory(handle)) add("memory_used", "GiB", static_cast<double>(used->used) / kGiB);
        add("temperature", "°C", nvml->temperature(handle));
        add("power", "W", nvml->power(handle));
    }
};

Sampler::Sampler(const std::filesystem::path& library, std::filesystem::path root) : m_state(std::make_unique<State>()) {
    m_state->root = std::move(root);
    m_state->last = cpuTime(m_state->root);
    auto nvml = Nvml::open(library);
    if (!nvml) return;
    m_state->nvml = std::move(*nvml);
    for (unsigned i = 0, count = m_state->nvml->count(); i < count; ++i) {
        const auto handle = m_state->nvml->device(i);
        m_state->handles.push_back(handle ? *handle : nullptr);
    }
}

Sampler::~Sampler() = default;

std::vector<Sample> Sampler::sample() {
    std::vector<Sample> samples;
    m_state->sampleCpu(samples);
    for (std::size_t i = 0; i < m_state->handles.size(); ++i) m_state->sampleGpu(i, samples);
    return samples;
}

}  // namespace lathe::device
