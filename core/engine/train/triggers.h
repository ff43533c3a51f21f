// When interval events are due, what the best evaluation is, and when patience has run out: small state of the loop that
// must survive a resume. Knows no LibTorch beyond the registry it is saved through.
#pragma once

#include "base/counters.h"
#include "base/interval.h"
#include "config/metrics.h"
#include "engine/task/task.h"
#include "engine/train/hooks.h"
#include "engine/train/train_state.h"

namespace lathe::engine {

/// Fires at most once for each count of its interval. Asked after applied updates only.
class Trigger {
public:
    explicit Trigger(Interval interval) : m_interval(interval) {}
    /// Whether it is due at these counters; true moves it on.
    bool due(const Counters& counters, double activeSeconds);
    std::int64_t epochsSeen() const { return m_epochs; }
    void setEpochsSeen(std::int64_t epochs) { m_epochs = epochs; }
    /// The next "every 10 min" counts from here.
    void restartClock(double activeSeconds) { m_seconds = activeSeconds; }
    /// For how long it has been running; 0 where it does not count seconds.
    double runningFor(double activeSeconds) const { return m_interval.unit == Interval::Unit::Seconds ? activeSeconds - m_seconds : 0; }

private:
    Interval m_interval;
    std::int64_t m_epochs = 0;   ///< epochs completed when it last fired
    double m_seconds = 0;
};

/// The metric has no value for these data, though the loss has (AUC of one class): nothing is best, better or worse by it.
bool isUndefined(const Metrics& metrics, const std::string& metric);

/// Best value and early stopping.
class BestValue final : public Stateful {
public:
    /// Config error listing the metrics when the name is not among them.
    static Result<BestValue> make(const config::EvaluationSection& section, const std::vector<config::Metric>& metrics);

    /// Takes one evaluation; true when it is the best so far. Of equal values the one with the lower loss is. Patience is
    /// for gains: it begins anew when the value is better than it last was at such a moment, by more than min_delta.
    bool take(const Metrics& metrics, GlobalStep step);
    bool patienceUsedUp() const { return m_patience && m_stale >= *m_patience; }
    std::string sentence() const;   ///< "No better accuracy than 0.98 (update 400) in 3 evaluations"

    const std::string& metric() const { return m_metric; }
    /// After a load: forgets a best value that belongs to another metric or direction; true when it did.
    bool dropForeign();
    bool higherIsBetter() const { return m_higherIsBetter; }
    std::optional<double> value() const { return m_value; }
    GlobalStep step() const { return m_step; }

    std::string stateName() const override { return "best"; }
    StateValues stateValues() const override;
    Result<void> setStateValues(const StateValues& values) override;

private:
    std::string m_metric;
    bool m_higherIsBetter = false;
    std::string m_savedMetric;       ///< "accuracy max" as it was when the value was saved
    double m_minDelta = 0;
    std::optional<std::int64_t> m_patience;
    std::optional<double> m_value, m_loss;   ///< and the loss of that evaluation
    std::optional<double> m_mark;            ///< the value when patience last began anew
    GlobalStep m_step;
    std::int64_t m_stale = 0;

    std::string chosenMetric() const { return m_metric + (m_higherIsBetter ? " max" : " min"); }
};

}  // namespace lathe::engine
