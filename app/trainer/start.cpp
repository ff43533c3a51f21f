#include "start.h"

#include "base/log.h"
#include "base/program_paths.h"
#include "launch/process/apart.h"
#include "launch/queue/overnight.h"
#include "launch/queue/queue_keeper.h"
#include "launch/run/checkpoint_choice.h"
#include "launch/run/standing.h"
#include "launch/session/memory_end.h"
#include "launch/session/notify.h"
#include "launch/session/supervisor.h"
#include "log_follower.h"
#include "output.h"
#include "progress_line.h"
#include "run_facts.h"
#include "trial.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace lathe::trainer {

static void tellWhere(const rundir::RunFolder& run) {
    const auto standing = launch::standingOf(run);
    tell(displayName(run) + ": " + std::string(rundir::name(standing.state)) + (standing.why.empty() ? "" : ". " + standing.why));
    tell("Everything is in " + run.place().string());
    const std::string newest = launch::newestOnLine(run);
    const rundir::RunFolder place(run.place());
    if (!newest.empty()) tell("Newest checkpoint: " + (place.checkpoints() / newest).string());
    tell("Log: " + place.rankLog(0).string());
    for (const std::string& line : remedyLines(run)) tell(line);
}

void tellLeftover(const rundir::RunFolder& run) {
    if (const std::string ended = endedNote(run); !ended.empty()) return tell(ended);
    if (rundir::RunLock::isHeld(run.lock()) || !rundir::RunLock::isHeld(run.workersLock())) return;
    tell("Waiting for the worker of the last session to save and leave, at most a minute");
}

std::vector<std::string> settingsOf(const Options& options) {
    std::vector<std::string> settings = options.settings;
    if (!options.name.empty()) settings.push_back("run.name=" + options.name);
    if (!options.workdir.empty()) settings.push_back("command.folder=" + options.workdir);
    return settings;
}

Result<std::vector<std::string>> remedyOf(const Options& options, const rundir::RunFolder& run, bool goesOn) {
    if (options.remedy == 0) return std::vector<std::string>();
    return launch::remedySettings(run, options.remedy, goesOn);
}

static ExitCode supervise(const launch::SupervisorOptions& supervisor, rundir::RunLock lock, std::optional<std::int64_t> trialUpdates) {
    return trialUpdates ? superviseTrial(supervisor, std::move(lock), *trialUpdates) : launch::superviseSession(supervisor, std::move(lock));
}

static ExitCode superviseHere(const Options& options, launch::Prepared prepared, std::optional<std::int64_t> trialUpdates) {
    ProgressLine line;
    launch::SupervisorOptions supervisor{prepared.run, prepared.session, -1, {}, prepared.notice};
    LogFollower output(prepared.run.rankLog(0));
    const auto summary = rundir::readSummary(prepared.run);
    const bool showsOutput = !options.json && summary && summary->task == rundir::kCommandTask;  // a worker's log repeats what the line says
    if (!options.json) {
        tell("Run " + displayName(prepared.run) + " in " + prepared.run.place().string());
        supervisor.glance = [&](const launch::Glance& glance) {
            if (showsOutput) line.print(output.take());
            line.show(glance);
        };
    }
    const ExitCode code = supervise(supervisor, std::move(prepared.lock), trialUpdates);
    if (showsOutput) line.print(output.take());
    line.finish();
    if (!options.json) tellWhere(prepared.run);
    else printJson(resultJson(prepared.run));
    return code;
}

/// The lock goes along: a fork shares its open file, so it is never free in between.
static ExitCode superviseApart(const Options& options, launch::Prepared prepared, std::optional<std::int64_t> trialUpdates,
                               const std::optional<launch::Recording>& recording = {}) {
    const rundir::RunFolder run = prepared.run;
    const launch::LogoutOutlook logout = launch::outlookOf(launch::lookAtLogout());
    if (!logout.survives) tell(logout.sentence);
    const auto up = launch::runApart([&](int ready) {
        const auto manifest = rundir::readManifest(run);
        if (logout.ownUnit && manifest && !launch::enterOwnUnit(manifest->id, manifest->name)) log::warning("The run stays in the session it was started from: systemd gave it no unit of its own");
        return supervise({run, prepared.session, ready, {}, prepared.notice, recording}, std::move(prepared.lock), trialUpdates);
    });
    { const rundir::RunLock leftToTheSupervisor = std::move(prepared.lock); }
    if (!up) return fail(options, up.error());
    if (!up->isUp) return fail(options, Error{ErrorCode::Internal, run.name() + " did not start: " + launch::standingOf(run).why, {}, {}});
    if (options.json) {
        nlohmann::json facts = resultJson(run);
        if (recording) {
            facts["socket"] = (run.place() / run.producerSocket().filename()).string();
            facts["token"] = recording->token;
        }
        printJson(facts);
    } else {
        const auto manifest = rundir::readManifest(run);
        print((manifest ? manifest->id : std::string("?")) + " " + run.place().string());
    }
    return ExitCode::Completed;
}

ExitCode startRecording(const Options& options, Result<launch::Prepared> prepared, const launch::Recording& recording) {
    if (!prepared) return fail(options, prepared.error());
    prepared->run = prepared->run.held();
    return superviseApart(options, std::move(*prepared), {}, recording);
}

static ExitCode putInQueue(const Options& options, launch::Prepared prepared) {
    const rundir::RunFolder run = prepared.run;
    const launch::Queue queue = launch::Queue::ofThisUser();
    const std::string notice = prepared.notice;
    if (const auto queued = launch::enqueue(queue, std::move(prepared)); !queued) return fail(options, queued.error());
    const nlohmann::json facts = resultJson(run);   // as it was put in: the keeper may be quick
    const std::string after = launch::comeBackAfterRestart((programFolder() / "lathe-trainer").string());
    if (const auto kept = launch::startKeeper(queue); !kept) return fail(options, kept.error());
    if (!notice.empty()) tell(notice);
    if (options.json) {
        printJson(facts);
        return ExitCode::Completed;
    }
    if (!after.empty()) tell(after);
    const auto state = queue.read();
    const std::string id = facts.value("run", "");
    for (std::size_t i = 0; state && i < state->entries.size(); ++i)
        if (state->entries[i].run == id) tell("It waits at place " + std::to_string(i + 1) + " of the queue (lathe-trainer queue)");
    if (const std::string note = launch::stoppedKeeperNote(queue); !note.empty()) tell(note);
    const auto manifest = rundir::readManifest(run);
    print((manifest ? manifest->id : std::string("?")) + " " + run.place().string());
    return ExitCode::Completed;
}

ExitCode start(const Options& options, Result<launch::Prepared> prepared, std::optional<std::int64_t> trialUpdates) {
    if (!prepared) return fail(options, prepared.error());
    if (const auto runs = launch::checkNotifyCommand(); !runs) tell("warning: at its end nobody is told: " + runs.error().text());
    prepared->run = prepared->run.held();
    if (options.queue && trialUpdates) tell("In the queue a trial makes its first part only: what a resume does is tried without --queue");
    if (options.queue) return putInQueue(options, std::move(*prepared));
    if (!prepared->notice.empty() && (options.detach || options.json)) tell(prepared->notice);  // else it is one of the session's warnings
    return options.detach ? superviseApart(options, std::move(*prepared), trialUpdates) : superviseHere(options, std::move(*prepared), trialUpdates);
}

}  // namespace lathe::trainer
