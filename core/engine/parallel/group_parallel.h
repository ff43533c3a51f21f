// What strategies have in common whose ranks talk through a RankGroup: everything but how a window's gradients are summed.
// One that sums in its own way adds layout() and runWindow().
// Thread: one thread at a time.
#pragma once

#include "engine/parallel/parallel.h"
#include "engine/parallel/rank_group.h"

namespace lathe::engine {

class GroupParallel : public Parallel {
public:
    const plan::Sharing& sharing() const override { return m_sharing; }
    GradientNorm globalNorm(const FlatStorage& storage) override { return normOf(storage); }
    void gather(std::vector<double>& values) override;
    std::vector<at::Tensor> gather(const at::Tensor& mine) override;
    std::uint64_t agree(std::uint64_t mine) override;
    void broadcast(const std::vector<at::Tensor>& tensors) override;

protected:
    /// `group` from RankGroup::connect(place); null: one rank. `aligned`: as in plan::Sharing.
    GroupParallel(const RankPlace& place, std::unique_ptr<RankGroup> group, bool aligned = false)
        : m_sharing{place.rank, place.world, aligned}, m_group(std::move(group)) { LATHE_ASSERT(m_group || place.world == 1); }
    /// Requires: several ranks.
    RankGroup& group() { return *m_group; }

private:
    plan::Sharing m_sharing;
    std::unique_ptr<RankGroup> m_group;
};

}  // namespace lathe::engine
