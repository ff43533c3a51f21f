// A roll-back that a person asked for and that fails before its first update leaves the run where it was: the way that the
// run has come, its configuration and its counters are those from before.
// Thread: functions without shared state; undo() needs the run's lock.
#pragma once

#include "rundir/run_folder.h"

namespace lathe::launch {

/// Looks at the record of the newest session, whose end stands in it but not yet on the disk. Where such a roll-back failed
/// (also after restarts that came no further) the record is marked, goes on from the session before, and says so; records of
/// those between are marked on the disk, and `summary` tells of the run as that session left it.
void undo(const rundir::RunFolder& run, rundir::SessionRecord& ended, rundir::Summary& summary);

/// The newest session that was not undone: whose configuration the run has. 0 where there is none.
int standingSession(const rundir::RunFolder& run);

}  // namespace lathe::launch
