#include "engine/parallel/gradient_tree.h"

namespace lathe::engine {

void GradientTree::clear() {
    for (Level& level : m_levels) level.isFull = false;
}

// Sums of two are the same bits in either order, so the right one may be added to in place.
void GradientTree::add(std::vector<at::Tensor> arenas) {
    const at::NoGradGuard noGrad;
    for (std::size_t k = 0;; ++k) {
        if (k == m_levels.size()) {
            m_levels.emplace_back();
            for (const at::Tensor& arena : arenas) m_levels.back().sums.push_back(at::empty_like(arena));
        }
        Level& level = m_levels[k];
        level.isFull = !level.isFull;
        for (std::size_t i = 0; i < arenas.size(); ++i) {
            if (level.isFull) level.sums[i].copy_(arenas[i]);
            else arenas[i].add_(level.sums[i]);
        }
        if (level.isFull) return;
    }
}

void GradientTree::finish(std::vector<at::Tensor> arenas) {
    const at::NoGradGuard noGrad;
    bool isFirst = true;
    for (Level& level : m_levels) {
        if (!level.isFull) continue;
        for (std::size_t i = 0; i < arenas.size(); ++i) {
            if (isFirst) arenas[i].copy_(level.sums[i]);
            else arenas[i].add_(level.sums[i]);
        }
        level.isFull = isFirst = false;
    }
}

}  // namespace lathe::engine
