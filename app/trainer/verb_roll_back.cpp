#include "actions.h"

#include "launch/run/checkpoint_choice.h"
#include "output.h"
#include "sheet.h"
#include "start.h"

namespace lathe::trainer {

ExitCode rollBack(const Options& options) {
    // The newest checkpoint of a run is where it is already: which one is meant has to be said.
    const bool isRun = options.target == "latest" || rundir::findRun(workspaceOf(options), options.target).ok();
    if (options.target.find('@') == std::string::npos && isRun)
        return fail(options, Error{ErrorCode::Usage, "\"" + options.target + "\" names a run; say where to go back to (RUN@STEP): " + options.target + "@120, say, or " + options.target + "@best", {}, {}});
    const auto found = launch::findCheckpoint(workspaceOf(options), options.target);
    if (!found) return fail(options, found.error());
    if (options.dryRun) return tellSheet(options, found->first, launch::GoOn::RollBack, found->second);
    tellLeftover(found->first);
    return start(options, launch::prepareRollBack(found->first, found->second, {options.settings, options.newCurve}));
}

}  // namespace lathe::trainer
