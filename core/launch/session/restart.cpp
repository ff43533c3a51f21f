#include "launch/session/restart.h"

#include <algorithm>
#include <csignal>

namespace lathe::launch {

static std::string causeOf(const EndFacts& end) {
    if (end.exit.signal == SIGKILL && end.systemRanOutOfMemory) return "the system's memory ran out";
    if (end.exit.signal) return signalText(*end.exit.signal);
    return end.exit.code ? "exit code " + std::to_string(*end.exit.code) + " without a word" : "nobody knows how";
}

std::optional<Crash> crashOf(const CrashFacts& facts) {
    const EndFacts& end = facts.end;
    if (end.isCommand || end.isRecorded || end.stopAsked || facts.isReplay) return std::nullopt;
    if (facts.hang) {   // the same update with the same stack is the same cause
        const auto& [rank, attempt, place, stack] = *facts.hang;
        return Crash{facts.nowNs, attempt, "a hang in " + place + (stack.empty() ? "" : " with the stack " + stack)};
    }
    if (end.ended || !end.killedBy.empty()) return std::nullopt;
    return Crash{facts.nowNs, facts.attempt, causeOf(end)};
}

RestartChoice chooseRestart(const std::vector<Crash>& earlier, const Crash& now, std::int64_t perHour, bool isPaused) {
    constexpr std::int64_t kHour = 3'600'000'000'000;
    if (perHour <= 0) return {};
    if (isPaused) return {false, "It was paused"};   // somebody wanted it to stand still
    const std::string key = " (run.restarts_per_hour)";
    const bool again = std::any_of(earlier.begin(), earlier.end(), [&](const Crash& crash) { return crash.attempt == now.attempt && crash.cause == now.cause; });
    if (again) return {false, "It crashed at this update for this cause before, so it would only come once more" + key};
    const auto recent = std::count_if(earlier.begin(), earlier.end(), [&](const Crash& crash) { return now.monotonicNs - crash.monotonicNs < kHour; });
    if (recent >= perHour) return {false, "It was restarted " + std::to_string(recent) + (recent == 1 ? " time" : " times") + " within the last hour" + key};
    return {true, "restart " + std::to_string(recent + 1) + " of at most " + std::to_string(perHour) + " an hour"};
}

static std::optional<Next> afterCrash(SessionEnd& end, const NextFacts& facts, std::vector<Crash>& crashes, const Planner& plan) {
    const auto crash = crashOf(facts.crash);
    if (!crash) return std::nullopt;
    const RestartChoice choice = chooseRestart(crashes, *crash, facts.restartsPerHour, facts.isPaused);
    if (choice.why.empty()) return std::nullopt;
    const auto planned = choice.goesOn ? plan.restart(crash->attempt > 0) : Result<PlannedSession>(Error{ErrorCode::Stopped, choice.why, {}, {}});
    if (!planned) {
        end.why += ". It does not go on by itself: " + planned.error().sentence;
        return std::nullopt;
    }
    crashes.push_back(*crash);
    Next next{planned->session, Next::Kind::Restarted, end.why, planned->notice};
    end.why += ". It goes on by itself, " + choice.why;
    return next;
}

std::optional<Next> planNext(SessionEnd& end, const NextFacts& facts, std::vector<Crash>& crashes, const Planner& plan) {
    if (!facts.goesBack || end.state != rundir::State::Stopped || facts.crash.end.stopAsked || facts.crash.end.isCommand) return afterCrash(end, facts, crashes, plan);
    const auto planned = plan.goBack(facts.goesBack->notAfter);
    if (planned) return Next{planned->session, Next::Kind::WentBack, end.why, planned->notice};
    end = {facts.goesBack->otherwise, end.why + ". It cannot go back: " + planned.error().text()};
    return std::nullopt;
}

}  // namespace lathe::launch
