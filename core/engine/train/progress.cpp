#include "engine/train/progress.h"

#include "base/number_text.h"

#include <cmath>

namespace lathe::engine {

/// Begins the names of the newest evaluation's values.
static constexpr std::string_view kMetric = "metric.";

StateValues Progress::stateValues() const {
    StateValues values{{"micro_step", std::to_string(counters.microStep.value())},
                       {"update_attempts", std::to_string(counters.updateAttempts.value())},
                       {"global_step", std::to_string(counters.globalStep.value())},
                       {"skipped_updates", std::to_string(counters.skippedUpdates.value())},
                       {"samples", std::to_string(counters.samples.value())},
                       {"tokens", std::to_string(counters.tokens.value())},
                       {"epoch", std::to_string(counters.epoch.value())},
                       {"plan_entry", std::to_string(counters.planEntry.value())},
                       {"skipped_in_a_row", std::to_string(skippedInARow)},
                       {"evaluated_epochs", std::to_string(evaluatedEpochs)},
                       {"saved_epochs", std::to_string(savedEpochs)},
                       {"evaluated_step", std::to_string(evaluatedStep.value())},
                       {"evaluation_pending", evaluationPending ? "1" : "0"}};
    for (const auto& [name, value] : metrics) values[std::string(kMetric) + name] = exactText(value);
    return values;
}

Result<void> Progress::setStateValues(const StateValues& values) {
    StateValueReader reader(values);
    Progress read;
    read.counters.microStep = MicroStep(reader.integer("micro_step"));
    read.counters.updateAttempts = UpdateAttempt(reader.integer("update_attempts"));
    read.counters.globalStep = GlobalStep(reader.integer("global_step"));
    read.counters.skippedUpdates = SkippedUpdates(reader.integer("skipped_updates"));
    read.counters.samples = SampleCount(reader.integer("samples"));
    read.counters.tokens = TokenCount(reader.integer("tokens"));
    read.counters.epoch = Epoch(reader.integer("epoch"));
    read.counters.planEntry = PlanEntry(reader.integer("plan_entry"));
    read.skippedInARow = reader.integer("skipped_in_a_row");
    read.evaluatedEpochs = reader.integer("evaluated_epochs");
    read.savedEpochs = reader.integer("saved_epochs");
    read.evaluatedStep = GlobalStep(reader.integer("evaluated_step"));
    read.evaluationPending = reader.integer("evaluation_pending") != 0;
    for (const auto& [name, text] : values)
        if (name.starts_with(kMetric)) read.metrics[name.substr(kMetric.size())] = reader.number(name);
    LATHE_TRY(reader.finish(stateName()));
    const Counters& c = read.counters;
    if (c.updateAttempts.value() != c.globalStep.value() + c.skippedUpdates.value() || c.globalStep < GlobalStep(0) ||
        c.skippedUpdates < SkippedUpdates(0) || c.epoch < Epoch(0) || c.planEntry < PlanEntry(0))
        return Error{ErrorCode::Corrupt, "The saved counters contradict each other", {}, {}};
    *this = read;
    return {};
}

StateValues RunningIntervals::stateValues() const {
    if (evaluation == 0 && norms == 0 && histograms == 0) return {};
    return {{"evaluation", exactText(evaluation)}, {"norms", exactText(norms)}, {"histograms", exactText(histograms)}};
}

Result<void> RunningIntervals::setStateValues(const StateValues& values) {
    StateValueReader reader(values);
    const double read[] = {reader.number("evaluation"), reader.number("norms"), reader.number("histograms")};
    LATHE_TRY(reader.finish(stateName()));
    for (const double seconds : read)
        if (!(seconds >= 0 && std::isfinite(seconds))) return Error{ErrorCode::Corrupt, "The saved seconds of an interval are " + exactText(seconds), {}, {}};
    evaluation = read[0];
    norms = read[1];
    histograms = read[2];
    return {};
}

}  // namespace lathe::engine
