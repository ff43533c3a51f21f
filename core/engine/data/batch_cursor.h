// Walks the plan micro-batch by micro-batch. Thread: one thread at a time.
#pragma once

#include "plan/order.h"

namespace lathe::engine {

/// Where a micro-batch lies in its epoch's order, and the position after it.
struct BatchPlace {
    Epoch epoch;
    std::int64_t begin = 0, end = 0;  ///< plan entries
    Epoch nextEpoch;
    PlanEntry nextEntry;
};

class BatchCursor {
public:
    explicit BatchCursor(plan::OrderShape shape) : m_shape(shape) { seek(Epoch{}, PlanEntry{}); }
    void seek(Epoch epoch, PlanEntry entry);
    /// The micro-batch at the position.
    BatchPlace current() const;
    void advance();

private:
    plan::OrderShape m_shape;
    plan::Window m_window;
    std::size_t m_index = 0;  ///< of the micro-batch within the window
};

}  // namespace lathe::engine
