// A recorder for a script that runs already: it logs through its client, this process keeps the run.
#include "actions.h"

#include "config/command_text.h"
#include "config/config.h"
#include "launch/process/adopted_process.h"
#include "launch/run/program_frames.h"
#include "output.h"
#include "start.h"

#include <unistd.h>

namespace lathe::trainer {

/// What "again" would run: the script's own words, where they are a command that can be started; else its program alone.
static void describe(const launch::ProcessOrigin& origin, config::Loaded& loaded) {
    loaded.config.command.folder = origin.folder;
    loaded.config.command.line = config::joinCommand(origin.words);
    if (!config::hasErrors(config::check(loaded))) return;
    loaded.config.command.line = config::joinCommand({origin.words.front()});
}

ExitCode record(const Options& options) {
    const std::int64_t pid = options.pid != 0 ? options.pid : ::getppid();
    const auto origin = launch::originOf(pid);
    if (!origin) return fail(options, origin.error());
    config::Loaded loaded;
    loaded.config.run.name = options.name;
    describe(*origin, loaded);
    const auto problems = config::check(loaded);
    for (const auto& problem : problems)
        if (problem.severity == config::Severity::Error) return fail(options, Error{ErrorCode::Config, problem.sentence, problem.key, {}});
    return startRecording(options, launch::prepareRecording(workspaceOf(options), loaded.config), {pid, launch::newProgramToken()});
}

}  // namespace lathe::trainer
