// Where the loop stands, as registered state: the counters, and the small facts that decide what happens next.
#pragma once

#include "base/counters.h"
#include "engine/train/train_state.h"

namespace lathe::engine {

class Progress final : public Stateful {
public:
    Counters counters;
    std::int64_t skippedInARow = 0;
    std::int64_t evaluatedEpochs = 0, savedEpochs = 0;   ///< epochs completed when the triggers last fired
    GlobalStep evaluatedStep{-1};                        ///< of the newest evaluation
    std::map<std::string, double> metrics;               ///< what it gave
    bool evaluationPending = false;                      ///< one was due at this step and did not finish

    std::string stateName() const override { return "progress"; }
    StateValues stateValues() const override;
    Result<void> setStateValues(const StateValues& values) override;
};

/// How long each interval in seconds has been running when the session began; from then on the session's clock counts. What
/// one rank's clock says, and so no part of the trajectory.
class RunningIntervals final : public Stateful {
public:
    double evaluation = 0, norms = 0, histograms = 0;   ///< active seconds since they last fired

    std::string stateName() const override { return "intervals"; }
    Scope scope() const override { return Scope::Run; }
    bool isOptional() const override { return true; }
    StateValues stateValues() const override;
    Result<void> setStateValues(const StateValues& values) override;
};

}  // namespace lathe::engine
