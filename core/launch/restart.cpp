#include "launch/restart.h"

#include <algorithm>
#include <csignal>

namespace lathe::launch {

std::string crashCause(const EndFacts& end) {
    if (end.isCommand || end.isRecorded || end.stopAsked || end.ended || !end.killedBy.empty()) return {};   // one that hangs is guard.on_hang's
    if (end.exit.signal == SIGKILL && end.systemRanOutOfMemory) return "the system's memory ran out";
    if (end.exit.signal) return signalText(*end.exit.signal);
    return end.exit.code ? "exit code " + std::to_string(*end.exit.code) + " without a word" : "nobody knows how";
}

RestartChoice chooseRestart(const std::vector<Crash>& earlier, const Crash& now, std::int64_t perHour) {
    constexpr std::int64_t kHour = 3'600'000'000'000;
    if (perHour <= 0) return {};
    const std::string key = " (run.restarts_per_hour)";
    const bool again = std::any_of(earlier.begin(), earlier.end(), [&](const Crash& crash) { return crash.attempt == now.attempt && crash.cause == now.cause; });
    if (again) return {false, "It crashed at this update for this cause before, so it would only come once more" + key};
    const auto recent = std::count_if(earlier.begin(), earlier.end(), [&](const Crash& crash) { return now.monotonicNs - crash.monotonicNs < kHour; });
    if (recent >= perHour) return {false, "It was restarted " + std::to_string(recent) + (recent == 1 ? " time" : " times") + " within the last hour" + key};
    return {true, "restart " + std::to_string(recent + 1) + " of at most " + std::to_string(perHour) + " an hour"};
}

}  // namespace lathe::launch
