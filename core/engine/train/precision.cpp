#include "engine/train/precision.h"

#include "base/number_text.h"
#include "config/plugin_list.h"
#include "device/devices.h"

#include <ATen/autocast_mode.h>

#include <algorithm>
#include <cmath>

namespace lathe::engine {
namespace {

class OneType final : public Precision {
public:
    OneType(std::string name, at::ScalarType type) : m_name(std::move(name)), m_type(type) {}
    std::string name() const override { return m_name; }
    at::ScalarType parameterType() const override { return m_type; }

private:
    std::string m_name;
    at::ScalarType m_type;
};

class Bf16 final : public Precision {
public:
    std::string name() const override { return "bf16"; }
    std::optional<at::ScalarType> castType() const override { return at::kBFloat16; }
};

/// fp16 has five bits of exponent: the loss is scaled so that small gradients do not vanish, and the scale searches the
/// largest power of two that does not overflow. Every rank sees the same verdicts, so every rank has the same scale.
class Fp16 final : public Precision {
public:
    explicit Fp16(const config::PrecisionSection& section) : m_scale(section.initialScale), m_growthUpdates(section.scaleGrowthUpdates) {}

    std::string name() const override { return "fp16"; }
    std::optional<at::ScalarType> castType() const override { return at::kHalf; }
    double scale() const override { return m_scale; }

    std::string settle(const UpdateResult& result) override {
        if (result.applied && ++m_goodUpdates >= m_growthUpdates) {
            m_scale = std::min(m_scale * 2, kCeiling);
            m_goodUpdates = 0;
        }
        if (!result.notFinite) return {};
        m_goodUpdates = 0;
        if (m_scale <= kFloor)
            return "fp16 overflows even with a loss scale of " + shortText(kFloor) + ": " + result.reason +
                   ". Use precision.mode bf16 or fp32, or go back to a checkpoint and lower optimizer.learning_rate";
        m_scale /= 2;
        return {};
    }

    bool hasState() const override { return true; }
    StateValues stateValues() const override {
        return {{"mode", "fp16"}, {"scale", exactText(m_scale)}, {"good_updates", std::to_string(m_goodUpdates)}};
    }
    Result<void> setStateValues(const StateValues& values) override {
        StateValueReader reader(values);
        const std::string mode = reader.text("mode");
        const double scale = reader.number("scale");
        const std::int64_t good = reader.integer("good_updates");
        LATHE_TRY(reader.finish(stateName()));
        int exponent = 0;
        if (mode != "fp16" || !(scale >= kFloor && scale <= kCeiling) || std::frexp(scale, &exponent) != 0.5 || good < 0)
            return Error{ErrorCode::Corrupt, "The saved loss scale " + exactText(scale) + " is not one of fp16", {}, {}};
        m_scale = scale;
        m_goodUpdates = good;
        return {};
    }

private:
    static constexpr double kFloor = 1, kCeiling = 16777216;
    double m_scale;
    std::int64_t m_growthUpdates, m_goodUpdates = 0;
};

/// Mode and reason.
std::pair<std::string, std::string> automatic(at::Device device) {
    if (device.is_cpu()) {
        const std::vector<std::string> instructions = device::cpu().instructions;
        if (std::find(instructions.begin(), instructions.end(), "amx_bf16") != instructions.end()) return {"bf16", "this CPU multiplies matrices in bf16 (AMX)"};
        return {"fp32", "this CPU has no fast arithmetic in a shorter format"};
    }
    for (const device::Gpu& gpu : device::gpus().list)
        if (gpu.usable() && gpu.computeMajor < 8) return {"fp16", "a GPU of compute capability " + std::to_string(gpu.computeMajor) + ".x computes fast in fp16, not in bf16"};
    return {"bf16", "this GPU computes fast in bf16, which needs no loss scale"};
}

}  // namespace

std::string Precision::verdict(double loss, const GradientNorm& norm) const {
    if (!std::isfinite(loss)) return "the loss is " + exactText(loss);
    if (!norm.notFinite.empty()) return "the gradient of " + norm.notFinite + " is not finite";
    if (!std::isfinite(norm.value)) return "the gradient norm is " + exactText(norm.value);
    return {};
}

Kinds<PrecisionMaker>& precisionKinds() {
    using Made = Result<std::unique_ptr<Precision>>;
    using Section = config::PrecisionSection;
    static Kinds<PrecisionMaker> kinds{{
        {"fp32", [](const Section&, at::Device) { return Made(std::make_unique<OneType>("fp32", at::kFloat)); }},
        {"fp64", [](const Section&, at::Device) { return Made(std::make_unique<OneType>("fp64", at::kDouble)); }},
        {"bf16", [](const Section&, at::Device) { return Made(std::make_unique<Bf16>()); }},
        {"fp16", [](const Section& section, at::Device) { return Made(std::make_unique<Fp16>(section)); }},
    }};
    return kinds;
}

Result<std::unique_ptr<Precision>> makePrecision(const config::PrecisionSection& section, at::Device device) {
    std::string mode = section.mode, why;
    if (mode == "auto") std::tie(mode, why) = automatic(device);
    const PrecisionMaker* maker = precisionKinds().find(mode);
    if (!maker) return Error{ErrorCode::Config, "Precision “" + mode + "” is not known; there are auto, " + precisionKinds().names(), "precision.mode", {}};
    LATHE_TRY_ASSIGN(std::unique_ptr<Precision> made, (*maker)(section, device));
    if (!config::pluginOf(mode).empty() && made->parameterType() != at::kFloat)
        return Error{ErrorCode::Unsupported, "The number format " + mode + " keeps weights in another type than fp32, and data come in fp32", "precision.mode", {}};
    made->m_why = std::move(why);
    return made;
}

CastScope::CastScope(at::DeviceType device, std::optional<at::ScalarType> type) : m_device(device), m_active(type.has_value()) {
    if (!m_active) return;
    m_wasEnabled = at::autocast::is_autocast_enabled(m_device);
    m_oldType = at::autocast::get_autocast_dtype(m_device);
    at::autocast::set_autocast_enabled(m_device, true);
    at::autocast::set_autocast_dtype(m_device, *type);
    at::autocast::increment_nesting();
}

CastScope::~CastScope() {
    if (!m_active) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(m_device, m_wasEnabled);
    at::autocast::set_autocast_dtype(m_device, m_oldType);
}

}  // namespace lathe::engine
