// How a session ended: one function from what is known to state and sentence. Only an "ended" event can make a worker's
// session completed or stopped; that of a person's command is judged by how its process ended.
// Thread: pure functions.
#pragma once

#include "launch/child_process.h"
#include "launch/program_frames.h"
#include "rundir/run_folder.h"

#include <optional>
#include <string>

namespace lathe::launch {

/// What a worker asks for that left in order to go back to an earlier state.
struct GoingBack {
    std::int64_t notAfter = 0;  ///< step: checkpoints after it are not good
};

/// The worker's own account, from its "ended" event.
struct Ended {
    rundir::State state = rundir::State::Failed;
    std::string why;
    std::optional<Counters> counters;
    std::string checkpoint;
    bool lostContact = false;   ///< it ended because another rank was gone
    std::optional<GoingBack> goesBack;
    std::optional<rundir::MemoryRecord> memory;   ///< of memory that ran out
};

struct EndFacts {
    std::optional<Ended> ended;
    ExitStatus exit;
    std::string killedBy;       ///< a stop went further than asking, and why: "did not stop within 60 s"; else empty
    bool killSent = false;      ///< … as far as SIGKILL
    bool systemRanOutOfMemory = false;
    std::string logTail;        ///< last lines of the rank's log
    bool isCommand = false;
    bool isRecorded = false;    ///< a script that was only listened to
    bool stopAsked = false;
    std::optional<ProgramFrames::Goodbye> goodbye;  ///< what a program that is not ours said of its end
};

struct SessionEnd {
    rundir::State state = rundir::State::Failed;
    std::string why;
};
SessionEnd judgeEnd(const EndFacts& facts);

/// "SIGSEGV, a crash in memory access", for people.
std::string signalText(int number);
/// " · no sign of life for 12 s", or nothing while the worker has been silent for less than it may be.
std::string silenceText(double seconds);
/// Moves the last 16 MiB of an append-only log to "<file>.1" once it is longer than that; whoever has it open writes on at
/// its beginning.
void capLog(const std::filesystem::path& file);
/// The last `lines` lines of a log that say something, at most 1,000 bytes; also where capLog() has just moved them away.
std::string logTail(const std::filesystem::path& file, int lines);

}  // namespace lathe::launch
