// The learning rate as registered state: its curve, and what the plateau schedule remembers. A run that is made longer
// keeps the curve it began with, unless schedule.total_updates says otherwise or a new curve is asked for.
// Thread: one thread at a time.
#pragma once

#include "config/metrics.h"
#include "config/sections.h"
#include "engine/train/hooks.h"
#include "engine/train/train_state.h"
#include "plan/schedule.h"

#include <optional>

namespace lathe::engine {

class Curve final : public Stateful {
public:
    /// `planned`: updates of the run, nothing when it has no end; `metric`: what the plateau schedule watches. Config
    /// error when the curve needs a length and has none.
    static Result<Curve> make(const config::RunConfig& config, std::optional<GlobalStep> planned, config::Metric metric = {"loss", false});
    static Curve constant(double rate);
    Curve(config::ScheduleSection schedule, double baseRate) : m_schedule(std::move(schedule)), m_baseRate(baseRate) {}

    const config::ScheduleSection& schedule() const { return m_schedule; }
    double baseRate() const { return m_baseRate; }
    /// Part of the base rate for the update after `at` applied ones, and the rate itself.
    double factorAt(GlobalStep at) const { return m_plateau.scale * plan::factorAt(m_schedule, at); }
    double rateAt(GlobalStep at) const { return m_baseRate * factorAt(at); }

    /// Takes the evaluation after `at` applied updates, for the plateau schedule. A sentence when it cut the rate.
    std::string take(const Metrics& metrics, GlobalStep at);

    /// After a load: what the configuration says now wins, but for a length that it does not name; with `anew` the whole
    /// curve is the one that the configuration makes now. Returns sentences about what changed, with the rate of the
    /// update after `at` before and now.
    std::vector<std::string> reconcile(const config::RunConfig& config, std::optional<GlobalStep> planned, GlobalStep at, bool anew);

    std::string stateName() const override { return "schedule"; }
    StateValues stateValues() const override;
    Result<void> setStateValues(const StateValues& values) override;

private:
    bool watches() const { return m_schedule.name == "plateau"; }
    std::string watched() const { return m_metric.name + (m_metric.higherIsBetter ? " max" : " min"); }

    config::ScheduleSection m_schedule;   ///< with its length
    double m_baseRate = 0;
    config::Metric m_metric{"loss", false};
    double m_minDelta = 0;
    plan::Plateau m_plateau;              ///< as it begins, unless the schedule is plateau
    std::string m_savedMetric = "loss min";   ///< what m_plateau has watched
};

}  // namespace lathe::engine
