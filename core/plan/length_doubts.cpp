#include "plan/length_doubts.h"

#include "base/number_text.h"
#include "config/plugin_list.h"
#include "plan/schedule.h"
#include "plan/words.h"

#include <algorithm>

namespace lathe::plan {
namespace {

std::string runHas(std::int64_t updates) { return " and the run has " + std::to_string(updates) + ": "; }

/// `most`: the run is not longer.
void doubtWarmup(const config::ScheduleSection& schedule, std::optional<std::int64_t> most, std::vector<LengthDoubt>& doubts) {
    const std::string takes = "Warm-up takes " + countText(schedule.warmupUpdates, "update");
    const std::string set = "; set schedule.warmup_updates to ";
    if (most && schedule.warmupUpdates > *most)
        doubts.push_back({"schedule.warmup_updates", takes + runHas(*most) + "the learning rate never reaches its peak" + set + std::to_string(*most / 10) + " or so"});
    else if (hasLength(schedule) && schedule.totalUpdates && schedule.warmupUpdates > 0 && schedule.warmupUpdates >= *schedule.totalUpdates)
        doubts.push_back({"schedule.warmup_updates", takes + " and the whole curve " + std::to_string(*schedule.totalUpdates) + " (schedule.total_updates): nothing of it is left"
                          + set + std::to_string(*schedule.totalUpdates / 10) + " or so"});
}

/// A length that was given, and is not that of the run.
void doubtTotal(const config::ScheduleSection& schedule, std::int64_t length, std::vector<LengthDoubt>& doubts) {
    if (!hasLength(schedule) || !schedule.totalUpdates || *schedule.totalUpdates == length) return;
    const std::int64_t total = *schedule.totalUpdates;
    std::string text = "The " + schedule.name + " curve is " + countText(total, "update") + " long (schedule.total_updates)" + runHas(length);
    const double last = factorAt(schedule, GlobalStep(length - 1));
    if (total > length) {
        text += "its last update still learns at " + shortText(last, 3) + " of the peak";
    } else {
        text += "from update " + std::to_string(total + 1) + " on the rate stays at " + shortText(schedule.finalFactor, 3) + " of the peak";
        if (schedule.finalFactor == 0) text += ", so nothing is learned any more";
    }
    doubts.push_back({"schedule.total_updates", text + "; leave it out, and the curve is as long as the run"});
}

void doubtSteps(const config::ScheduleSection& schedule, std::int64_t length, std::vector<LengthDoubt>& doubts) {
    const std::int64_t first = schedule.warmupUpdates + schedule.decayUpdates;
    if (schedule.name != "step" || first < length) return;
    doubts.push_back({"schedule.decay_updates", "The first cut comes after " + countText(first, "update") + runHas(length) + "the rate is never cut; set schedule.decay_updates to "
                      + std::to_string(std::max<std::int64_t>(1, length / 3)) + " or so"});
}

void doubtRamp(const config::AccumulationSection& accumulation, std::int64_t length, std::vector<LengthDoubt>& doubts) {
    if (accumulation.rule != "ramp" || accumulation.rampUpdates <= length || accumulation.rampFrom == accumulation.microBatches) return;
    doubts.push_back({"accumulation.ramp_updates", "The ramp of the accumulation takes " + countText(accumulation.rampUpdates, "update") + runHas(length) + "it never reaches "
                      + countText(accumulation.microBatches, "micro-batch") + "; set accumulation.ramp_updates to " + std::to_string(std::max<std::int64_t>(1, length / 2)) + " or so"});
}

}  // namespace

std::vector<LengthDoubt> lengthDoubts(const config::RunConfig& config, std::optional<GlobalStep> planned) {
    std::vector<LengthDoubt> doubts;
    if (!planned && !config.run.epochs && config.run.maxUpdates) planned = GlobalStep(*config.run.maxUpdates);
    const bool isOurs = config::pluginOf(config.schedule.name).empty();
    if (isOurs) doubtWarmup(config.schedule, planned ? planned->value() : config.run.maxUpdates, doubts);
    if (!planned || planned->value() < 1) return doubts;
    if (isOurs) {
        doubtTotal(config.schedule, planned->value(), doubts);
        doubtSteps(config.schedule, planned->value(), doubts);
    }
    doubtRamp(config.accumulation, planned->value(), doubts);
    return doubts;
}

}  // namespace lathe::plan
