// A run's summary as text: what stands in summary.json, and beside the points in run.sqlite. parseSummary() reads it.
// Thread: a pure function.
#pragma once

#include "rundir/run_folder.h"

#include <string>

namespace lathe::rundir {

std::string summaryText(const Summary& summary);

}  // namespace lathe::rundir
