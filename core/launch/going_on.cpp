#include "launch/going_on.h"

#include "base/number_text.h"
#include "plan/schedule.h"

namespace lathe::launch {

bool isFixed(const config::Field& field, const config::RunConfig& before, const config::RunConfig& after) {
    if (field.applies == config::Applies::Start) return true;
    // without momentum there is no state of it
    return field.key() == "optimizer.momentum" && after.optimizer.name == "sgd" && (before.optimizer.momentum > 0) != (after.optimizer.momentum > 0);
}

Result<void> refuseFixedChanges(const config::RunConfig& before, const config::RunConfig& after, bool isNewRun) {
    for (const config::Difference& change : config::diff(before, after)) {
        const config::Field* field = config::Schema::builtin().find(change.key);
        if (field == nullptr || !isFixed(*field, before, after) || (isNewRun && change.key == "run.name")) continue;
        return Error{ErrorCode::Config, change.key + " cannot change from " + change.left + " to " + change.right
                     + " when a run goes on; use start-from-weights or a new run", change.key, {}};
    }
    return {};
}

/// A run that is made longer keeps its curve, which has come to its end: what that means, and the way to a new one.
static std::string afterTheCurve(const config::RunConfig& config) {
    const auto& schedule = config.schedule;
    if (!plan::hasLength(schedule)) return {};
    const double rate = config.optimizer.learningRate * schedule.finalFactor;
    const std::string anew = schedule.totalUpdates ? "--set schedule.total_updates=" + std::to_string(2 * *schedule.totalUpdates) : "--new-curve";
    return ". The learning-rate curve stays as it was stored, at its end of " + shortText(rate)
           + (rate > 0 ? "" : ": nothing would be learned") + "; " + anew + " makes a new one for the longer run";
}

Result<void> refuseReached(const config::RunConfig& config, const rundir::CheckpointManifest& checkpoint) {
    if (checkpoint.evaluationPending) return {};
    const auto& run = config.run;
    const Counters& counters = checkpoint.counters;
    if (run.maxUpdates && counters.globalStep.value() >= *run.maxUpdates) {
        return Error{ErrorCode::Usage, "Already at update " + std::to_string(counters.globalStep.value()) + " of " + std::to_string(*run.maxUpdates)
                     + "; extend it with --set run.max_updates=" + std::to_string(2 * *run.maxUpdates) + afterTheCurve(config), "run.max_updates", {}};
    }
    if (run.epochs && counters.epoch.value() >= *run.epochs) {
        return Error{ErrorCode::Usage, "Already at epoch " + std::to_string(counters.epoch.value()) + " of " + std::to_string(*run.epochs)
                     + "; extend it with --set run.epochs=" + std::to_string(2 * *run.epochs) + afterTheCurve(config), "run.epochs", {}};
    }
    return {};
}

}  // namespace lathe::launch
