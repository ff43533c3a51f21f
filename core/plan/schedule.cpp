#include "plan/schedule.h"

#include "config/plugin_list.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lathe::plan {
namespace {

using config::ScheduleSection;

double cosineFall(double progress) { return 0.5 * (1.0 + std::cos(std::numbers::pi * progress)); }

/// How far the fall is that `done` of `all` updates lie in, [0, 1).
double progressOfCycle(const ScheduleSection& schedule, std::int64_t done, std::int64_t all) {
    if (schedule.cycleGrowth <= 1) return static_cast<double>(done * schedule.cycles % all) / static_cast<double>(all);
    // From the last fall, which is never vanishingly short, back to the one that holds the place.
    const double growth = schedule.cycleGrowth, count = static_cast<double>(schedule.cycles), length = static_cast<double>(all);
    const double place = static_cast<double>(done), rounding = 1e-9 * length;
    double cycle = length * (growth - 1) / (growth - std::pow(growth, 1 - count));
    double start = length - cycle;
    for (std::int64_t i = 1; i < schedule.cycles && place + rounding < start; ++i) {
        cycle /= growth;
        start -= cycle;
    }
    return std::clamp((place - start) / cycle, 0.0, 1.0);
}

/// From 1 at the beginning of the fall to 0 at its end.
double fallAt(const ScheduleSection& schedule, std::int64_t done, std::int64_t all) {
    if (done >= all) return 0.0;
    const double progress = static_cast<double>(done) / static_cast<double>(all);
    if (schedule.name == "polynomial") return std::pow(1.0 - progress, schedule.power);
    if (schedule.name == "cosine") return cosineFall(schedule.cycles > 1 ? progressOfCycle(schedule, done, all) : progress);
    if (schedule.name == "one_cycle") {
        const double fall = 1.0 - schedule.risePart;
        return fall > 0 ? cosineFall((progress - schedule.risePart) / fall) : 0.0;
    }
    if (schedule.name == "wsd") {
        const double fall = schedule.decayPart * static_cast<double>(all), into = static_cast<double>(done - all) + fall;
        if (into <= 0) return 1.0;
        const double falling = into / fall;
        if (schedule.decayShape == "cosine") return cosineFall(falling);
        return 1.0 - (schedule.decayShape == "sqrt" ? std::sqrt(falling) : falling);
    }
    return 1.0 - progress;
}

double afterWarmup(const ScheduleSection& schedule, std::int64_t done) {
    if (schedule.name == "step") return std::max(schedule.finalFactor, std::pow(schedule.decayFactor, static_cast<double>(done / schedule.decayUpdates)));
    if (schedule.name == "exponential")
        return std::max(schedule.finalFactor, std::pow(schedule.decayFactor, static_cast<double>(done) / static_cast<double>(schedule.decayUpdates)));
    const std::int64_t all = schedule.totalUpdates.value_or(1) - std::max<std::int64_t>(schedule.warmupUpdates, 0);
    if (schedule.name == "one_cycle" && static_cast<double>(done) < schedule.risePart * static_cast<double>(all)) {
        const double rising = static_cast<double>(done) / (schedule.risePart * static_cast<double>(all));
        return schedule.startFactor + (1.0 - schedule.startFactor) * (1.0 - cosineFall(rising));
    }
    return schedule.finalFactor + (1.0 - schedule.finalFactor) * fallAt(schedule, done, all);
}

}  // namespace

bool hasLength(const ScheduleSection& schedule) {
    const std::string& name = schedule.name;
    return name == "linear" || name == "cosine" || name == "polynomial" || name == "one_cycle" || name == "wsd";
}

ScheduleSection scheduleOf(const config::RunConfig& config, std::optional<std::int64_t> planned) {
    ScheduleSection schedule = config.schedule;
    if (!schedule.totalUpdates) schedule.totalUpdates = planned;
    return schedule;
}

ScheduleSection scheduleOnResume(const config::RunConfig& config, std::optional<std::int64_t> stored, std::optional<std::int64_t> planned, bool anew) {
    return scheduleOf(config, planned && (anew || !stored) ? planned : stored);
}

Kinds<CurveOf>& curveKinds() {
    static Kinds<CurveOf> kinds{{}};
    return kinds;
}

double factorAt(const ScheduleSection& schedule, GlobalStep applied) {
    if (!config::pluginOf(schedule.name).empty()) {
        const CurveOf* curve = curveKinds().find(schedule.name);
        return curve ? std::clamp((*curve)(schedule, applied), 0.0, 1.0) : 1.0;
    }
    const std::int64_t k = std::max<std::int64_t>(applied.value(), 0);
    const std::int64_t warmup = std::max<std::int64_t>(schedule.warmupUpdates, 0);
    if (k < warmup) return static_cast<double>(k + 1) / static_cast<double>(warmup) * (schedule.name == "one_cycle" ? schedule.startFactor : 1.0);
    if (schedule.name == "constant" || schedule.name == "plateau") return 1.0;
    return afterWarmup(schedule, k - warmup);
}

std::string warmupDoubt(std::int64_t warmupUpdates, std::optional<GlobalStep> planned) {
    if (!planned || warmupUpdates <= planned->value()) return {};
    return "Warm-up takes " + std::to_string(warmupUpdates) + " updates and the run has " + std::to_string(planned->value())
           + ": the learning rate never reaches its peak; set schedule.warmup_updates to " + std::to_string(planned->value() / 10) + " or so";
}

bool Plateau::take(const ScheduleSection& schedule, double value, bool higherIsBetter, double minDelta, GlobalStep step) {
    if (step == seen) return false;
    seen = step;
    const double gain = best ? (higherIsBetter ? value - *best : *best - value) : 0;
    if (!std::isnan(value) && (!best || gain > minDelta)) {
        best = value;
        stale = 0;
    } else {
        ++stale;
    }
    if (resting > 0) {
        --resting;
        stale = 0;
    }
    if (stale <= schedule.patience) return false;
    stale = 0;
    resting = schedule.cooldown;
    const double before = scale;
    scale = std::max(schedule.finalFactor, scale * schedule.decayFactor);
    return scale != before;
}

}  // namespace lathe::plan
