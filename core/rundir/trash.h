// Where deleted runs and checkpoints lie until they are removed for good. Thread: pure functions, but for isInTrash().
#pragma once

#include "rundir/run_folder.h"

#include <filesystem>

namespace lathe::rundir {

inline std::filesystem::path trashOf(const std::filesystem::path& workspace) { return workspace / "trash"; }

/// Also of a run that is held (RunFolder::held) and was deleted since.
inline bool isInTrash(const RunFolder& run) { return run.place().parent_path().filename() == trashOf({}).filename(); }

}  // namespace lathe::rundir
