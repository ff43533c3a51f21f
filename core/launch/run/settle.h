// Taking a run into hand: its lock, and what a lost supervisor left of it, which is ended and booked first.
// Thread: functions without shared state; not while other threads of this process change the same run.
#pragma once

#include "base/result.h"
#include "rundir/run_folder.h"

#include <functional>
#include <string>

namespace lathe::launch {

/// How what a lost supervisor left is ended.
struct EndOfLeftovers {
    bool discard = false;                                ///< it is given less time to save
    std::function<void(const std::string&)> tell = {};   ///< called every few seconds with what is waited for
    bool exports = true;                                 ///< evaluation.restore_best is seen to; else that is left to whoever takes the run next
};
/// Takes the run's lock for a short piece of work, or says who holds it (Busy). Leftovers of a lost supervisor are
/// settled first.
Result<rundir::RunLock> takeRun(const rundir::RunFolder& run, const EndOfLeftovers& how = {});
/// Ends what a lost supervisor left: waits for leftover workers and ends them by the stop ladder, takes in ring spill, books
/// the session as interrupted. Requires: run.lock() is held by the caller.
Result<void> settleLeftovers(const rundir::RunFolder& run, const EndOfLeftovers& how = {});
/// For those who read a run: books what a lost supervisor left of a training once nothing of it runs any more, so that its
/// last updates are in its record; what takes long is left to whoever takes the run. Empty where they are; else why some may be missing, as a sentence.
std::string settleToRead(const rundir::RunFolder& run);

}  // namespace lathe::launch
