#include "actions.h"

#include "output.h"
#include "start.h"

namespace lathe::trainer {

ExitCode again(const Options& options) {
    const auto run = targetRun(options);
    if (!run) return fail(options, run.error());
    return start(options, launch::prepareAgain(workspaceOf(options), *run, options.settings));
}

}  // namespace lathe::trainer
