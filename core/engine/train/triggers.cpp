#include "engine/train/triggers.h"

#include "base/number_text.h"

#include <cmath>

namespace lathe::engine {

bool Trigger::due(const Counters& counters, double activeSeconds) {
    switch (m_interval.unit) {
    case Interval::Unit::Never: return false;
    case Interval::Unit::Updates: return counters.globalStep.value() % m_interval.count == 0;
    case Interval::Unit::Epochs:
        if (counters.epoch.value() / m_interval.count <= m_epochs / m_interval.count) return false;
        m_epochs = counters.epoch.value();
        return true;
    case Interval::Unit::Seconds:
        if (activeSeconds - m_seconds < static_cast<double>(m_interval.count)) return false;
        m_seconds = activeSeconds;
        return true;
    }
    return false;
}

Result<BestValue> BestValue::make(const config::EvaluationSection& section, const std::vector<config::Metric>& metrics) {
    LATHE_TRY_ASSIGN(const config::Metric chosen, config::bestMetric(section, metrics));
    BestValue best;
    best.m_minDelta = section.minDelta;
    best.m_patience = section.patience;
    best.m_metric = chosen.name;
    best.m_higherIsBetter = chosen.higherIsBetter;
    best.m_savedMetric = best.chosenMetric();
    return best;
}

bool isUndefined(const Metrics& metrics, const std::string& metric) {
    const auto found = metrics.find(metric), loss = metrics.find("loss");
    return found != metrics.end() && std::isnan(found->second) && loss != metrics.end() && !std::isnan(loss->second);
}

bool BestValue::take(const Metrics& metrics, GlobalStep step) {
    const auto found = metrics.find(m_metric);
    const double value = found == metrics.end() ? std::nan("") : found->second;
    const auto gainOver = [&](double known) { return m_higherIsBetter ? value - known : known - value; };
    const auto loss = metrics.find("loss");
    if (isUndefined(metrics, m_metric)) return false;
    const bool isSound = !std::isnan(value) && (loss == metrics.end() || !std::isnan(loss->second));   // a model that gives NaN guesses well by chance
    const bool better = isSound && (!m_value || gainOver(*m_value) > 0);
    const bool gained = isSound && (!m_mark || gainOver(*m_mark) > m_minDelta);
    const bool tied = m_value && value == *m_value && m_loss && loss != metrics.end() && loss->second < *m_loss;
    m_stale = gained ? 0 : m_stale + 1;
    if (gained) m_mark = value;
    if (!better && !tied) return false;
    m_value = value;
    m_loss = loss == metrics.end() ? std::nullopt : std::optional(loss->second);
    m_step = step;
    return true;
}

std::string BestValue::sentence() const {
    const std::string in = " in " + std::to_string(m_stale) + " evaluations";
    const std::string best = m_value ? shortText(*m_value) + " (update " + std::to_string(m_step.value()) + ")" : "none";
    if (m_mark == m_value) return "No better " + m_metric + " than " + best + in;
    return "No better " + m_metric + " than " + shortText(*m_mark) + " by more than " + shortText(m_minDelta) + in + "; the best is " + best;
}

StateValues BestValue::stateValues() const {
    StateValues values{{"metric", m_savedMetric},
                       {"value", m_value ? exactText(*m_value) : "none"},
                       {"step", std::to_string(m_step.value())},
                       {"stale", std::to_string(m_stale)}};
    if (m_loss) values["loss"] = exactText(*m_loss);
    if (m_mark != m_value) values["mark"] = exactText(*m_mark);
    return values;
}

Result<void> BestValue::setStateValues(const StateValues& values) {
    StateValueReader reader(values);
    const std::string metric = reader.text("metric");
    const std::string value = reader.text("value");
    const GlobalStep step(reader.integer("step"));
    const std::int64_t stale = reader.integer("stale");
    const auto loss = values.contains("loss") ? std::optional(reader.number("loss")) : std::nullopt;
    const auto mark = values.contains("mark") ? std::optional(reader.number("mark")) : std::nullopt;
    LATHE_TRY(reader.finish(stateName()));
    const auto number = readDouble(value);
    if (value != "none" && !number)
        return Error{ErrorCode::Corrupt, "The saved best value “" + value + "” is not a number", {}, {}};
    m_savedMetric = metric;
    m_value = value == "none" ? std::nullopt : number;
    m_mark = mark ? mark : m_value;
    m_loss = loss;
    m_step = step;
    m_stale = stale;
    return {};
}

bool BestValue::dropForeign() {
    if (m_savedMetric == chosenMetric()) return false;
    m_savedMetric = chosenMetric();
    m_value.reset();
    m_mark.reset();
    m_loss.reset();
    m_step = GlobalStep(0);
    m_stale = 0;
    return true;
}

}  // namespace lathe::engine
