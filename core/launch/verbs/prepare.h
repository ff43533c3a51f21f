// Sessions made ready, one way for each verb that starts or goes on with a run; the command line, the queue and supervisors
// call these (the window executes lathe-trainer). Each makes or reopens a run folder under its lock, writes the plan of the
// session and hands back what to supervise.
// Thread: functions without shared state; not while other threads of this process change the same run.
#pragma once

#include "base/result.h"
#include "config/config.h"
#include "rundir/run_folder.h"

#include <cstdint>
#include <filesystem>
#include <string>
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

}  // namespace lathe::launch
