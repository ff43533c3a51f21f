#include "engine/train/statistics.h"

namespace lathe::engine {
namespace {

/// Where a block keeps its statistics.
at::Device deviceOf(Block& block) { return block.buffers().empty() ? at::Device(at::kCPU) : block.buffers().front().tensor.device(); }

std::int64_t lengthOf(const at::Tensor& tensor) { return tensor.defined() ? tensor.numel() : 0; }

}  // namespace

void gatherStatistics(Parallel& parallel, Model& model, std::vector<StatisticsUpdate>& statistics) {
    constexpr std::size_t kFacts = 5;   // block, place, lengths of mean and variance, whether they are fp64
    std::vector<double> facts;
    std::vector<at::Tensor> values;
    for (const StatisticsUpdate& update : statistics) {
        for (const double fact : {static_cast<double>(update.block->index()), static_cast<double>(update.place),
                                  static_cast<double>(lengthOf(update.mean)), static_cast<double>(lengthOf(update.variance)),
                                  update.mean.scalar_type() == at::kDouble ? 1.0 : 0.0})
            facts.push_back(fact);
        for (const at::Tensor& tensor : {update.mean, update.variance})
            if (tensor.defined()) values.push_back(tensor.detach().flatten().to(at::kDouble));
    }
    const std::vector<at::Tensor> all = parallel.gather(values.empty() ? at::empty({0}, at::kDouble) : at::cat(values).cpu());
    parallel.gather(facts);
    const at::Tensor joined = at::cat(all);
    statistics.clear();
    std::int64_t place = 0;
    const auto taken = [&](at::Device device, double length, bool isDouble) {
        const auto count = static_cast<std::int64_t>(length);
        const at::Tensor part = joined.narrow(0, place, count).to(device, isDouble ? at::kDouble : at::kFloat);
        place += count;
        return part;
    };
    for (std::size_t i = 0; i + kFacts <= facts.size(); i += kFacts) {
        StatisticsUpdate update{model.blocks().at(static_cast<std::size_t>(facts[i])).get(), static_cast<std::size_t>(facts[i + 1]), {}, {}};
        const at::Device device = deviceOf(*update.block);
        update.mean = taken(device, facts[i + 2], facts[i + 4] > 0);
        if (facts[i + 3] > 0) update.variance = taken(device, facts[i + 3], facts[i + 4] > 0);
        statistics.push_back(std::move(update));
    }
}

}  // namespace lathe::engine
