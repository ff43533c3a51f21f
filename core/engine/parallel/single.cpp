#include "engine/parallel/norm_kernel.h"
#include "engine/parallel/parallel.h"

#include <cmath>

namespace lathe::engine {
namespace {

double squares(const at::Tensor& gradient) {
    if (!gradient.is_cpu()) return gradient.to(at::kDouble).square().sum().item<double>();
    if (gradient.scalar_type() == at::kDouble) return sumOfSquares(gradient.const_data_ptr<double>(), gradient.numel());
    return sumOfSquares(gradient.const_data_ptr<float>(), gradient.numel());
}

class SingleProcess final : public Parallel {
public:
    int rank() const override { return 0; }
    int world() const override { return 1; }
    std::string layout() const override { return "single"; }

    void runWindow(std::size_t microBatches, const MicroStep& step) override {
        for (std::size_t i = 0; i < microBatches; ++i) step(i, i + 1 == microBatches);
    }
    void reduce(FlatStorage&) override {}
    double sum(double mine) override { return mine; }
    bool any(bool mine) override { return mine; }

    GradientNorm globalNorm(const FlatStorage& storage) override {
        GradientNorm norm;
        double total = 0;
        for (const ShardView& view : storage.views()) {
            const double part = squares(view.gradient);
            if (!std::isfinite(part) && norm.notFinite.empty()) norm.notFinite = view.parameter;
            total += part;
        }
        norm.value = std::sqrt(total);
        return norm;
    }
};

}  // namespace

std::unique_ptr<Parallel> makeSingleProcess() { return std::make_unique<SingleProcess>(); }

}  // namespace lathe::engine
