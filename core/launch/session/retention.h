// Which checkpoints stay: after each new one the rule of the session's configuration is applied. What it would remove can be
// asked before.
// Thread: the one that owns the writer; planRetention() any.
#pragma once

#include "config/sections.h"
#include "rundir/keep_rule.h"
#include "rundir/run_folder.h"
#include "store/run_store.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lathe {
class FileSystem;
}

namespace lathe::launch {

struct PlannedCheckpoint {
    rundir::CheckpointInfo info;
    rundir::KeepChoice choice;
    std::string why;              ///< the choice in words
    bool goesNext = false;        ///< it goes as soon as one more checkpoint is there, whatever that one is worth
    std::uint64_t ownBytes = 0;   ///< of files that no other checkpoint shares: what removing it gives back
};

/// What the rule of `config` keeps and would remove now. keep_last counts on the line that goes on: of a branch that going back
/// left stay its newest one, and whatever the rule keeps for another reason. So do pinned ones, those that other runs were made
/// from, what the run began from, and what a session that is not over went on from.
Result<std::vector<PlannedCheckpoint>> planRetention(const rundir::RunFolder& run, const config::RunConfig& config);
/// … by the configuration of the newest session.
Result<std::vector<PlannedCheckpoint>> planRetention(const rundir::RunFolder& run);

struct AppliedRetention {
    std::vector<std::string> notReRead;   ///< what is left, whole as far as is known, and was not re-read yet
    /// An error: what goes, or may go, has stayed until the next time; more of them are logged. (That one is being read is none.)
    Result<void> done;
};
/// Removes what the plan lets go, each that can be, and marks in run.sqlite whatever is not there, also where an earlier call
/// could not.
AppliedRetention applyRetention(FileSystem& fs, const rundir::RunFolder& run, const config::RunConfig& config, store::RunWriter& writer,
                                        const std::vector<std::string>& inUse);

}  // namespace lathe::launch
