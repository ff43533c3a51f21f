// Whether a run goes on by itself after a session: to an earlier state as its guard wants it, or after a crash.
// Thread: pure functions, but for the planner that they are given.
#pragma once

#include "base/result.h"
#include "launch/run/session_end.h"
#include "launch/verbs/prepare.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lathe::launch {

/// An end of workers that nobody wished for and that they could not explain: a signal, leaving without a word, or a hang.
struct Crash {
    std::int64_t monotonicNs = 0;
    std::int64_t attempt = 0;      ///< newest update attempt that is recorded
    std::string cause;             ///< "SIGSEGV, a crash in memory access": equal for equal causes
};

/// Of a session whose workers are gone.
struct CrashFacts {
    EndFacts end;
    std::optional<rundir::HangRecord> hang;   ///< that they were ended for, where guard.on_hang wants it to be treated as a crash
    bool isReplay = false;
    std::int64_t attempt = 0, nowNs = 0;      ///< newest update attempt; time
};
/// Nothing where the end is no crash: above all where a stop was asked for before the last worker was gone. What a worker
/// explains itself (a failure, divergence, memory that it could not get) would come out the same once more.
std::optional<Crash> crashOf(const CrashFacts& facts);

struct RestartChoice {
    bool goesOn = false;
    std::string why;               ///< of not going on, empty where nobody wished for it; of going on which of how many it is
};
/// `earlier`: crashes of this run under the same supervisor. At most `perHour` restarts in any hour, none after a crash at
/// the same update for the same cause as before, which would only come once more, and none of a run that is paused.
RestartChoice chooseRestart(const std::vector<Crash>& earlier, const Crash& now, std::int64_t perHour, bool isPaused);

/// The session that a run goes on in by itself, planned already.
struct Next {
    enum class Kind { WentBack, Restarted };
    int session = 0;
    Kind kind = Kind::Restarted;
    std::string why;
    std::string notice;                    ///< which checkpoints were passed over; or empty
};

struct NextFacts {
    CrashFacts crash;
    std::optional<GoingBack> goesBack;     ///< what the first rank left for
    bool isPaused = false;
    std::int64_t restartsPerHour = 0;
};
/// Writes the plan of the next session.
struct Planner {
    std::function<Result<PlannedSession>(std::int64_t notAfter)> goBack;
    std::function<Result<PlannedSession>(bool fromTheStart)> restart;   ///< from nothing too where nothing was saved yet
};
/// To be asked before the end is written down, so that the run is never seen as ended in between. Nothing where it has
/// ended; `end` then tells why, where something else was wished for. A crash that it goes on after is added to `crashes`.
std::optional<Next> planNext(SessionEnd& end, const NextFacts& facts, std::vector<Crash>& crashes, const Planner& plan);

}  // namespace lathe::launch
