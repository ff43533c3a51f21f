#include "plan/schedule.h"

#include "base/number_text.h"
#include "plan/words.h"

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

/// Of the curve behind warm-up, after `done` of its `all` updates.
using Course = std::function<double(const ScheduleSection& schedule, std::int64_t done, std::int64_t all)>;
using FirstPart = double (*)(const ScheduleSection& schedule);

double fromPeak(const ScheduleSection&) { return 1.0; }

/// Warm-up to the beginning of the course, then the course.
CurveFactor warmed(Course course, FirstPart first = fromPeak) {
    return [course = std::move(course), first](const ScheduleSection& schedule, GlobalStep applied) {
        const std::int64_t k = std::max<std::int64_t>(applied.value(), 0), warmup = std::max<std::int64_t>(schedule.warmupUpdates, 0);
        if (k < warmup) return static_cast<double>(k + 1) / static_cast<double>(warmup) * first(schedule);
        return course(schedule, k - warmup, schedule.totalUpdates.value_or(1) - warmup);
    };
}

/// `fall`: from 1 where progress is 0 towards 0 where it is 1; not asked beyond.
template <typename Fall>
Course falling(Fall fall) {
    return [fall](const ScheduleSection& schedule, std::int64_t done, std::int64_t all) {
        const double left = done >= all ? 0.0 : fall(schedule, static_cast<double>(done) / static_cast<double>(all), done, all);
        return schedule.finalFactor + (1.0 - schedule.finalFactor) * left;
    };
}

double level(const ScheduleSection&, std::int64_t, std::int64_t) { return 1.0; }

double linearFall(const ScheduleSection&, double progress, std::int64_t, std::int64_t) { return 1.0 - progress; }

double polynomialFall(const ScheduleSection& schedule, double progress, std::int64_t, std::int64_t) { return std::pow(1.0 - progress, schedule.power); }

double cosineFalls(const ScheduleSection& schedule, double progress, std::int64_t done, std::int64_t all) {
    return cosineFall(schedule.cycles > 1 ? progressOfCycle(schedule, done, all) : progress);
}

double oneCycle(const ScheduleSection& schedule, std::int64_t done, std::int64_t all) {
    const double rise = schedule.risePart * static_cast<double>(all);
    if (static_cast<double>(done) < rise) return schedule.startFactor + (1.0 - schedule.startFactor) * (1.0 - cosineFall(static_cast<double>(done) / rise));
    static const Course fall = falling([](const ScheduleSection& section, double progress, std::int64_t, std::int64_t) {
        const double part = 1.0 - section.risePart;
        return part > 0 ? cosineFall((progress - section.risePart) / part) : 0.0;
    });
    return fall(schedule, done, all);
}

double stableFall(const ScheduleSection& schedule, double, std::int64_t done, std::int64_t all) {
    const double fall = schedule.decayPart * static_cast<double>(all), into = static_cast<double>(done - all) + fall;
    if (into <= 0) return 1.0;
    const double part = into / fall;
    if (schedule.decayShape == "cosine") return cosineFall(part);
    return 1.0 - (schedule.decayShape == "sqrt" ? std::sqrt(part) : part);
}

double decayed(const ScheduleSection& schedule, double times) { return std::max(schedule.finalFactor, std::pow(schedule.decayFactor, times)); }

double inSteps(const ScheduleSection& schedule, std::int64_t done, std::int64_t) { return decayed(schedule, static_cast<double>(done / schedule.decayUpdates)); }

double exponentially(const ScheduleSection& schedule, std::int64_t done, std::int64_t) {
    return decayed(schedule, static_cast<double>(done) / static_cast<double>(schedule.decayUpdates));
}

std::string percent(double part) { return shortText(100 * part) + " %"; }

Kinds<CurveKind>::Map builtIn() {
    using config::RunConfig;
    const auto named = [](const RunConfig& config) { return config.schedule.name; };
    const auto falls = [](const RunConfig& config) {
        return config.schedule.cycles > 1 ? "cosine in " + std::to_string(config.schedule.cycles) + " falls" : std::string("cosine");
    };
    const auto times = [](const RunConfig& config, const char* when) {
        return config.schedule.name + ", · " + shortText(config.schedule.decayFactor) + when + countText(config.schedule.decayUpdates, "update");
    };
    return {
        {"constant", {false, warmed(level), named}},
        {"linear", {true, warmed(falling(linearFall)), named}},
        {"cosine", {true, warmed(falling(cosineFalls)), falls}},
        {"polynomial", {true, warmed(falling(polynomialFall)), named}},
        {"step", {false, warmed(inSteps), [times](const RunConfig& config) { return times(config, " after each "); }}},
        {"exponential", {false, warmed(exponentially), [times](const RunConfig& config) { return times(config, " within "); }}},
        {"one_cycle", {true, warmed(oneCycle, [](const ScheduleSection& schedule) { return schedule.startFactor; }),
                       [](const RunConfig& config) { return "one_cycle, rising over the first " + percent(config.schedule.risePart); }}},
        {"wsd", {true, warmed(falling(stableFall)), [](const RunConfig& config) { return "wsd, falling over the last " + percent(config.schedule.decayPart); }}},
        {"plateau", {false, warmed(level), [](const RunConfig& config) {
                         return "plateau, · " + shortText(config.schedule.decayFactor) + " once evaluation.best_metric (" + config.evaluation.bestMetric + ") got no better in " +
                                countText(config.schedule.patience + 1, "evaluation");
                     }}},
    };
}

}  // namespace

Kinds<CurveKind>& curveKinds() {
    static Kinds<CurveKind> kinds{builtIn()};
    return kinds;
}

bool hasLength(const ScheduleSection& schedule) {
    const CurveKind* kind = curveKinds().find(schedule.name);
    return kind && kind->hasLength;
}

ScheduleSection scheduleOf(const config::RunConfig& config, std::optional<std::int64_t> planned) {
    ScheduleSection schedule = config.schedule;
    if (!schedule.totalUpdates) schedule.totalUpdates = planned;
    return schedule;
}

ScheduleSection scheduleOnResume(const config::RunConfig& config, std::optional<std::int64_t> stored, std::optional<std::int64_t> planned, bool anew) {
    return scheduleOf(config, planned && (anew || !stored) ? planned : stored);
}

double factorAt(const ScheduleSection& schedule, GlobalStep applied) {
    const CurveKind* kind = curveKinds().find(schedule.name);
    return kind ? std::clamp(kind->factor(schedule, applied), 0.0, 1.0) : 1.0;
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
