#include "actions.h"

#include "output.h"
#include "sheet.h"
#include "start.h"

namespace lathe::trainer {

ExitCode continueRun(const Options& options) {
    const auto run = targetRun(options);
    if (!run) return fail(options, run.error());
    if (options.dryRun) return tellSheet(options, *run, launch::GoOn::Continue, {});
    tellLeftover(*run);
    return start(options, launch::prepareContinue(*run, {options.settings, options.newCurve}));
}

}  // namespace lathe::trainer
