// Room that a session holds in its run's folder and gives back at its end, so that a full disk cannot keep the last points and
// the exit record from being written: one file for each, since points take what they get.
// Thread: any, of the holder of the run's lock.
#pragma once

#include "base/result.h"
#include "rundir/run_folder.h"

#include <filesystem>

namespace lathe::launch {

/// RunFolder::reserve() and recordReserve().
Result<void> reserveSpace(const rundir::RunFolder& run);
/// One of them. None is there: fine; one that stays is logged.
void giveSpaceBack(const std::filesystem::path& reserve);

}  // namespace lathe::launch
