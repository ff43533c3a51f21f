// A recorded run as event files: one file a session, every point of every series, values as float32.
// Thread: one.
#pragma once

#include "base/file_system.h"
#include "base/result.h"
#include "store/run_store.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lathe::tensorboard {

struct ExportOptions {
    std::filesystem::path folder;  ///< exists and holds no event files
    std::string host;              ///< part of the file names
    bool allBranches = false;      ///< also what was abandoned, in sub-folders branch-<session>
    bool stepsAreAttempts = false; ///< an imported run: a session may go on beside what came before, without going back
};

struct ExportReport {
    std::int64_t points = 0;
    std::int64_t leftBehind = 0;   ///< points of abandoned branches that were not asked for
    std::vector<std::filesystem::path> files;
};

Result<ExportReport> exportEvents(FileSystem& fs, const store::RunReader& reader, const ExportOptions& options);

}  // namespace lathe::tensorboard
