// What a person can do with runs; the command line and nothing else calls these (the window executes lathe-trainer).
// Each makes or reopens a run folder under its lock and hands back what to supervise.
// Thread: functions without shared state; not while other threads of this process change the same run.
#pragma once

#include "base/result.h"
#include "config/config.h"
#include "rundir/checkpoint_hold.h"
#include "rundir/run_folder.h"

#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lathe::launch {

/// A session ready to be supervised, its lock held.
struct Prepared {
    rundir::RunFolder run;
    int session = 0;
    rundir::RunLock lock;
    std::string notice;   ///< what the person must know of how it goes on, or empty
};

/// What is to be different when a run goes on or another begins from it.
struct Changes {
    std::vector<std::string> settings;   ///< "key=value"
    bool newCurve = false;               ///< the learning-rate curve is made anew instead of kept as it was stored
    std::int64_t trialUpdates = 0;       ///< > 0: a trial, see rundir::SessionRecord
};

/// New run from a checked configuration (config::check has no errors). An empty run.name is filled in, and so is the
/// working folder of a command. A command that could not be started is refused (Config) before there is a run.
/// `trialUpdates`: > 0 for a trial, see rundir::SessionRecord.
Result<Prepared> prepareRun(const std::filesystem::path& workspace, const config::RunConfig& config, const std::string& preset, std::int64_t trialUpdates = 0);
/// New run for a script that runs already: what it started is not ours to end.
Result<Prepared> prepareRecording(const std::filesystem::path& workspace, const config::RunConfig& config);
inline constexpr std::string_view kRecordVerb = "record";   ///< SessionRecord::verb of such a session
/// New run with the configuration of the newest session of another one, which is recorded as its parent.
Result<Prepared> prepareAgain(const std::filesystem::path& workspace, const rundir::RunFolder& from, const std::vector<std::string>& settings);
/// Whether the curve is made anew when a run goes on from a checkpoint: asked for, or asked for by its newest session and
/// not in the checkpoint yet.
bool makesNewCurve(const rundir::RunFolder& run, const std::string& checkpoint, bool asked);
/// Same run, newest usable checkpoint of the surviving line (or from the start when there is none). Refuses (Usage) a run
/// that has reached its target, naming the key to extend.
Result<Prepared> prepareContinue(const rundir::RunFolder& run, const Changes& changes);
/// Same run, new branch from `checkpoint`, with the configuration of the session that wrote it.
Result<Prepared> prepareRollBack(const rundir::RunFolder& run, const std::string& checkpoint, const Changes& changes);
/// Its plan is written.
struct PlannedSession {
    int session = 0;
    std::string notice;                  ///< which checkpoints were passed over, why, and what is lost by it; or empty
};
/// For the supervisor of a run that goes back by itself: writes the plan of the next session, which loads the newest usable
/// checkpoint of the line that is not after step `notAfter`, at the newest session's settings with the learning rate times
/// guard.rate_factor. NotFound where there is no such checkpoint. Requires: the caller holds the run's lock.
Result<PlannedSession> planGoingBack(const rundir::RunFolder& run, std::int64_t notAfter);
/// For the supervisor of a run whose worker crashed: writes the plan of the next session, which goes on from the newest usable
/// checkpoint of the line with the settings as they are. Where there was none yet it begins again from the start, if that is
/// wished; else NotFound. Requires: the caller holds the run's lock.
Result<PlannedSession> planRestart(const rundir::RunFolder& run, bool fromTheStart);
/// New run with the entire state of a checkpoint (hard-linked in).
Result<Prepared> prepareFork(const std::filesystem::path& workspace, const rundir::RunFolder& from, const std::string& checkpoint,
                             const Changes& changes);
/// New run that makes the first updates after a checkpoint once more, compares them with what was kept of them and ends
/// without saving. `workspace`: a scratch folder (scratch.h).
Result<Prepared> prepareReplay(const std::filesystem::path& workspace, const rundir::RunFolder& from, const std::string& checkpoint);
/// New run with the weights only, step 0.
Result<Prepared> prepareFromWeights(const std::filesystem::path& workspace, const rundir::RunFolder& from, const std::string& checkpoint,
                                    const std::vector<std::string>& settings);

