// Which checkpoints stay: after each new one the rule of the session's configuration is applied.
// Thread: the one that owns the writer.
#pragma once

#include "config/sections.h"
#include "rundir/run_folder.h"
#include "store/run_store.h"

#include <string>
#include <vector>

namespace lathe {
class FileSystem;
}

namespace lathe::launch {

/// Removes what the rule lets go, never pinned ones, `inUse`, the newest of a branch that was left, or what the run began
/// from; failures are logged and the folder stays.
void applyRetention(FileSystem& fs, const rundir::RunFolder& run, const config::RunConfig& config, store::RunWriter& writer,
                    std::vector<std::string> inUse);

/// Takes the name away first, so that a removal that is interrupted leaves nothing that looks like a checkpoint.
Result<void> removeCheckpoint(FileSystem& fs, const rundir::RunFolder& run, const std::string& folder);
/// Removes unfinished folders. Requires: no worker of this run lives.
void removeUnfinished(FileSystem& fs, const rundir::RunFolder& run);

}  // namespace lathe::launch
