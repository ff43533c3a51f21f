#include "trial.h"

#include "base/number_text.h"
#include "config/config.h"
#include "launch/run/standing.h"
#include "launch/verbs/prepare.h"
#include "launch/verbs/scratch.h"
#include "output.h"
#include "progress_line.h"
#include "run_facts.h"
#include "rundir/json_reader.h"

#include <nlohmann/json.hpp>

namespace lathe::trainer {

using nlohmann::json;

static constexpr std::int64_t kDryUpdates = 3;

ExitCode superviseTrial(const launch::SupervisorOptions& first, rundir::RunLock lock, std::int64_t updates) {
    const ExitCode code = launch::superviseSession(first, std::move(lock));
    if (code != ExitCode::Completed) return code;
    const auto record = rundir::readSession(first.run, first.session);
    const bool isTrial = record && record->trialUpdates > 0;
    const launch::Changes changes = isTrial ? launch::Changes{{}, false, 2 * updates} : launch::Changes{{"run.max_updates=" + std::to_string(2 * updates)}};
    auto prepared = launch::prepareContinue(first.run, changes);
    if (!prepared) {
        tell(prepared.error().text());
        return exitCodeOf(prepared.error().code);
    }
    launch::SupervisorOptions second{prepared->run, prepared->session, -1, first.glance, prepared->notice};
    return launch::superviseSession(second, std::move(prepared->lock));
}

/// The facts of the newest event of a kind, null where there is none.
static json newestEvent(const store::RunReader& reader, const std::string& kind) {
    json facts;
    const auto events = reader.events();
    for (std::size_t i = 0; events && i < events->size(); ++i)
        if ((*events)[i].event.kind == kind) facts = json::parse((*events)[i].event.json, nullptr, false);
    return facts;
}

json trialJson(const rundir::RunFolder& run) {
    const auto standing = launch::standingOf(run);
    json out = {{"ok", standing.state == rundir::State::Completed}, {"problem", standing.state == rundir::State::Completed ? json() : json(standing.why)}};
    const auto reader = store::RunReader::open(run.database());
    if (!reader) return out;
    const auto summary = rundir::readSummary(run);
    const json evaluation = newestEvent(**reader, "evaluation"), checkpoint = newestEvent(**reader, "checkpoint");
    out["updates"] = summary ? json(summary->counters.globalStep.value()) : json();
    out["seconds"] = summary ? json(summary->activeSeconds) : json();
    out["samples_per_second"] = summary && summary->last.contains("train/samples_per_second") ? rundir::numberJson(summary->last.at("train/samples_per_second")) : json();
    out["eval_samples"] = evaluation.is_object() ? evaluation.value("samples", json()) : json();
    out["checkpoint_bytes"] = checkpoint.is_object() ? checkpoint.value("bytes", json()) : json();
    out["resume"] = newestReport(run, rundir::newestSession(run));
    return out;
}

std::vector<std::string> trialSentences(const json& facts) {
    std::vector<std::string> out;
    const auto has = [&](const char* key) { return facts.contains(key) && !facts.at(key).is_null(); };
    if (has("updates")) {
        std::string line = "Trained " + std::to_string(facts.at("updates").get<std::int64_t>()) + " updates of the run for a trial";
        if (has("samples_per_second") && facts.at("samples_per_second").is_number())
            line += ", " + shortText(facts.at("samples_per_second").get<double>(), 3) + " samples/s at the end";
        out.push_back(line);
    }
    out.push_back(has("eval_samples") ? "Evaluated " + std::to_string(facts.at("eval_samples").get<std::int64_t>()) + " samples" : "Evaluated nothing: no data are held out");
    if (has("checkpoint_bytes")) out.push_back("Saved a checkpoint of " + diskText(facts.at("checkpoint_bytes").get<std::uint64_t>()));
    if (has("resume")) out.push_back("Went on from it: " + reportText(facts.at("resume")));
    if (has("problem")) out.push_back("It did not come through: " + facts.at("problem").get<std::string>());
    return out;
}

static Result<json> tried(const Options& options, const config::RunConfig& config) {
    LATHE_TRY_ASSIGN(const launch::Scratch scratch, launch::Scratch::make(workspaceOf(options)));
    LATHE_TRY_ASSIGN(launch::Prepared prepared, launch::prepareRun(scratch.workspace(), config, {}, kDryUpdates));
    const rundir::RunFolder run = prepared.run;
    ProgressLine line;
    launch::SupervisorOptions supervisor{run, prepared.session, -1, {}, {}};
    if (!options.json) supervisor.glance = [&](launch::Glance glance) {
        glance.plannedSteps.reset();   // it ends long before that
        glance.secondsLeft.reset();
        line.show(glance);
    };
    static_cast<void>(superviseTrial(supervisor, std::move(prepared.lock), kDryUpdates));
    if (!options.json) line.finish();
    return trialJson(run);
}

ExitCode dryRun(const Options& options, const config::RunConfig& config) {
    launch::holdStopSignals();
    config::RunConfig trial = config;
    trial.evaluation.maxBatches = std::min(kDryUpdates, trial.evaluation.maxBatches.value_or(kDryUpdates));
    trial.evaluation.patience.reset();
    trial.evaluation.restoreBest = false;
    trial.telemetry.tensorboard.clear();
    const auto facts = tried(options, trial);
    if (!facts) return fail(options, facts.error());
    if (options.json) printJson(*facts);
    else for (const std::string& sentence : trialSentences(*facts)) print(sentence);
    return facts->at("ok").get<bool>() ? ExitCode::Completed : ExitCode::Failed;
}

}  // namespace lathe::trainer
