// What a crash drill looks at: what must hold after every kill, and at the end. Each finding is a sentence; none is good.
// Private to this folder. Thread: one.
#pragma once

#include "rundir/run_folder.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace lathe::launch {

using Findings = std::vector<std::string>;

/// Points of train/loss that are recorded over all branches; 0 where there is no record yet.
std::size_t recordedPoints(const rundir::RunFolder& run);

/// The record opens, its checksums hold, no point that was there before is gone, and every checkpoint that is listed verifies.
Findings afterKill(const rundir::RunFolder& run, std::size_t pointsBefore, int& verified);

/// What may be written down as the end of a session, by what was killed in it.
struct Expected {
    bool worker = false, supervisor = false;
};
/// Every session has an end, it is the true one, and came at the update at which its record ends.
Findings endsToldWrong(const rundir::RunFolder& run, const std::map<int, Expected>& killed);

/// Every update once, with the same bits of loss, rate and gradient norm, and the same state in the last checkpoint.
Findings differences(const rundir::RunFolder& killed, const rundir::RunFolder& straight, std::int64_t updates);

/// Files and locks below a workspace that a run which is over must not leave.
Findings leftFiles(const std::filesystem::path& workspace);
/// Names in /dev/shm that are this user's and this program's.
std::vector<std::string> namedMemory();

}  // namespace lathe::launch
