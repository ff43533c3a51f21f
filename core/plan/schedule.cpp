#include "plan/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lathe::plan {

double factorAt(const Schedule& schedule, GlobalStep applied) {
    const std::int64_t k = std::max<std::int64_t>(applied.value(), 0);
    const std::int64_t warmup = std::max<std::int64_t>(schedule.warmupUpdates, 0);
    if (k < warmup) return static_cast<double>(k + 1) / static_cast<double>(warmup);
    if (schedule.name == "constant") return 1.0;
    const std::int64_t steps = schedule.totalUpdates - warmup;
    const double progress = steps <= 0 ? 1.0 : std::min(1.0, static_cast<double>(k - warmup) / static_cast<double>(steps));
    const double shape = schedule.name == "cosine" ? 0.5 * (1.0 + std::cos(std::numbers::pi * progress)) : 1.0 - progress;
    return schedule.finalFactor + (1.0 - schedule.finalFactor) * shape;
}

std::string warmupDoubt(std::int64_t warmupUpdates, std::optional<GlobalStep> planned) {
    if (!planned || warmupUpdates <= planned->value()) return {};
    return "Warm-up takes " + std::to_string(warmupUpdates) + " updates and the run has " + std::to_string(planned->value())
           + ": the learning rate never reaches its peak; set schedule.warmup_updates to " + std::to_string(planned->value() / 10) + " or so";
}

}  // namespace lathe::plan
