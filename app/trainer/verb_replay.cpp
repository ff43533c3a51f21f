// verify --replay: the updates after a checkpoint once more, in a scratch copy that is removed afterwards.
#include "actions.h"

#include "launch/run/checkpoint_choice.h"
#include "launch/run/standing.h"
#include "launch/session/supervisor.h"
#include "launch/verbs/prepare.h"
#include "launch/verbs/scratch.h"
#include "output.h"
#include "progress_line.h"
#include "run_facts.h"

#include <nlohmann/json.hpp>

namespace lathe::trainer {

using nlohmann::json;

/// The copy has the checkpoint under a name of its own, which nobody else knows.
static std::string inWordsOfTheRun(std::string text, const rundir::RunFolder& copy, const std::string& checkpoint) {
    const auto record = rundir::readSession(copy, 1);
    const std::string own = record ? record->checkpoint : std::string();
    for (std::size_t at = 0; !own.empty() && (at = text.find(own, at)) != std::string::npos; at += checkpoint.size()) text.replace(at, own.size(), checkpoint);
    return text;
}

/// The report that the session of a scratch copy made.
static Result<json> replayed(const Options& options, const rundir::RunFolder& run, const std::string& checkpoint) {
    LATHE_TRY_ASSIGN(const launch::Scratch scratch, launch::Scratch::beside(run));
    LATHE_TRY_ASSIGN(launch::Prepared prepared, launch::prepareReplay(scratch.workspace(), run, checkpoint));
    const rundir::RunFolder copy = prepared.run;
    ProgressLine line;
    launch::SupervisorOptions supervisor{copy, prepared.session, -1, {}, {}};
    if (!options.json) {
        supervisor.glance = [&](launch::Glance glance) {
            glance.plannedSteps.reset();  // it ends much earlier
            line.show(glance);
        };
    }
    static_cast<void>(launch::superviseSession(supervisor, std::move(prepared.lock)));
    if (!options.json) line.finish();
    const json report = newestReport(copy, 1);
    if (report.is_object()) return report;
    const auto standing = launch::standingOf(copy);
    return Error{ErrorCode::Internal, "The replay ended before it could compare anything: " + inWordsOfTheRun(standing.why, copy, checkpoint), {}, {}};
}

ExitCode replay(const Options& options) {
    const auto what = launch::holdCheckpoint(workspaceOf(options), options.target);
    if (!what) return fail(options, what.error());
    const auto report = replayed(options, what->run, what->folder);
    if (!report) return fail(options, report.error());
    const bool isExact = report->value("outcome", "") == "continues exactly";
    if (options.json) {
        json out = *report;
        out["run"] = what->run.name();
        out["checkpoint"] = what->folder;
        out["ok"] = isExact;
        printJson(out);
    } else {
        print(what->folder + " of " + displayName(what->run) + ": " + reportText(*report));
    }
    return isExact ? ExitCode::Completed : ExitCode::Failed;
}

}  // namespace lathe::trainer
