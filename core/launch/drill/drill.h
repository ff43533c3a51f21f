// A crash drill: trains a small run in a scratch folder, kills its processes at random moments, resumes it each time, and
// compares it at the end with the same run that nobody touched. Shows on a person's own disk and machine what is promised.
// Nothing but the scratch folder is written to; it is gone afterwards, also after an interruption.
// Thread: one. Requires: SIGINT, SIGTERM and SIGHUP are held (holdStopSignals); one that comes ends the drill early.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lathe::launch {

struct DrillOptions {
    std::filesystem::path folder;          ///< its disk is drilled: a scratch folder is made in it
    int kills = 20;                        ///< how often something is killed
    double seconds = 0;                    ///< kill no more after so many; 0: no limit
    double every = 1;                      ///< mean time between kills: each comes after 0 to twice as many seconds
    std::uint64_t seed = 0;                ///< of what is killed and when
    std::function<void(const std::string&)> tell = [](const std::string&) {};  ///< a line for each kill
};

struct DrillReport {
    std::uint64_t seed = 0;
    int strikes = 0;                       ///< moments at which one process or several were killed
    std::map<std::string, int> killed;     ///< "worker", "supervisor", "command", "reader", "window": how many of them
    int sessions = 0;                      ///< of the run that was killed
    std::int64_t updates = 0;              ///< of its surviving line, all compared
    std::size_t points = 0;                ///< recorded over all branches
    int verified = 0;                      ///< checkpoints read byte by byte after a kill
    double wallSeconds = 0;                ///< from the first start to the last kill's rest
    double usefulRatio = 0;                ///< the part of it that the same updates take undisturbed
    bool isStopped = false;                ///< a signal ended it early; what follows was not looked at
    std::vector<std::string> broken;       ///< promises that were not kept, a sentence each
    std::vector<std::string> left;         ///< processes and files that were still there at the end
    bool ok() const { return broken.empty() && left.empty() && !isStopped; }
};

/// An error: the drill could not be made here (no such folder, no room, no worker, no lock on this disk …), or killed nothing
/// that had begun. What an earlier drill left there, which was killed itself, is ended and removed first.
Result<DrillReport> drill(const DrillOptions& options);

}  // namespace lathe::launch
