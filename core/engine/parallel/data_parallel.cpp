#include "engine/parallel/data_parallel.h"

#include "engine/parallel/buckets.h"
#include "engine/parallel/gradient_tree.h"

#include <algorithm>
#include <bit>
#include <map>

namespace lathe::engine {
namespace {

/// Values that travel with their count in one operation; more of them need a second one.
constexpr std::int64_t kSlot = 32;

class DataParallel final : public Parallel {
public:
    DataParallel(const config::ParallelSection& section, const RankPlace& place, std::unique_ptr<RankGroup> group)
        : m_section(section), m_sharing{place.rank, place.world, section.reduction == "tree"}, m_group(std::move(group)) {}

    const plan::Sharing& sharing() const override { return m_sharing; }
    std::string layout() const override {
        if (m_sharing.aligned) return "tree";
        return "ddp " + std::to_string(m_sharing.world) + ", " + m_section.reduction + ", " + m_section.reduceAt;
    }

    void runWindow(FlatStorage& storage, std::size_t microBatches, const MicroStep& step) override {
        if (m_sharing.aligned) return runTree(storage, microBatches, step);
        if (m_section.reduceAt == "micro_step") return runEachStep(storage, microBatches, step);
        Buckets& buckets = bucketsOf(storage);
        const auto share = m_sharing.of(microBatches);
        storage.clearGradients();
        for (std::size_t i = share.begin; i < share.end; ++i) {
            if (i + 1 == share.end) buckets.arm();
            step(i);
        }
        buckets.finish();
    }

    GradientNorm globalNorm(const FlatStorage& storage) override { return normOf(storage); }

    void gather(std::vector<double>& values) override {
        const auto count = static_cast<std::int64_t>(values.size());
        at::Tensor mine = at::zeros({kSlot}, at::kDouble);
        double* slot = mine.mutable_data_ptr<double>();
        slot[0] = static_cast<double>(count);
        std::copy_n(values.begin(), std::min(count, kSlot - 1), slot + 1);
        const at::Tensor first = m_group->gather(mine);
        std::int64_t most = 0;
        for (int rank = 0; rank < m_sharing.world; ++rank) most = std::max(most, countIn(first, rank));
        at::Tensor rest;
        if (most > kSlot - 1) {
            at::Tensor all = at::zeros({most}, at::kDouble);
            std::copy_n(values.begin(), count, all.mutable_data_ptr<double>());
            rest = m_group->gather(all);
        }
        values.clear();
        for (int rank = 0; rank < m_sharing.world; ++rank) {
            const double* from = rest.defined() ? rest.const_data_ptr<double>() + rank * most : first.const_data_ptr<double>() + rank * kSlot + 1;
            values.insert(values.end(), from, from + countIn(first, rank));
        }
    }

    std::vector<at::Tensor> gather(const at::Tensor& mine) override {
        std::vector<double> lengths{static_cast<double>(mine.numel())};
        gather(lengths);
        const auto most = static_cast<std::int64_t>(*std::max_element(lengths.begin(), lengths.end()));
        std::vector<at::Tensor> all(lengths.size(), at::empty({0}, mine.options()));
        if (most == 0) return all;
        at::Tensor padded = at::zeros({most}, mine.options());
        padded.narrow(0, 0, mine.numel()).copy_(mine);
        const at::Tensor values = m_group->gather(padded);
        for (std::size_t rank = 0; rank < lengths.size(); ++rank)
            all[rank] = values.narrow(0, static_cast<std::int64_t>(rank) * most, static_cast<std::int64_t>(lengths[rank]));
        return all;
    }

    std::uint64_t agree(std::uint64_t mine) override {
        const at::Tensor all = m_group->gather(at::full({1}, static_cast<std::int64_t>(mine), at::kLong));
        std::uint64_t agreed = 0;
        for (int rank = 0; rank < m_sharing.world; ++rank) agreed |= static_cast<std::uint64_t>(all.const_data_ptr<std::int64_t>()[rank]);
        return agreed;
    }

    void broadcast(const std::vector<at::Tensor>& tensors) override {
        const at::NoGradGuard noGrad;
        for (const at::Tensor& tensor : tensors) {
            at::Tensor plain = tensor.detach().contiguous();
            m_group->broadcast(plain, 0);
            if (!plain.is_alias_of(tensor)) tensor.detach().copy_(plain);
        }
    }

private:
    static std::int64_t countIn(const at::Tensor& slots, int rank) {
        return static_cast<std::int64_t>(slots.const_data_ptr<double>()[rank * kSlot]);
    }

    Buckets& bucketsOf(FlatStorage& storage) {
        std::unique_ptr<Buckets>& buckets = m_buckets[&storage];
        if (!buckets) buckets = std::make_unique<Buckets>(storage, *m_group, std::int64_t{1} << 20);
        return *buckets;
    }

    void runEachStep(FlatStorage& storage, std::size_t microBatches, const MicroStep& step) {
        Buckets& buckets = bucketsOf(storage);
        const auto share = m_sharing.of(microBatches);
        std::size_t steps = 0;
        for (int rank = 0; rank < m_sharing.world; ++rank) steps = std::max(steps, m_sharing.ofRank(microBatches, rank).count());
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
        const auto share = m_sharing.of(microBatches);
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
        for (int width = 1; width < m_sharing.world; width *= 2) {
            const int peer = m_sharing.rank ^ width;
            const auto hasLeaves = [&](int rank) { return m_sharing.ofRank(microBatches, rank / width * width).count() > 0; };
            const bool mine = hasLeaves(m_sharing.rank), theirs = hasLeaves(peer);
            if (mine && theirs) {
                const at::Tensor other = at::empty_like(arena);
                m_group->exchange(arena, other, peer);
                arena.add_(other);
            } else if (mine) {
                m_group->send(arena, peer);
            } else if (theirs) {
                m_group->receive(arena, peer);
            }
        }
    }

    config::ParallelSection m_section;
    plan::Sharing m_sharing;
    std::unique_ptr<RankGroup> m_group;
    std::map<const FlatStorage*, std::unique_ptr<Buckets>> m_buckets;
    std::map<const FlatStorage*, GradientTree> m_trees;
};

}  // namespace

Result<std::unique_ptr<Parallel>> makeParallel(const config::ParallelSection& section, const RankPlace& place) {
    if (place.world == 1) return makeSingleProcess(section.reduction == "tree");
    if (section.reduction == "tree" && !std::has_single_bit(static_cast<unsigned>(place.world)))
        return Error{ErrorCode::Config, "The reduction tree needs 2, 4, 8 … ranks, not " + std::to_string(place.world), "parallel.reduction", {}};
    LATHE_TRY_ASSIGN(std::unique_ptr<RankGroup> group, RankGroup::connect(place));
    return std::unique_ptr<Parallel>(std::make_unique<DataParallel>(section, place, std::move(group)));
}

}  // namespace lathe::engine
