// The learning-rate curve as registered state. A run that is made longer keeps the curve it began with, unless
// schedule.total_updates says otherwise.
#pragma once

#include "config/sections.h"
#include "engine/train/train_state.h"
#include "plan/schedule.h"

#include <optional>

namespace lathe::engine {

class Curve final : public Stateful {
public:
    /// `planned`: updates of the run, nothing when it has no end. Config error when the curve needs a length and has none.
    static Result<Curve> make(const config::RunConfig& config, std::optional<GlobalStep> planned);

    const plan::Schedule& schedule() const { return m_schedule; }
    double baseRate() const { return m_baseRate; }
    /// After a load: what the configuration says now wins, but for a length that it does not name. Returns sentences
    /// about what changed.
    std::vector<std::string> reconcile(const config::RunConfig& config, std::optional<GlobalStep> planned);

    std::string stateName() const override { return "schedule"; }
    StateValues stateValues() const override;
    Result<void> setStateValues(const StateValues& values) override;

private:
    plan::Schedule m_schedule;
    double m_baseRate = 0;
};

}  // namespace lathe::engine
