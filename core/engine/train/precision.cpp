#include "engine/train/precision.h"

#include "base/number_text.h"

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

}  // namespace

std::string Precision::verdict(double loss, const GradientNorm& norm) const {
    if (!std::isfinite(loss)) return "the loss is " + exactText(loss);
    if (!norm.notFinite.empty()) return "the gradient of " + norm.notFinite + " is not finite";
    if (!std::isfinite(norm.value)) return "the gradient norm is " + exactText(norm.value);
    return {};
}

Result<std::unique_ptr<Precision>> makePrecision(const config::PrecisionSection& section) {
    if (section.mode == "fp32") return std::unique_ptr<Precision>(std::make_unique<OneType>("fp32", at::kFloat));
    if (section.mode == "fp64") return std::unique_ptr<Precision>(std::make_unique<OneType>("fp64", at::kDouble));
    return Error{ErrorCode::Config, "Precision “" + section.mode + "” is not known; use fp32 or fp64", "precision.mode", {}};
}

}  // namespace lathe::engine
