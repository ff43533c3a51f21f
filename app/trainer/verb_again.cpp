#include "actions.h"

#include "config/command_text.h"
#include "output.h"
#include "start.h"

namespace lathe::trainer {

/// The command to run instead, or the run's own with more words at its end.
static Result<std::string> changedCommand(const Options& options, const rundir::RunFolder& run) {
    LATHE_TRY_ASSIGN(const auto config, launch::configOf(run, rundir::newestSession(run)));
    if (!config::isCommand(config))
        return Error{ErrorCode::Usage, displayName(run) + " is trained by Lathe and has no command to change; use --set section.key=value", {}, {}};
    std::string line = options.command.empty() ? config.command.line : options.command;
    if (!options.words.empty()) line += " " + config::joinCommand(options.words);
    return line;
}

ExitCode again(const Options& options) {
    const auto run = targetRun(options);
    if (!run) return fail(options, run.error());
    std::vector<std::string> settings;
    if (!options.command.empty() || !options.words.empty()) {
        const auto line = changedCommand(options, *run);
        if (!line) return fail(options, line.error());
        settings.push_back("command.line=" + *line);
    }
    const auto remedy = remedyOf(options, *run, false);
    if (!remedy) return fail(options, remedy.error());
    settings.insert(settings.end(), remedy->begin(), remedy->end());
    for (std::string& setting : settingsOf(options)) settings.push_back(std::move(setting));
    return start(options, launch::prepareAgain(workspaceOf(options), *run, settings));
}

}  // namespace lathe::trainer