/// Why the verbs that need a checkpoint of ours are refused for a run of a person's own command.
inline constexpr std::string_view kOwnCheckpoints = "This script keeps its own checkpoints";
/// The refusal (Usage) for such a run; nothing to object to for others.
Result<void> refuseCommand(const rundir::RunFolder& run);
/// Fills in what a list says of the kind of a run: task and model, or "command" and the script's name.
void tellKind(const config::RunConfig& config, rundir::Summary& summary);

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
/// Whether its supervisor, of this machine, is gone and nobody has booked what it left: takeRun() does.
bool isUnsettled(const rundir::RunFolder& run);
/// For those who read a run: books what a lost supervisor left of a training once nothing of it runs any more, so that its
/// last updates are in its record; what takes long is left to whoever takes the run. Empty where they are; else why some may be missing, as a sentence.
std::string settleToRead(const rundir::RunFolder& run);
/// Why the supervisor of a live run does not answer, where it is stopped (stoppedNote), or empty.
std::string supervisorNote(const rundir::RunFolder& run);

/// The truth about a run in one place: from exit record, lock and identity; the same whoever asks.
struct Standing {
    rundir::State state = rundir::State::Lost;
    std::string why;
    bool onThisHost = true;
};
Standing standingOf(const rundir::RunFolder& run);
/// The same error with a way on, where the record of a session is damaged.
Error unreadableSession(const rundir::RunFolder& run, int session, Error error);

/// "RUN@120", "RUN@s003-000000120", "RUN@best", "RUN@latest" -> run and checkpoint folder name (usable ones only). RUN alone:
/// its newest one; "best", a step or a folder alone: of the newest run.
Result<std::pair<rundir::RunFolder, std::string>> findCheckpoint(const std::filesystem::path& workspace, const std::string& reference);
/// The same, of a run that may be up: its rule does not remove it while it is held.
struct HeldCheckpoint {
    rundir::RunFolder run;
    std::string folder;
    rundir::CheckpointHold hold;
};
Result<HeldCheckpoint> holdCheckpoint(const std::filesystem::path& workspace, const std::string& reference);
/// Found as above, but one that is named by its folder need not be usable.
Result<std::pair<rundir::RunFolder, std::string>> findAnyCheckpoint(const std::filesystem::path& workspace, const std::string& reference);
/// RUN@best: of the usable checkpoints in this run the best by its metric; NotFound where none was evaluated.
Result<std::string> bestCheckpoint(const rundir::RunFolder& run);
/// Newest usable checkpoint of the surviving line, or empty. For whoever decides or writes by it.
Result<std::string> readNewestOnLine(const rundir::RunFolder& run);
/// The same for those who only show it: empty also where it cannot be told.
std::string newestOnLine(const rundir::RunFolder& run);
/// Usable checkpoints of the surviving line up to a step, newest first.
Result<std::vector<std::string>> lineUpTo(const rundir::RunFolder& run, std::int64_t step);
/// What is wrong with checkpoints of the line that are newer than `chosen` (empty: with all of them), or empty.
Result<std::string> passedOver(const rundir::RunFolder& run, const std::string& chosen);
/// The same as a notice, with how many updates are lost by it. `notAfter`: only of what lies up to this step; `unread`: what
/// else was passed over.
Result<std::string> passedOverNotice(const rundir::RunFolder& run, const std::string& chosen, std::int64_t notAfter = std::numeric_limits<std::int64_t>::max(), const std::string& unread = {});
/// Usage error with the reason where a run's kind has no checkpoints of ours: for all verbs that need one.
Result<void> refuseWithoutCheckpoints(const rundir::RunFolder& run);
/// Settings as text, by name, whatever the kind of the run: to be shown and compared.
Result<std::map<std::string, std::string>> settingsOf(const rundir::RunFolder& run);
/// Effective configuration of a session.
Result<config::RunConfig> configOf(const rundir::RunFolder& run, int session);
/// "section.key=value" over a configuration; the error lists every problem.
Result<config::RunConfig> withSettings(const config::RunConfig& before, const std::vector<std::string>& settings);

}  // namespace lathe::launch
