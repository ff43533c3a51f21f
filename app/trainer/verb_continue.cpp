#include "actions.h"

#include "output.h"
#include "sheet.h"
#include "start.h"

namespace lathe::trainer {

ExitCode continueRun(const Options& options) {
    const auto run = targetRun(options);
    if (!run && run.error().code == ErrorCode::Usage && options.target.find('@') != std::string::npos)
        return fail(options, Error{ErrorCode::Usage, "continue goes on from the newest checkpoint of a RUN; from a chosen one: roll-back " + options.target + " (the same run), or fork " + options.target + " (a new run)", {}, {}});
    if (!run) return fail(options, run.error());
    auto settings = remedyOf(options, *run, true);
    if (!settings) return fail(options, settings.error());
    settings->insert(settings->end(), options.settings.begin(), options.settings.end());
    if (options.dryRun) {
        Options here = options;
        here.settings = *settings;
        return tellSheet(here, *run, launch::GoOn::Continue, {});
    }
    tellLeftover(*run);
    return start(options, launch::prepareContinue(*run, {*settings, options.newCurve}));
}

}  // namespace lathe::trainer
