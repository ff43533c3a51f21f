#include "engine/parallel/gradient_tree.h"
#include "engine/parallel/norm_kernel.h"
#include "engine/parallel/parallel.h"

#include <cmath>
#include <map>
#include <vector>

namespace lathe::engine {
namespace {

double squares(const at::Tensor& gradient) {
    if (gradient.scalar_type() == at::kDouble) return sumOfSquares(gradient.const_data_ptr<double>(), gradient.numel());
    return sumOfSquares(gradient.const_data_ptr<float>(), gradient.numel());
}

class SingleProcess final : public Parallel {
public:
    explicit SingleProcess(bool sumsByTree) : m_sumsByTree(sumsByTree) {}
    const plan::Sharing& sharing() const override { return m_sharing; }
    std::string layout() const override { return m_sumsByTree ? "tree" : "single"; }

    void runWindow(FlatStorage& storage, std::size_t microBatches, const MicroStep& step) override {
        storage.clearGradients();
        GradientTree* const tree = m_sumsByTree && microBatches > 1 ? &m_trees[&storage] : nullptr;
        if (tree) tree->clear();
        for (std::size_t i = 0; i < microBatches; ++i) {
            step(i);
            if (!tree) continue;
            tree->add(storage.gradientArenas());
            storage.clearGradients();
        }
        if (tree) tree->finish(storage.gradientArenas());
    }
    GradientNorm globalNorm(const FlatStorage& storage) override { return normOf(storage); }
    void gather(std::vector<double>&) override {}
    std::vector<at::Tensor> gather(const at::Tensor& mine) override { return {mine}; }
    std::uint64_t agree(std::uint64_t mine) override { return mine; }
    void broadcast(const std::vector<at::Tensor>&) override {}

private:
    plan::Sharing m_sharing;
    bool m_sumsByTree;
    std::map<const FlatStorage*, GradientTree> m_trees;
};

}  // namespace

/// From another device in one read.
std::vector<double> squaresByParameter(const FlatStorage& storage) {
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

GradientNorm normOf(const FlatStorage& storage) {
    GradientNorm norm;
    double total = 0;
    const std::vector<double> sums = squaresByParameter(storage);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        if (!std::isfinite(sums[i]) && norm.notFinite.empty()) norm.notFinite = storage.views()[i].parameter;
        total += sums[i];
    }
    norm.value = std::sqrt(total);
    return norm;
}

std::vector<std::string> gatherTexts(Parallel& parallel, const std::string& mine) {
    const at::Tensor bytes = at::from_blob(const_cast<char*>(mine.data()), {static_cast<std::int64_t>(mine.size())}, at::kByte);
    std::vector<std::string> texts;
    for (const at::Tensor& part : parallel.gather(bytes.clone()))
        texts.emplace_back(reinterpret_cast<const char*>(part.const_data_ptr<std::uint8_t>()), static_cast<std::size_t>(part.numel()));
    return texts;
}

std::unique_ptr<Parallel> makeSingleProcess(bool sumsByTree) { return std::make_unique<SingleProcess>(sumsByTree); }

}  // namespace lathe::engine
