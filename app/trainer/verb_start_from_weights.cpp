#include "actions.h"

#include "output.h"
#include "sheet.h"
#include "start.h"

namespace lathe::trainer {

ExitCode startFromWeights(const Options& options) {
    const auto found = launch::findCheckpoint(workspaceOf(options), options.target);
    if (!found) return fail(options, found.error());
    if (options.dryRun) return tellSheet(options, found->first, launch::GoOn::StartFromWeights, found->second);
    return start(options, launch::prepareFromWeights(workspaceOf(options), found->first, found->second, options.settings));
}

}  // namespace lathe::trainer
