#include "launch/verbs/going_on.h"

#include "base/file_system.h"
#include "base/number_text.h"
#include "plan/schedule.h"
#include "rundir/json_reader.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::launch {

static constexpr std::uint64_t kLargestRecord = 1 << 20;  // of trainer.json

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

StoredCurve storedCurve(const std::filesystem::path& checkpoint) {
    const auto text = readFile(checkpoint / "trainer.json", kLargestRecord);
    if (!text.ok()) return {};
    const auto record = rundir::parseStrict(*text, "trainer.json");
    if (!record.ok()) return {};
    const nlohmann::json* at = &*record;
    const auto enter = [&](const char* key) {
        const auto found = at->is_object() ? at->find(key) : at->end();
        const bool isThere = at->is_object() && found != at->end();
        if (isThere) at = &*found;
        return isThere;
    };
    if (!enter("state") || !enter("schedule") || !at->is_object()) return {};
    const auto textAt = [&](const char* key) {
        const auto found = at->find(key);
        return found != at->end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    StoredCurve stored;
    if (const auto length = readInteger(textAt("total_updates")); length && *length > 0) stored.length = length;
    if (const auto scale = readDouble(textAt("plateau_scale")); scale && *scale >= 0 && *scale <= 1) stored.plateauScale = *scale;
    return stored;
}

/// A run that is made longer keeps its curve: what that means where it has come to its end, and the way to a new one.
static std::string afterTheCurve(const config::RunConfig& config, std::int64_t step, std::optional<std::int64_t> curveLength) {
    config::ScheduleSection schedule = config.schedule;
    if (!plan::hasLength(schedule)) return {};
    if (!schedule.totalUpdates) schedule.totalUpdates = curveLength.value_or(step);
    const std::string anew = config.schedule.totalUpdates ? "--set schedule.total_updates=" + std::to_string(2 * *schedule.totalUpdates) : "--new-curve";
    const std::string make = "; " + anew + " makes a new one for the longer run";
    const bool isOver = *schedule.totalUpdates <= step;
    const double rate = config.optimizer.learningRate * (isOver ? schedule.finalFactor : plan::factorAt(schedule, GlobalStep(step)));
    if (!isOver) return ". The learning-rate curve goes on as it was stored, at " + shortText(rate) + ", and ends after " + std::to_string(*schedule.totalUpdates) + " updates" + make;
    return ". The learning-rate curve stays as it was stored, at its end of " + shortText(rate) + (rate > 0 ? "" : ": nothing would be learned") + make;
}

Result<void> refuseReached(const config::RunConfig& config, const rundir::CheckpointManifest& checkpoint, std::optional<std::int64_t> curveLength) {
    if (checkpoint.evaluationPending) return {};
    const auto& run = config.run;
    const Counters& counters = checkpoint.counters;
    if (run.maxUpdates && counters.globalStep.value() >= *run.maxUpdates) {
        return Error{ErrorCode::Usage, "Already at update " + std::to_string(counters.globalStep.value()) + " of " + std::to_string(*run.maxUpdates)
                     + "; extend it with --set run.max_updates=" + std::to_string(std::max(2 * *run.maxUpdates, counters.globalStep.value() + *run.maxUpdates)) + afterTheCurve(config, counters.globalStep.value(), curveLength), "run.max_updates", {}};
    }
    if (run.epochs && counters.epoch.value() >= *run.epochs) {
        return Error{ErrorCode::Usage, "Already at epoch " + std::to_string(counters.epoch.value()) + " of " + std::to_string(*run.epochs)
                     + "; extend it with --set run.epochs=" + std::to_string(std::max(2 * *run.epochs, counters.epoch.value() + *run.epochs)) + afterTheCurve(config, counters.globalStep.value(), curveLength), "run.epochs", {}};
    }
    return {};
}

}  // namespace lathe::launch
