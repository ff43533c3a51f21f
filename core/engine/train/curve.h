// The learning-rate curve as registered state. A run that is made longer keeps the curve it began with, unless
// schedule.total_updates says otherwise or a new curve is asked for.
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
    /// After a load: what the configuration says now wins, but for a length that it does not name; with `anew` the whole
    /// curve is the one that the configuration makes now. Returns sentences about what changed, with the rate of the
    /// update after `at` before and now.
    std::vector<std::string> reconcile(const config::RunConfig& config, std::optional<GlobalStep> planned, GlobalStep at, bool anew);

    std::string stateName() const override { return "schedule"; }
    StateValues stateValues() const override;
    Result<void> setStateValues(const StateValues& values) override;

private:
    double rateAt(GlobalStep at) const { return m_baseRate * plan::factorAt(m_schedule, at); }

    plan::Schedule m_schedule;
    double m_baseRate = 0;
};

}  // namespace lathe::engine
