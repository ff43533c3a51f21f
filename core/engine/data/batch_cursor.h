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
    static constexpr PlanEntry kNowhere{-1};

    BatchCursor(plan::OrderShape shape, plan::Sharing sharing) : m_shape(std::move(shape)), m_sharing(sharing) { seek(Epoch{}, PlanEntry{}, UpdateAttempt{}); }
    /// From the next seek() on micro-batches are cut as plan::limited says; 0: they are not.
    void limit(std::int64_t most) { m_most = most; }
    /// Stands at this rank's first micro-batch of the window that begins there; with a limit `entry` may also be a later part
    /// of its first micro-batch.
    void seek(Epoch epoch, PlanEntry entry, UpdateAttempt attempt);
    /// Place of the micro-batch that comes next. While idle no place is: the entry is kNowhere.
    Epoch epoch() const { return m_window.epoch; }
    PlanEntry entry() const { return m_idle ? kNowhere : PlanEntry(m_window.microBatches[m_index].begin); }
    /// The micro-batch at the position; moves on. Requires: !isIdle().
    BatchPlace take();
    /// This rank has no share in a whole epoch of windows from here on: they have fewer micro-batches than ranks. Windows that
    /// grow may have one for it later; seek() to such a window goes on there.
    bool isIdle() const { return m_idle; }

private:
    void skipForeign();
    plan::Window windowAt(Epoch epoch, PlanEntry entry, UpdateAttempt attempt) const { return plan::limited(plan::windowAt(m_shape, epoch, entry, attempt), m_most); }

    std::int64_t m_most = 0;
    plan::OrderShape m_shape;
    plan::Sharing m_sharing;
    plan::Window m_window;
    std::size_t m_index = 0;  ///< of the micro-batch within the window
    bool m_idle = false;
};

}  // namespace lathe::engine
