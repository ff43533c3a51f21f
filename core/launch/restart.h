// Whether a run goes on by itself after its worker crashed.
// Thread: pure functions.
#pragma once

#include "launch/session_end.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lathe::launch {

/// An end of workers that nobody wished for and that they could not explain: a signal, or leaving without a word.
struct Crash {
    std::int64_t monotonicNs = 0;
    std::int64_t attempt = 0;      ///< newest update attempt that is recorded
    std::string cause;             ///< "SIGSEGV, a crash in memory access": equal for equal causes
};

/// The cause of a crash; empty where the end is none. What a worker explains itself (a failure, divergence, memory that it
/// could not get) would come out the same once more.
std::string crashCause(const EndFacts& end);

struct RestartChoice {
    bool goesOn = false;
    std::string why;               ///< of not going on; of going on which of how many it is
};
/// `earlier`: crashes of this run under the same supervisor. At most `perHour` restarts in any hour, and none after a crash
/// at the same update for the same cause as before: that would only come once more.
RestartChoice chooseRestart(const std::vector<Crash>& earlier, const Crash& now, std::int64_t perHour);

}  // namespace lathe::launch
