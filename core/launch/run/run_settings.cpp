#include "launch/run/run_settings.h"

#include "config/command_text.h"
#include "launch/run/undo.h"

#include <algorithm>

namespace lathe::launch {

using rundir::RunFolder;

Result<std::map<std::string, std::string>> settingsOf(const RunFolder& run) {
    LATHE_TRY_ASSIGN(const rundir::RunManifest manifest, rundir::readManifest(run));
    if (manifest.kind == rundir::RunKind::Imported) return rundir::readSettings(run);
    LATHE_TRY_ASSIGN(const config::RunConfig config, configOf(run, standingSession(run)));
    const auto settings = config::comparedSettings(config);
    return std::map<std::string, std::string>(settings.begin(), settings.end());
}

Result<config::RunConfig> configOf(const RunFolder& run, int session) {
    return config::loadUsable(run.sessionYaml(session).string());
}

Result<config::RunConfig> withSettings(const config::RunConfig& before, const std::vector<std::string>& settings) {
    config::Loaded loaded;
    loaded.config = before;
    config::applySettings(loaded, settings);
    for (const config::Problem& problem : config::check(loaded)) {
        if (problem.severity == config::Severity::Error) return Error{ErrorCode::Config, problem.sentence, problem.key, {}};
    }
    return loaded.config;
}

void tellKind(const config::RunConfig& config, rundir::Summary& summary) {
    const auto command = config::isCommand(config) ? config::splitCommand(config.command.line) : Result<config::CommandWords>(config::CommandWords{});
    summary.task = config::isCommand(config) ? rundir::kCommandTask : config.task.name;
    summary.model = !config::isCommand(config) ? config.model.name : command ? config::commandName(*command) : std::string();
}

Result<void> refuseCommand(const RunFolder& run) {
    const auto config = configOf(run, std::max(1, rundir::newestSession(run)));
    if (!config || !config::isCommand(*config)) return {};  // what is wrong with a configuration is told by who needs it
    return Error{ErrorCode::Usage, std::string(kOwnCheckpoints) + ": " + run.name() + " runs the command " + config->command.line.substr(0, 200)
                 + "; start it anew with lathe-trainer again", {}, {}};
}

Result<void> refuseWithoutCheckpoints(const RunFolder& run) {
    const auto manifest = rundir::readManifest(run);  // one that is damaged is told by who needs it
    if (manifest && manifest->kind == rundir::RunKind::Imported) return Error{ErrorCode::Usage, run.name() + " is imported: has no checkpoints", {}, {}};
    return refuseCommand(run);
}

}  // namespace lathe::launch
