#include "actions.h"

#include "config/config.h"
#include "output.h"
#include "problems.h"
#include "start.h"

#include <utility>

namespace lathe::trainer {

ExitCode run(const Options& options) {
    auto loaded = config::load(options.target);
    if (!loaded) return fail(options, loaded.error());
    config::applySettings(*loaded, options.settings);
    const auto problems = config::check(*loaded);
    if (config::hasErrors(problems)) return failWith(options, problems);
    tellProblems(problems);
    Options here = options;
    if (here.workspace.empty() && !loaded->workspace.empty()) here.workspace = loaded->workspace.string();
    return start(here, launch::prepareRun(workspaceOf(here), loaded->config, loaded->preset));
}

}  // namespace lathe::trainer
