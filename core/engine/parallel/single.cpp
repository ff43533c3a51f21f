#include "engine/parallel/norm_kernel.h"
#include "engine/parallel/parallel.h"

#include <cmath>
#include <vector>

namespace lathe::engine {
namespace {

double squares(const at::Tensor& gradient) {
    if (gradient.scalar_type() == at::kDouble) return sumOfSquares(gradient.const_data_ptr<double>(), gradient.numel());
    return sumOfSquares(gradient.const_data_ptr<float>(), gradient.numel());
}

/// Sums of squares by parameter; from another device in one read.
std::vector<double> allSquares(const FlatStorage& storage) {
    std::vector<double> sums;
    std::vector<at::Tensor> onDevice;
    for (const ShardView& view : storage.views()) {
        if (view.gradient.is_cpu()) sums.push_back(squares(view.gradient));
        else onDevice.push_back(view.gradient.to(at::kDouble).square().sum());
    }
    if (onDevice.empty()) return sums;
    const at::Tensor values = at::stack(onDevice).cpu();
    return {values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel()};
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
        const std::vector<double> sums = allSquares(storage);
        for (std::size_t i = 0; i < sums.size(); ++i) {
            if (!std::isfinite(sums[i]) && norm.notFinite.empty()) norm.notFinite = storage.views()[i].parameter;
            total += sums[i];
        }
        norm.value = std::sqrt(total);
        return norm;
    }
};

}  // namespace

std::unique_ptr<Parallel> makeSingleProcess() { return std::make_unique<SingleProcess>(); }

}  // namespace lathe::engine
