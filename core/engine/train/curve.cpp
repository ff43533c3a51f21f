#include "engine/train/curve.h"

#include "base/number_text.h"

namespace lathe::engine {

Result<Curve> Curve::make(const config::RunConfig& config, std::optional<GlobalStep> planned) {
    Curve curve;
    curve.m_schedule.name = config.schedule.name;
    curve.m_schedule.warmupUpdates = config.schedule.warmupUpdates;
    curve.m_schedule.finalFactor = config.schedule.finalFactor;
    curve.m_baseRate = config.optimizer.learningRate;
    if (config.schedule.totalUpdates) curve.m_schedule.totalUpdates = *config.schedule.totalUpdates;
    else if (planned) curve.m_schedule.totalUpdates = planned->value();
    else if (config.schedule.name != "constant")
        return Error{ErrorCode::Config, "The run has no planned end, so the " + config.schedule.name +
                     " schedule needs schedule.total_updates", "schedule.total_updates", {}};
    return curve;
}

std::vector<std::string> Curve::reconcile(const config::RunConfig& config, std::optional<GlobalStep> planned, GlobalStep at, bool anew) {
    std::vector<std::string> changes;
    const std::int64_t stored = m_schedule.totalUpdates;
    const double rateBefore = rateAt(at), baseBefore = m_baseRate;
    const std::optional<std::int64_t> wanted = config.schedule.totalUpdates || !planned ? config.schedule.totalUpdates : std::optional(planned->value());
    m_schedule.name = config.schedule.name;
    m_schedule.warmupUpdates = config.schedule.warmupUpdates;
    m_schedule.finalFactor = config.schedule.finalFactor;
    m_baseRate = config.optimizer.learningRate;
    if (wanted && (anew || config.schedule.totalUpdates)) m_schedule.totalUpdates = *wanted;
    const std::string length = std::to_string(m_schedule.totalUpdates);
    if (m_schedule.totalUpdates != stored) changes.push_back("The learning-rate curve is now " + length + " updates long, it was " + std::to_string(stored));
    else if (wanted && *wanted != stored && m_schedule.name != "constant")
        changes.push_back("The run is now " + std::to_string(*wanted) + " updates long; its learning-rate curve keeps " + length +
                          " (--new-curve makes it anew), so the rate " +
                          (rateAt(at) > 0 ? "goes on at " + shortText(rateAt(at)) : std::string("is 0 from here on: nothing will be learned")));
    if (baseBefore != m_baseRate) changes.push_back("The learning rate is now " + shortText(m_baseRate) + ", it was " + shortText(baseBefore));
    if (rateAt(at) != rateBefore)
        changes.push_back("The rate of update " + std::to_string(at.value() + 1) + " is " + shortText(rateAt(at)) + ", by the stored curve it was " + shortText(rateBefore));
    return changes;
}

StateValues Curve::stateValues() const {
    return {{"name", m_schedule.name},
            {"warmup_updates", std::to_string(m_schedule.warmupUpdates)},
            {"total_updates", std::to_string(m_schedule.totalUpdates)},
            {"final_factor", exactText(m_schedule.finalFactor)},
            {"learning_rate", exactText(m_baseRate)}};
}

Result<void> Curve::setStateValues(const StateValues& values) {
    StateValueReader reader(values);
    Curve read;
    read.m_schedule.name = reader.text("name");
    read.m_schedule.warmupUpdates = reader.integer("warmup_updates");
    read.m_schedule.totalUpdates = reader.integer("total_updates");
    read.m_schedule.finalFactor = reader.number("final_factor");
    read.m_baseRate = reader.number("learning_rate");
    LATHE_TRY(reader.finish(stateName()));
    *this = read;
    return {};
}

}  // namespace lathe::engine
