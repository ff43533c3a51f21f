// Accumulation: which micro-batches make an update. A rule says when the window that is being filled is full; those that are
// built in and those of plug-ins stand in one table.
// Thread: built-in rules any number of threads, as nothing in them changes; those of plug-ins the training thread alone.
#pragma once

#include "base/kinds.h"
#include "base/result.h"
#include "config/sections.h"
#include "plan/order.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace lathe::plan {

/// A window while it is filled, after its newest micro-batch.
class OpenWindow {
public:
    OpenWindow(const OrderShape& shape, Epoch inEpoch, std::int64_t begin, UpdateAttempt after) : epoch(inEpoch), attempt(after), m_shape(shape), m_begin(begin) {}
    /// Σ over its samples: their own weights, bytes of text that are learned from, or 1 each.
    double weight() const { return m_shape.weights ? m_shape.weights->sum(epoch, m_begin, m_begin + samples) : m_shape.sampleWeight * static_cast<double>(samples); }

    const Epoch epoch;
    const UpdateAttempt attempt;     ///< windows of the run before it
    std::int64_t microBatches = 0, samples = 0;
    bool endsEpoch = false;          ///< nothing is left of the epoch: the window ends, full or not

private:
    const OrderShape& m_shape;
    const std::int64_t m_begin;
};

/// What became of a window. The same on every rank.
struct WindowOutcome {
    bool applied = false;            ///< else its update was skipped
    double loss = 0, gradNorm = 0, weight = 0;
};

/// Small values that are kept with a checkpoint, by name.
using AccumulationState = std::map<std::string, std::string>;

class Accumulation {
public:
    virtual ~Accumulation() = default;
    /// Asked after each micro-batch, any number of times for the same window; a function of its argument and of state().
    virtual bool isFull(const OpenWindow& window) const = 0;
    /// After each attempt at an update, in order: the only place where a rule may change.
    virtual void settle(const WindowOutcome&) {}
    /// All that settle() changes. Given back before a run goes on; setState() throws, with a sentence, for what it cannot use.
    virtual AccumulationState state() const { return {}; }
    virtual void setState(const AccumulationState&) {}
    /// Micro-batches that the window after `attempt` others will hold where each one weighs `weight` (0: they differ); 0: it
    /// shows when the window is filled. Spares whoever foretells the length of a run the filling.
    virtual std::int64_t foretold(UpdateAttempt /*attempt*/, double /*weight*/) const { return 0; }
};

struct AccumulationKind {
    std::function<std::string(const config::RunConfig& config)> words;   ///< what a window holds, for `explain`
    std::function<Result<std::shared_ptr<Accumulation>>(const config::AccumulationSection& section)> make;
};
/// All rules by name. A built-in one is a line in accumulation.cpp.
Kinds<AccumulationKind>& accumulationKinds();

/// Config error that lists the rules where there is none of that name.
Result<std::shared_ptr<Accumulation>> makeAccumulation(const config::AccumulationSection& section);

}  // namespace lathe::plan
