// Everything that can be known before a start: settings, data, disk.
#include "actions.h"

#include "before_start.h"
#include "config/config.h"
#include "look_ahead.h"
#include "output.h"
#include "problems.h"
#include "trial.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace lathe::trainer {

ExitCode check(const Options& options) {
    auto loaded = loadTarget(options);
    if (!loaded) return fail(options, loaded.error());
    config::applySettings(*loaded, options.settings);
    Options here = options;
    std::vector<config::Problem> problems = chooseWorkspace(here, *loaded);
    const Outlook outlook = lookAhead(*loaded, workspaceOf(here), Depth::Everything);
    problems.insert(problems.begin(), outlook.doubts.begin(), outlook.doubts.end());
    problems.insert(problems.begin(), outlook.problems.begin(), outlook.problems.end());
    if (options.dryRun && !config::isCommand(loaded->config) && !config::hasErrors(problems)) {
        if (options.json) return dryRun(here, loaded->config);
        tellProblems(problems);
        for (const std::string& sentence : outlook.sentences) print(sentence);
        return dryRun(here, loaded->config);
    }
    const bool isRefused = config::hasErrors(problems);
    if (options.json) {
        printJson(problemsJson(problems));
    } else {
        tellProblems(problems);
        for (const std::string& sentence : outlook.sentences) print(sentence);
        print(isRefused ? "Cannot be run as it is" : outlook.isUnanswered ? "Could not be checked to the end; --dry-run tries it" : "Ready to run");
    }
    return isRefused ? ExitCode::Usage : outlook.isUnanswered ? exitCodeOf(ErrorCode::Timeout) : ExitCode::Completed;
}

}  // namespace lathe::trainer
