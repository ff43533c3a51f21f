#include "engine/train/curve.h"

#include "base/number_text.h"
#include "config/schema.h"
#include "engine/train/triggers.h"

#include <cmath>

namespace lathe::engine {
namespace {

/// Keys that have stood in every checkpoint. The others of the section stand there where they differ from their default, so
/// that the state of a curve that does without them is what it always was.
bool isAlwaysSaved(const std::string& name) {
    return name == "name" || name == "warmup_updates" || name == "total_updates" || name == "final_factor";
}

/// The fields of the schedule section that only some kinds use.
std::vector<config::Field> furtherFields() {
    std::vector<config::Field> fields;
    for (const config::Section& section : config::Schema::builtin().sections())
        for (const config::Field& field : section.fields)
            if (section.name == "schedule" && !isAlwaysSaved(field.name)) fields.push_back(field);
    return fields;
}

std::string orNone(const std::optional<double>& value) { return value ? exactText(*value) : "none"; }

}  // namespace

Curve Curve::constant(double rate) {
    config::ScheduleSection schedule;
    schedule.name = "constant";
    return Curve(schedule, rate);
}

Result<Curve> Curve::make(const config::RunConfig& config, std::optional<GlobalStep> planned, config::Metric metric) {
    Curve curve(plan::scheduleOf(config, planned ? std::optional(planned->value()) : std::nullopt), config.optimizer.learningRate);
    if (!curve.m_schedule.totalUpdates && plan::hasLength(config.schedule))
        return Error{ErrorCode::Config, "The run has no planned end, so the " + config.schedule.name +
                     " schedule needs schedule.total_updates", "schedule.total_updates", {}};
    curve.m_metric = std::move(metric);
    curve.m_minDelta = config.evaluation.minDelta;
    curve.m_savedMetric = curve.watched();
    return curve;
}

std::string Curve::take(const Metrics& metrics, GlobalStep at) {
    if (!watches()) return {};
    if (isUndefined(metrics, m_metric.name)) return {};
    const auto found = metrics.find(m_metric.name);
    const double value = found == metrics.end() ? std::nan("") : found->second;
    if (!m_plateau.take(m_schedule, value, m_metric.higherIsBetter, m_minDelta, at)) return {};
    return "The learning rate is now " + shortText(rateAt(at)) + ": no better " + m_metric.name + " than " +
           (m_plateau.best ? shortText(*m_plateau.best) : std::string("none")) + " in " + std::to_string(m_schedule.patience + 1) + " evaluations";
}

std::vector<std::string> Curve::reconcile(const config::RunConfig& config, std::optional<GlobalStep> planned, GlobalStep at, bool anew) {
    std::vector<std::string> changes;
    const bool changesKind = m_schedule.name != config.schedule.name;
    const std::optional<std::int64_t> stored = changesKind ? std::nullopt : m_schedule.totalUpdates;
    const double rateBefore = rateAt(at), baseBefore = m_baseRate;
    const std::optional<std::int64_t> wanted = plan::scheduleOf(config, planned ? std::optional(planned->value()) : std::nullopt).totalUpdates;
    m_schedule = plan::scheduleOnResume(config, stored, planned ? std::optional(planned->value()) : std::nullopt, anew);
    m_baseRate = config.optimizer.learningRate;
    const std::int64_t length = m_schedule.totalUpdates.value_or(0);
    if (plan::hasLength(m_schedule) && length != stored)
        changes.push_back("The learning-rate curve is now " + std::to_string(length) + " updates long" + (stored ? ", it was " + std::to_string(*stored) : std::string()));
    else if (plan::hasLength(m_schedule) && wanted && *wanted != length)
        changes.push_back("The run is now " + std::to_string(*wanted) + " updates long; its learning-rate curve keeps " + std::to_string(length) +
                          " (--new-curve makes it anew), so the rate " +
                          (rateAt(at) > 0 ? "goes on at " + shortText(rateAt(at)) : std::string("is 0 from here on: nothing will be learned")));
    if (changesKind || anew || m_savedMetric != watched()) {
        if (watches() && m_plateau.best) changes.push_back("The plateau schedule begins anew: evaluations before are not counted");
        m_plateau = {};
        m_savedMetric = watched();
    }
    if (baseBefore != m_baseRate) changes.push_back("The learning rate is now " + shortText(m_baseRate) + ", it was " + shortText(baseBefore));
    if (rateAt(at) != rateBefore)
        changes.push_back("The rate of update " + std::to_string(at.value() + 1) + " is " + shortText(rateAt(at)) + ", by the stored curve it was " + shortText(rateBefore));
    return changes;
}

StateValues Curve::stateValues() const {
    StateValues values{{"name", m_schedule.name},
                       {"warmup_updates", std::to_string(m_schedule.warmupUpdates)},
                       {"total_updates", m_schedule.totalUpdates ? std::to_string(*m_schedule.totalUpdates) : "none"},
                       {"final_factor", exactText(m_schedule.finalFactor)},
                       {"learning_rate", exactText(m_baseRate)}};
    config::RunConfig config;
    config.schedule = m_schedule;
    const config::Values all = config::toValues(config);
    for (const config::Field& field : furtherFields())
        if (const config::Value& value = all.find(field.key())->second; value != field.defaultValue) values[field.name] = config::valueText(value);
    if (!watches()) return values;
    values["plateau_metric"] = m_savedMetric;
    values["plateau_scale"] = exactText(m_plateau.scale);
    values["plateau_best"] = orNone(m_plateau.best);
    values["plateau_stale"] = std::to_string(m_plateau.stale);
    values["plateau_resting"] = std::to_string(m_plateau.resting);
    values["plateau_seen"] = std::to_string(m_plateau.seen.value());
    return values;
}

Result<void> Curve::setStateValues(const StateValues& values) {
    StateValueReader reader(values);
    Curve read = *this;
    config::RunConfig config;
    config.schedule.name = reader.text("name");
    config.schedule.warmupUpdates = reader.integer("warmup_updates");
    if (const auto length = values.find("total_updates"); length != values.end() && length->second == "none") static_cast<void>(reader.text("total_updates"));
    else config.schedule.totalUpdates = reader.integer("total_updates");
    config.schedule.finalFactor = reader.number("final_factor");
    read.m_baseRate = reader.number("learning_rate");
    config::Values all = config::toValues(config);
    for (const config::Field& field : furtherFields()) {
        if (!values.contains(field.name)) continue;
        LATHE_TRY_ASSIGN(all[field.key()], config::readValue(field, reader.text(field.name)));
    }
    read.m_schedule = config::fromValues(all).schedule;
    read.m_plateau = {};
    if (read.watches()) {
        read.m_savedMetric = reader.text("plateau_metric");
        read.m_plateau.scale = reader.number("plateau_scale");
        if (values.contains("plateau_best") && values.at("plateau_best") == "none") static_cast<void>(reader.text("plateau_best"));
        else read.m_plateau.best = reader.number("plateau_best");
        read.m_plateau.stale = reader.integer("plateau_stale");
        read.m_plateau.resting = reader.integer("plateau_resting");
        read.m_plateau.seen = GlobalStep(reader.integer("plateau_seen"));
    }
    LATHE_TRY(reader.finish(stateName()));
    *this = read;
    return {};
}

}  // namespace lathe::engine
