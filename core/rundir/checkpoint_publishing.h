// How checkpoints come and go: as whole folders, so that a name without a dot always stands for a whole one.
// Names with a dot: ".s003-000000120" unfinished, or replaced; ".s003-000000120.removed" about to be removed; ".old-s003-000000120"
// replaced on a disk that cannot exchange two names, where the new one may not have its name yet.
// Thread: one at a time for a folder of checkpoints, but that removeCheckpoint() may run beside publishCheckpoint().
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace lathe {
class FileSystem;
}

namespace lathe::rundir {

/// Bytes that a save asks for beside its tensor files: for manifest, trainer.json, folders and what the file system needs.
constexpr std::uint64_t kSmallFilesBytes = 1u << 20;

/// Gives the finished and synced folder "." + `name` its name. One that has it is replaced: in one step where the disk can do
/// that, else in two, between which clearUnfinished() brings the old one back. After an error the name stands for what it
/// stood for before, as far as the disk lets it.
Result<void> publishCheckpoint(FileSystem& fs, const std::filesystem::path& checkpoints, const std::string& name);

/// Once this has returned ok there is none of that name; what could not be removed of it is for clearUnfinished(). Busy while
/// somebody reads it (CheckpointHold).
Result<void> removeCheckpoint(FileSystem& fs, const std::filesystem::path& checkpoints, const std::string& name);

/// Whether a checkpoint of this session is under its unfinished name: it is being written, or its writer has died.
bool isBeingWritten(const std::filesystem::path& checkpoints, int session);

/// Clears up behind a process that died. What cannot be removed stays, and is logged. A replaced one that should get its name
/// back and cannot is logged too, and stays with the new one beside it: these two are all there is of that checkpoint.
/// Requires: nobody else makes or removes checkpoints there.
void clearUnfinished(FileSystem& fs, const std::filesystem::path& checkpoints);

}  // namespace lathe::rundir
