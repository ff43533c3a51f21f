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

}  // namespace lathe::plan
