// Learning rate as a pure function of the number of applied updates: nothing to save, nothing that can drift.
#pragma once

#include "base/counters.h"

#include <cstdint>
#include <optional>
#include <string>

namespace lathe::plan {

/// The shape of the curve. Warm-up over W updates gives factors 1/W, 2/W, …, 1; the rest falls from 1 towards
/// finalFactor in (total - W) equal steps, so that the last update still learns: W 4, total 10, linear, final 0 gives
/// .25 .5 .75 1 1 .8333 .6667 .5 .3333 .1667. Beyond `total` the end value stays.
struct Schedule {
    std::string name = "constant";  ///< constant | linear | cosine
    std::int64_t warmupUpdates = 0;
    std::int64_t totalUpdates = 1;
    double finalFactor = 0.0;
};

/// Factor on the base rate for the update that follows `applied` applied ones (0 for the first). In [0, 1].
double factorAt(const Schedule& schedule, GlobalStep applied);

/// A sentence where warm-up takes longer than the run, or nothing.
std::string warmupDoubt(std::int64_t warmupUpdates, std::optional<GlobalStep> planned);

}  // namespace lathe::plan
