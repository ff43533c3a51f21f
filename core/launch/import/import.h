// TensorBoard logs as runs of the workspace: a folder read once, or followed while its files grow.
// Thread: the calling thread does everything.
#pragma once

#include "base/result.h"
#include "launch/import/imported_run.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lathe::launch {

/// What became of one folder, or is becoming of it.
struct ImportedFolder {
    std::filesystem::path source;
    rundir::RunFolder run;
    bool isNew = false;            ///< the run was made now
    ImportCount count;
    rundir::State state = rundir::State::Completed;
};

struct ImportOptions {
    std::filesystem::path workspace, folder;
    std::string name;              ///< of new runs, or before the sub-folder's where there are several; empty: the folder's
    bool follow = false;
    double idleSeconds = 1800;     ///< follow: a run whose files are silent for so long has ended
    int readyFd = -1;              ///< follow: one byte is written here once what is there is read and the runs are up
    std::function<void(std::uint64_t bytes)> progress;  ///< now and then, bytes read so far
    std::function<void(const std::vector<ImportedFolder>& followed)> following = {};  ///< follow: whenever something new has come, or a run less is followed
};

struct ImportReport {
    std::vector<ImportedFolder> runs;
    std::vector<std::string> problems;   ///< folders that could not be read or recorded, or are in use
    bool stopped = false;                ///< by a signal or on request
    bool failed = false;                 ///< what was read of one at least could not be recorded
};

/// Each folder with event files below `folder` becomes a run, or adds to the one it made before; nothing comes twice.
/// Errors of one folder are in the report; an error is returned where nothing could be read at all. SIGTERM, SIGINT and
/// SIGHUP end it, with everything read so far kept.
Result<ImportReport> importFolder(const ImportOptions& options);

}  // namespace lathe::launch
