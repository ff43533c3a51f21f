#include "actions.h"

#include "output.h"
#include "sheet.h"
#include "start.h"

namespace lathe::trainer {

ExitCode rollBack(const Options& options) {
    const auto found = launch::findCheckpoint(workspaceOf(options), options.target);
    if (!found) return fail(options, found.error());
    if (options.dryRun) return tellSheet(options, found->first, launch::GoOn::RollBack, found->second);
    tellLeftover(found->first);
    return start(options, launch::prepareRollBack(found->first, found->second, {options.settings, options.newCurve}));
}

}  // namespace lathe::trainer
