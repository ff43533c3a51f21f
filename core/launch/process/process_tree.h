// The processes that a command has started, however deep, and signals to them. With the caller as a subreaper
// (PR_SET_CHILD_SUBREAPER) those that daemonised are among them: they become its children when their parents end.
// Thread: functions without shared state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lathe::launch {

struct TreeProcess {
    std::int64_t pid = 0;
    std::uint64_t startTime = 0;
    std::string name;
};

/// Living descendants of a process. A supervisor or keeper of another run that was started from within is no part of
/// this one: what runs this same program is left out, with all below it.
std::vector<TreeProcess> descendantsOf(std::int64_t pid);
/// Living processes of this user whose environment has this very variable ("NAME=VALUE"), from when they were started;
/// those that run this program are left out unless asked for.
enum class OwnProgram { LeftOut, Included };
std::vector<TreeProcess> processesWith(const std::string& variable, OwnProgram own = OwnProgram::LeftOut);
/// To each that is still the one meant; a pid that was taken again is left alone.
void signalAll(const std::vector<TreeProcess>& processes, int number);

}  // namespace lathe::launch
