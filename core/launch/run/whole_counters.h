// Which of a run's counters can be relied on.
// Thread: functions without shared state.
#pragma once

#include "rundir/run_folder.h"

namespace lathe::launch {

/// Every update tells how many there were, applied or not. The rest (micro-batches, samples, tokens, the place in the data) is
/// told by checkpoints and by how a session ended: true where one of these was at the update that the run has reached, so that
/// all of the summary's counters are of that update. False for a program that is not ours, which counts none of it.
bool areWhole(const rundir::RunFolder& run, const rundir::Summary& summary);

}  // namespace lathe::launch
