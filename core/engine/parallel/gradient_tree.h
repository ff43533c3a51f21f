// Sums of micro-gradients in the order of a binary tree over the micro-batches of a window: 0 + 1, 2 + 3, then those two
// sums, and so on; an absent leaf passes its sibling through. Ranks that own aligned blocks of a power of two each compute
// one subtree, so that 1, 2 and 4 ranks give the same bits.
// Thread: one thread at a time.
#pragma once

#include <torch/types.h>

#include <vector>

namespace lathe::engine {

class GradientTree {
public:
    /// Begins a window: forgets leaves of one that was broken off.
    void clear();
    /// Takes the gradient of the next leaf out of the arenas; they are free for the next one afterwards.
    void add(std::vector<at::Tensor> arenas);
    /// The sum of all leaves into the arenas; forgets them. Arenas without leaves are left as they are.
    void finish(std::vector<at::Tensor> arenas);

private:
    struct Level {
        std::vector<at::Tensor> sums;   ///< kept from window to window: no step allocates
        bool isFull = false;
    };
    std::vector<Level> m_levels;        ///< level k: a sum of 2^k leaves that waits for its right sibling
};

}  // namespace lathe::engine
