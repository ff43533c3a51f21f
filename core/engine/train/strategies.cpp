#include "engine/train/strategies.h"

#include "base/number_text.h"

#include <cmath>

namespace lathe::engine {
namespace {

class OneType final : public Precision {
public:
    OneType(std::string name, at::ScalarType dtype) : m_name(std::move(name)), m_dtype(dtype) {}
    std::string name() const override { return m_name; }
    at::ScalarType dtype() const override { return m_dtype; }

    std::string verdict(double loss, const GradientNorm& norm) const override {
        if (!std::isfinite(loss)) return "the loss is " + exactText(loss);
        if (!norm.notFinite.empty()) return "the gradient of " + norm.notFinite + " is not finite";
        if (!std::isfinite(norm.value)) return "the gradient norm is " + exactText(norm.value);
        return {};
    }

private:
    std::string m_name;
    at::ScalarType m_dtype;
};

}  // namespace

Result<std::unique_ptr<Precision>> makePrecision(const config::PrecisionSection& section) {
    if (section.mode == "fp32") return std::unique_ptr<Precision>(std::make_unique<OneType>("fp32", at::kFloat));
    if (section.mode == "fp64") return std::unique_ptr<Precision>(std::make_unique<OneType>("fp64", at::kDouble));
    return Error{ErrorCode::Config, "Precision “" + section.mode + "” is not known; use fp32 or fp64", "precision.mode", {}};
}

}  // namespace lathe::engine
