// A session as run.sqlite knows it, from its record.
#pragma once

#include "rundir/run_folder.h"
#include "store/run_store.h"

namespace lathe::launch {

/// Where it begins: the step of the checkpoint that it loads, or 0.
std::int64_t startStepOf(const rundir::SessionRecord& record);
/// `lastStep`: what it has reached.
store::SessionRow rowOf(const rundir::SessionRecord& record, std::int64_t lastStep = 0);

}  // namespace lathe::launch
