// Learning rate as a function of the number of applied updates: nothing to save, nothing that can drift. Only the plateau
// schedule looks at evaluations, and has state (Plateau).
//
// A curve is the schedule section of a configuration with total_updates filled in (scheduleOf). Warm-up over W updates
// gives 1/W, 2/W, …, 1 of the curve's first value; with n = total - W, and j updates after warm-up, what follows is
//   linear, cosine, polynomial   fall from 1 towards final_factor in n equal steps, so that the last update still learns:
//                                W 4, total 10, linear, final 0 gives .25 .5 .75 1 1 .8333 .6667 .5 .3333 .1667
//   cosine with cycles           falls so many times within n, each cycle_growth times as long as the one before
//                                (Loshchilov and Hutter 2017, SGDR; PyTorch's CosineAnnealingWarmRestarts with T_0 = the first)
//   one_cycle                    rises from start_factor to 1 over rise_part · n, then falls to final_factor, both as a cosine
//                                (Smith and Topin 2018; PyTorch's OneCycleLR of n + 1 steps)
//   wsd                          1, then over the last decay_part · n to final_factor (Hu et al. 2024; sqrt: Hägele et al. 2024)
//   step, exponential            decay_factor to the power of j / decay_updates, whole or not; not below final_factor
//   constant, plateau            1
// Beyond its length a curve keeps final_factor.
#pragma once

#include "base/counters.h"
#include "base/kinds.h"
#include "config/sections.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace lathe::plan {

/// Whether the curve has an end.
bool hasLength(const config::ScheduleSection& schedule);

/// The curve of a run that begins now: total_updates is what the configuration says, else `planned`; without either it
/// stays open, which only curves without a length allow.
config::ScheduleSection scheduleOf(const config::RunConfig& config, std::optional<std::int64_t> planned);

/// The curve of a run that goes on: the configuration decides about everything but a length that it does not name. That
/// stays what it was (`stored`; nothing where the curve was of another kind or had none), unless a curve is made anew for the
/// planned length.
config::ScheduleSection scheduleOnResume(const config::RunConfig& config, std::optional<std::int64_t> stored, std::optional<std::int64_t> planned, bool anew);

using CurveFactor = std::function<double(const config::ScheduleSection& schedule, GlobalStep applied)>;
struct CurveKind {
    bool hasLength = false;      ///< has an end, so that it must know its length
    CurveFactor factor;          ///< of the whole curve, warm-up included
    std::function<std::string(const config::RunConfig& config)> words;   ///< behind warm-up, for `explain`
};
/// All curves by name: those above, each a line in schedule.cpp, and those of the plug-ins that are loaded.
Kinds<CurveKind>& curveKinds();

/// Factor on the base rate for the update that follows `applied` applied ones (0 for the first). In [0, 1]; 1 where the
/// curve is of a plug-in that is not loaded (launch::factorsAt() asks who has loaded it). What a plug-in's throws comes through.
double factorAt(const config::ScheduleSection& schedule, GlobalStep applied);

/// What the plateau schedule remembers. After `patience` evaluations in a row without a better one the next such one cuts
/// the rate, as PyTorch's ReduceLROnPlateau (threshold mode abs).
struct Plateau {
    double scale = 1;                  ///< on the rate
    std::optional<double> best;
    std::int64_t stale = 0;            ///< evaluations in a row without a better one
    std::int64_t resting = 0;          ///< evaluations that are not counted yet
    GlobalStep seen{-1};               ///< of the newest evaluation: the same one is not taken twice

    /// Takes one evaluation; true when the rate was cut.
    bool take(const config::ScheduleSection& schedule, double value, bool higherIsBetter, double minDelta, GlobalStep step);
};

}  // namespace lathe::plan
