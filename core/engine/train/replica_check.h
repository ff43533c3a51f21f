// Replicas must stay equal bit for bit: now and then ranks compare digests of everything that training changes.
#pragma once

#include "base/interval.h"
#include "engine/parallel/parallel.h"
#include "engine/train/hooks.h"
#include "engine/train/train_state.h"
#include "engine/train/triggers.h"

namespace lathe::engine {

/// Data error naming the first tensor or value that differs, and the rank that holds another one than rank 0.
/// Requires: every rank calls it.
Result<void> compareReplicas(Parallel& parallel, const TrainState& state);

/// compareReplicas() after every so many applied updates; a difference ends training.
class ReplicaCheck final : public Hook {
public:
    /// Requires: the interval is in updates (or never), so that all ranks look at the same time.
    ReplicaCheck(Parallel& parallel, const TrainState& state, Interval every) : m_parallel(parallel), m_state(state), m_every(every) {}
    std::string_view hookName() const override { return "replica check"; }
    bool required() const override { return true; }
    void at(const HookContext& context, Wishes& wishes) override;

private:
    Parallel& m_parallel;
    const TrainState& m_state;
    Trigger m_every;
};

}  // namespace lathe::engine
