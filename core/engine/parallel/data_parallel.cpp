#include "engine/parallel/data_parallel.h"

#include "engine/parallel/buckets.h"
#include "engine/parallel/gradient_tree.h"
#include "engine/parallel/group_parallel.h"

#include <algorithm>
#include <bit>
#include <map>

namespace lathe::engine {
namespace {

class DataParallel final : public GroupParallel {
public:
    DataParallel(const config::ParallelSection& section, const RankPlace& place, std::unique_ptr<RankGroup> group)
        : GroupParallel(place, std::move(group), section.reduction == "tree"), m_section(section) {}

    std::string layout() const override {
        if (sharing().aligned) return "tree";
        return "ddp " + std::to_string(world()) + ", " + m_section.reduction + ", " + m_section.reduceAt;
    }

    void runWindow(FlatStorage& storage, std::size_t microBatches, const MicroStep& step) override {
        if (sharing().aligned) return runTree(storage, microBatches, step);
        if (m_section.reduceAt == "micro_step") return runEachStep(storage, microBatches, step);
        Buckets& buckets = bucketsOf(storage);
        const auto share = sharing().of(microBatches);
        storage.clearGradients();
        for (std::size_t i = share.begin; i < share.end; ++i) {
            if (i + 1 == share.end) buckets.arm();
            step(i);
        }
        buckets.finish();
    }

private:
    Buckets& bucketsOf(FlatStorage& storage) {
        std::unique_ptr<Buckets>& buckets = m_buckets[&storage];
        if (!buckets) buckets = std::make_unique<Buckets>(storage, group(), std::int64_t{1} << 20);
        return *buckets;
    }

    void runEachStep(FlatStorage& storage, std::size_t microBatches, const MicroStep& step) {
        Buckets& buckets = bucketsOf(storage);
        const auto share = sharing().of(microBatches);
        std::size_t steps = 0;
        for (int rank = 0; rank < world(); ++rank) steps = std::max(steps, sharing().ofRank(microBatches, rank).count());
        std::vector<at::Tensor> sums;
        for (std::size_t i = 0; i < steps; ++i) {
            storage.clearGradients();
            buckets.arm();
            if (i < share.count()) step(share.begin + i);
            buckets.finish();
            for (std::size_t k = 0; k < storage.gradientArenas().size(); ++k) {
                if (i == 0) sums.push_back(storage.gradientArenas()[k].clone());
                else sums[k].add_(storage.gradientArenas()[k]);
            }
        }
        for (std::size_t k = 0; k < sums.size(); ++k) at::Tensor(storage.gradientArenas()[k]).copy_(sums[k]);
    }

    void runTree(FlatStorage& storage, std::size_t microBatches, const MicroStep& step) {
        const auto share = sharing().of(microBatches);
        GradientTree& tree = m_trees[&storage];
        tree.clear();
        storage.clearGradients();
        for (std::size_t i = share.begin; i < share.end; ++i) {
            step(i);
            tree.add(storage.gradientArenas());
            storage.clearGradients();
        }
        tree.finish(storage.gradientArenas());
        for (const at::Tensor& arena : storage.gradientArenas()) joinSubtrees(arena, microBatches);
    }

    /// Recursive doubling: blocks of `width` ranks have one sum; neighbouring blocks add theirs, left and right alike.
    void joinSubtrees(at::Tensor arena, std::size_t microBatches) {
        const at::NoGradGuard noGrad;
        for (int width = 1; width < world(); width *= 2) {
            const int peer = rank() ^ width;
            const auto hasLeaves = [&](int rank) { return sharing().ofRank(microBatches, rank / width * width).count() > 0; };
            const bool mine = hasLeaves(rank()), theirs = hasLeaves(peer);
            if (mine && theirs) {
                const at::Tensor other = at::empty_like(arena);
                group().exchange(arena, other, peer);
                arena.add_(other);
            } else if (mine) {
                group().send(arena, peer);
            } else if (theirs) {
                group().receive(arena, peer);
            }
        }
    }

    config::ParallelSection m_section;
    std::map<const FlatStorage*, std::unique_ptr<Buckets>> m_buckets;
    std::map<const FlatStorage*, GradientTree> m_trees;
};

Result<std::unique_ptr<Parallel>> makeDataParallel(const config::ParallelSection& section, const RankPlace& place) {
    if (place.world == 1) return makeSingleProcess(section.reduction == "tree");
    LATHE_TRY_ASSIGN(std::unique_ptr<RankGroup> group, RankGroup::connect(place));
    return std::unique_ptr<Parallel>(std::make_unique<DataParallel>(section, place, std::move(group)));
}

Result<std::unique_ptr<Parallel>> makeSingle(const config::ParallelSection& section, const RankPlace& place) {
    LATHE_ASSERT(place.world == 1);
    return makeSingleProcess(section.reduction == "tree");
}

std::string nameOf(const config::ParallelSection& section, int world) { return section.strategy != "auto" ? section.strategy : world == 1 ? "single" : "ddp"; }

}  // namespace

Kinds<ParallelMaker>& parallelKinds() {
    static Kinds<ParallelMaker> kinds{{{"single", makeSingle}, {"ddp", makeDataParallel}}};
    return kinds;
}

Result<void> checkParallel(const config::ParallelSection& section, int world) {
    const std::string name = nameOf(section, world);
    if (!parallelKinds().find(name)) return Error{ErrorCode::Config, "There is no parallel strategy \"" + name + "\"; there are auto, " + parallelKinds().names(), "parallel.strategy", {}};
    if (name == "single" && world > 1) return Error{ErrorCode::Config, "single is one process, and there are " + std::to_string(world) + " ranks", "parallel.strategy", {}};
    if (name == "ddp" && world > 1 && section.reduction == "tree" && !std::has_single_bit(static_cast<unsigned>(world)))
        return Error{ErrorCode::Config, "The reduction tree needs 2, 4, 8 … ranks, not " + std::to_string(world), "parallel.reduction", {}};
    return {};
}

Result<std::unique_ptr<Parallel>> makeParallel(const config::ParallelSection& section, const RankPlace& place) {
    LATHE_TRY(checkParallel(section, place.world));
    return (*parallelKinds().find(nameOf(section, place.world)))(section, place);
}

}  // namespace lathe::engine
