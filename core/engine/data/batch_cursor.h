// Walks the plan micro-batch by micro-batch, over those that one rank runs. Thread: one thread at a time.
#pragma once

#include "plan/order.h"

namespace lathe::engine {

/// Where a micro-batch lies in its epoch's order, and where the next one of this rank begins.
struct BatchPlace {
    Epoch epoch;
    std::int64_t begin = 0, end = 0;  ///< plan entries
    Epoch nextEpoch;
    PlanEntry nextEntry;
};

class BatchCursor {
public:
    BatchCursor(plan::OrderShape shape, plan::Sharing sharing) : m_shape(std::move(shape)), m_sharing(sharing) { seek(Epoch{}, PlanEntry{}, UpdateAttempt{}); }
    /// Stands at this rank's first micro-batch of the window that begins there.
    void seek(Epoch epoch, PlanEntry entry, UpdateAttempt attempt);
    /// Place of the micro-batch that comes next.
    Epoch epoch() const { return m_window.epoch; }
    PlanEntry entry() const { return PlanEntry(m_window.microBatches[m_index].begin); }
    /// The micro-batch at the position; moves on. Requires: !isIdle().
    BatchPlace take();
    /// This rank's share of the coming windows is empty: there are fewer micro-batches than ranks.
    bool isIdle() const { return m_idle; }

private:
    void skipForeign();

    plan::OrderShape m_shape;
    plan::Sharing m_sharing;
    plan::Window m_window;
    std::size_t m_index = 0;  ///< of the micro-batch within the window
    bool m_idle = false;
};

}  // namespace lathe::engine
