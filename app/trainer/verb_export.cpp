// Writes what other programs need to use a model.
#include "actions.h"

#include "base/file_system.h"
#include "base/number_text.h"
#include "config/metrics.h"
#include "launch/run/checkpoint_choice.h"
#include "launch/run/export.h"
#include "launch/run/run_settings.h"
#include "output.h"
#include "run_facts.h"
#include "rundir/checkpoint_manifest.h"

#include <nlohmann/json.hpp>

namespace lathe::trainer {

/// RUN@WHICH, or the best checkpoint of RUN, or its newest one where nothing was evaluated.
static Result<launch::HeldCheckpoint> chosen(const Options& options) {
    if (options.target.find('@') != std::string::npos) return launch::holdCheckpoint(workspaceOf(options), options.target);
    auto best = launch::holdCheckpoint(workspaceOf(options), options.target + "@best");
    if (best || best.error().code != ErrorCode::NotFound) return best;
    return launch::holdCheckpoint(workspaceOf(options), options.target + "@latest");
}

/// Why it was this one, where RUN alone was named: "best, eval/accuracy 1 at step 20; newest is 3137".
static std::string whyChosen(const rundir::RunFolder& run, const std::string& checkpoint) {
    const auto best = launch::bestCheckpoint(run);
    if (!best || *best != checkpoint) return "newest; none was evaluated";
    const auto config = launch::configOf(run, rundir::newestSession(run));
    const auto metric = config ? config::bestMetric(*config) : Result<config::Metric>(config.error());
    const auto manifest = rundir::readCheckpoint(run.checkpoints() / checkpoint);
    if (!metric || !manifest) return "best";
    const std::string series = "eval/" + metric->name;
    const auto value = manifest->metrics.contains(series) ? readDouble(manifest->metrics.at(series)) : std::nullopt;
    std::string out = "best, " + series + (value ? " " + shortText(*value, 6) : "") + " at step " + std::to_string(manifest->counters.globalStep.value());
    const auto newest = rundir::parseCheckpointName(launch::newestOnLine(run));
    if (newest && newest->step != manifest->counters.globalStep) out += "; newest is " + std::to_string(newest->step.value());
    return out;
}

static launch::ExportedWeights weightsOf(const Options& options) {
    if (options.weights.empty()) return launch::ExportedWeights::AsEvaluated;
    return options.weights == "ema" ? launch::ExportedWeights::Means : launch::ExportedWeights::Trained;
}

ExitCode exportRun(const Options& options) {
    if (options.tensorboard) return exportEventFiles(options);
    const auto found = chosen(options);
    if (!found && found.error().sentence.starts_with(launch::kOwnCheckpoints))
        return fail(options, Error{found.error().code, std::string(launch::kOwnCheckpoints) + ", so there are no weights to export; its curves: lathe-trainer export " + options.target + " --tensorboard", {}, {}});
    if (!found) return fail(options, found.error());
    const rundir::RunFolder& run = found->run;
    const std::string& checkpoint = found->folder;
    const auto damage = launch::exportCheckpoint(run, checkpoint, weightsOf(options));
    if (!damage) return fail(options, damage.error());
    for (const std::string& bad : *damage) tell(bad + ". The weights are whole and were exported; the run cannot go on from this checkpoint");
    if (options.json) printJson({{"folder", run.exportFolder().string()}, {"checkpoint", checkpoint}, {"files", *listFolder(run.exportFolder())}, {"damaged", *damage}});
    else print("Exported " + checkpoint + (options.target.find('@') == std::string::npos ? " (" + whyChosen(run, checkpoint) + ")" : "") + " to " + run.exportFolder().string());
    return ExitCode::Completed;
}

}  // namespace lathe::trainer
