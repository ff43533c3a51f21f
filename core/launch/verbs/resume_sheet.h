// What going on from a checkpoint would do, told before anything is written: for each setting what the checkpoint says,
// what is asked for and what will be used; the learning rate before and after; how many updates are left.
// Thread: a function without shared state; takes no lock and writes nothing. Waits for a worker, which says
// what it would refuse or tell: whether data, plug-ins and machine are those of the checkpoint.
#pragma once

#include "base/counters.h"
#include "base/result.h"
#include "launch/verbs/prepare.h"
#include "rundir/run_folder.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::launch {

enum class GoOn { Continue, RollBack, Fork, StartFromWeights };
std::string_view name(GoOn verb);   ///< as on the command line: "roll-back"

/// What becomes of a setting that was asked for.
enum class Effect {
    Same,            ///< as in the checkpoint
    Applies,         ///< for the run as a whole
    AppliesFromNow,  ///< from the next update on; what was trained stays as it was
    Ignored,         ///< has no meaning with the other settings
    Forbidden        ///< the state of the checkpoint does not go with it, or it is no valid value
};
std::string_view name(Effect effect);  ///< "applies from now"

struct SheetRow {
    std::string key, label;
    std::string checkpoint;          ///< value it was made with
    std::optional<std::string> form; ///< value asked for, where there is one
    std::string used;
    Effect effect = Effect::Same;
    std::string why;                 ///< why it is forbidden or ignored, else empty
    bool changeable = true;          ///< another value would not be forbidden as such
    bool visible = true;             ///< has a meaning with the other settings
};

/// The learning rate at an update as it was planned, and as it will be; nan where it is that of a plug-in which cannot be
/// asked (a notice says why).
struct RatePoint {
    std::int64_t step = 0;
    double before = 0, after = 0;
};

struct ResumeSheet {
    GoOn verb = GoOn::Continue;
    std::string checkpoint;          ///< folder name, empty: nothing usable is there and it starts over
    GlobalStep step;                 ///< applied updates that it goes on from; 0 with start-from-weights
    std::vector<SheetRow> rows;      ///< every setting, in the order of the schema
    double rateBefore = 0, rateAfter = 0;          ///< of the next update
    std::vector<RatePoint> curve;                  ///< over the longer of both, its corners among them
    std::optional<std::int64_t> plannedBefore, plannedAfter, left;  ///< updates; nothing where that is not known before the data are read
    std::vector<std::string> notices;
    std::optional<Error> refused;    ///< why it would not start
};

/// `checkpoint`: folder name; empty with Continue: the newest usable one of the line. An error
/// is only what leaves nothing to show: no such run, no readable configuration.
Result<ResumeSheet> resumeSheet(const rundir::RunFolder& run, GoOn verb, std::string checkpoint, const Changes& changes);

}  // namespace lathe::launch
