#include "actions.h"

#include "output.h"
#include "start.h"

namespace lathe::trainer {

ExitCode fork(const Options& options) {
    const auto found = launch::findCheckpoint(workspaceOf(options), options.target);
    if (!found) return fail(options, found.error());
    return start(options, launch::prepareFork(workspaceOf(options), found->first, found->second, {options.settings, options.newCurve}));
}

}  // namespace lathe::trainer
