// How a run stands and how its session ended: one function from everything that is known to state and sentence, asked by
// the supervisor at the end, by whoever settles what a lost one left, and by everyone who looks (standingOf). Only an exit
// record or a worker's "ended" event makes a session completed or stopped; that of a person's command is judged by how its
// process ended. A pid alone says nothing: life is proved by locks, or by pid, start time and boot id together with what
// the process has open.
// Thread: pure functions.
#pragma once

#include "launch/process/child_process.h"
#include "launch/run/program_frames.h"
#include "rundir/run_folder.h"

#include <optional>
#include <string>

namespace lathe::launch {

/// What a worker asks for that left in order to go back to an earlier state.
struct GoingBack {
    std::int64_t notAfter = 0;  ///< step: checkpoints after it are not good
    rundir::State otherwise = rundir::State::Diverged;   ///< what the run ends as where it cannot go back
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

struct SessionEnd {
    rundir::State state = rundir::State::Failed;
    std::string why;
    bool operator==(const SessionEnd&) const = default;
};

/// What stands written about a run and a session of it. The defaults are those of a session that has just ended.
struct WrittenFacts {
    bool hasSession = true;
    std::string damage;                  ///< why the record of the session cannot be read, or empty
    std::optional<Error> unread;         ///< something else could not be read just now, so that what stands here may be wrong
    std::optional<SessionEnd> record;    ///< its exit record
    std::optional<SessionEnd> summary;   ///< what summary.json says
    std::string elsewhere;               ///< the run is another machine's: "On gpu1, seen 12 s ago"; else empty
    bool wasUp = true;                   ///< a supervisor had it: live.json names it or a later one, or something of it is recorded
    bool wasNext = false;                ///< planned by the supervisor of the session before it, and not begun
    bool sameBoot = true;                ///< … since the machine was started
};

/// What lives, of others than who asks.
struct LifeFacts {
    bool supervisor = false;             ///< holds the run's lock, or is the process of live.json and has the folder open
    bool workers = false;                ///< somebody holds workers.lock
    bool queued = false;                 ///< the queue of this user has it
};

/// How the processes of a session ended.
struct EndFacts {
    bool seen = true;           ///< by their supervisor; else `ended` is all that there is
    std::optional<Ended> ended;
    ExitStatus exit;
    std::string killedBy;       ///< a stop went further than asking, and why: "did not stop within 60 s"; else empty
    bool killSent = false;      ///< … as far as SIGKILL
    bool systemRanOutOfMemory = false;
    std::string logTail;        ///< last lines of the rank's log
    bool isCommand = false;
    bool isRecorded = false;    ///< a script that was only listened to
    bool stopAsked = false;
    bool discarded = false;     ///< … without saving, by a person
    std::int64_t updates = 0;   ///< attempts that the run has made in all its sessions
    std::optional<ProgramFrames::Goodbye> goodbye;  ///< what a program that is not ours said of its end
};

struct SessionFacts {
    WrittenFacts written;
    LifeFacts life;
    EndFacts end;
};
SessionEnd judge(const SessionFacts& facts);
/// Read from the folder, about its newest session or an earlier one.
WrittenFacts writtenAbout(const rundir::RunFolder& run, int session);

/// The account in an "ended" event; nothing where it is none or is damaged.
std::optional<Ended> endedFrom(const live::EventFrame& event);
/// What the ranks said of the end of a session whose supervisor was lost, recorded already or left in their spills: of one
/// that knew why, else of one that only missed another (lostContact). Damaged files say nothing; the error is of others that
/// cannot be read just now.
Result<std::optional<Ended>> accountLeft(const rundir::RunFolder& run, int session);

/// " · no sign of life for 12 s", of rank 1 " · no sign of life from rank 1 for 12 s"; nothing while it has been silent for
/// less than it may be.
std::string silenceText(double seconds, int rank = -1);
/// Moves the last 16 MiB of an append-only log to "<file>.1" once it is longer than that; whoever has it open writes on at
/// its beginning.
void capLog(const std::filesystem::path& file);
/// The last `lines` lines of a log that say something, at most 1,000 bytes; also where capLog() has just moved them away. What
/// Lathe itself notes while all is well is left out: it explains no end.
std::string logTail(const std::filesystem::path& file, int lines);

}  // namespace lathe::launch
