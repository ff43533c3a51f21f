// The summary of a run, also where its file was lost: made again from its record.
// Thread: functions without shared state; mendSummary() takes the run's lock.
#pragma once

#include "base/result.h"
#include "rundir/run_folder.h"

namespace lathe::launch {

/// What summary.json says. Where that is missing or damaged: what the run had come to when points were last recorded, and how
/// its newest session ended; of a run that recorded nothing what its other files say.
Result<rundir::Summary> summaryOf(const rundir::RunFolder& run);
/// Writes a summary that is missing or damaged anew. Whether it was.
Result<bool> mendSummary(const rundir::RunFolder& run);

}  // namespace lathe::launch
