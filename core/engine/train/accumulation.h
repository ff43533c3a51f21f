// Accumulation: which micro-batches make an update. The arithmetic is core/plan's, so that form and supervisor say the same.
// Thread: immutable.
#pragma once

#include "plan/order.h"

namespace lathe::engine {

class Accumulation {
public:
    virtual ~Accumulation() = default;
    /// The window that starts where the counters stand; a function of epoch, plan entry and update attempts alone.
    virtual plan::Window windowAt(const Counters& counters) const = 0;
};

/// As the shape says: a fixed number of micro-batches, a number that grows, or as many as hold a given weight.
class PlannedAccumulation final : public Accumulation {
public:
    explicit PlannedAccumulation(plan::OrderShape shape) : m_shape(std::move(shape)) {}
    plan::Window windowAt(const Counters& counters) const override {
        return plan::windowAt(m_shape, counters.epoch, counters.planEntry, counters.updateAttempts);
    }

private:
    plan::OrderShape m_shape;
};

}  // namespace lathe::engine
