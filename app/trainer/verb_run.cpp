#include "actions.h"

#include "config/command_text.h"
#include "config/config.h"
#include "output.h"
#include "problems.h"
#include "start.h"

#include <utility>

namespace lathe::trainer {

/// What is to be run: a configuration, or a command given as a line or word by word.
static Result<config::Loaded> chosen(const Options& options) {
    const int ways = (options.target.empty() ? 0 : 1) + (options.command.empty() ? 0 : 1) + (options.words.empty() ? 0 : 1);
    if (ways != 1)
        return Error{ErrorCode::Usage, std::string(ways == 0 ? "Nothing to run" : "Several things to run") + ": give CONFIG (a file or a preset), or --command 'python train.py', or -- and the words of a command", {}, {}};
    if (!options.target.empty()) return config::load(options.target);
    config::Loaded loaded;
    loaded.config.command.line = options.command.empty() ? config::joinCommand(options.words) : options.command;
    return loaded;
}

ExitCode run(const Options& options) {
    auto loaded = chosen(options);
    if (!loaded) return fail(options, loaded.error());
    config::applySettings(*loaded, settingsOf(options));
    const auto problems = config::check(*loaded);
    if (config::hasErrors(problems)) return failWith(options, problems);
    tellProblems(problems);
    Options here = options;
    if (here.workspace.empty() && !loaded->workspace.empty()) here.workspace = loaded->workspace.string();
    return start(here, launch::prepareRun(workspaceOf(here), loaded->config, loaded->preset));
}

}  // namespace lathe::trainer
