// Where a run comes from, and what that rules out: a person's own command keeps its own checkpoints, and what was read
// from files of another program has none.
#pragma once

#include "rundir/run_folder.h"

#include <QString>

namespace lathe::pages {

enum class RunKind { Training, Command, Imported };

RunKind kindOf(const rundir::Summary& summary);
/// Why Continue, Roll back, Fork, Save now and the like are not possible, or empty.
QString whyNoCheckpoints(RunKind kind);
/// Why it cannot be run again, or empty.
QString whyNotAgain(RunKind kind);

}  // namespace lathe::pages
