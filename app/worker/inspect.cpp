// describe, eval, selftest: one JSON object on standard output, a sentence on standard error where there is none.
#include "commands.h"

#include "base/number_text.h"
#include "engine/session/inspect.h"

#include <algorithm>
#include <cstdio>

namespace lathe::worker {
namespace {

/// The value that follows `name`, or empty.
std::string option(const Arguments& arguments, const std::string& name) {
    for (std::size_t i = 0; i + 1 < arguments.size(); ++i)
        if (arguments[i] == name) return arguments[i + 1];
    return {};
}

ExitCode print(const Result<std::string>& answer) {
    if (!answer.ok()) {
        const std::string& key = answer.error().key;
        std::fprintf(stderr, "%s%s%s\n", key.c_str(), key.empty() ? "" : ": ", answer.error().text().c_str());
        return exitCodeOf(answer.error().code);
    }
    std::printf("%s\n", answer->c_str());
    return ExitCode::Completed;
}

ExitCode usage(const char* text) {
    std::fprintf(stderr, "%s\n", text);
    return ExitCode::Usage;
}

}  // namespace

ExitCode describe(const Arguments& arguments) {
    const std::string config = option(arguments, "--config");
    const auto has = [&](const char* flag) { return std::find(arguments.begin(), arguments.end(), flag) != arguments.end(); };
    if (config.empty()) return usage("lathe-worker describe --config FILE_OR_PRESET [--checkpoint FOLDER [--weights-only] [--new-curve]]");
    return print(engine::describeConfig(config, {option(arguments, "--checkpoint"), has("--weights-only"), has("--new-curve")}));
}

ExitCode explain(const Arguments& arguments) {
    const std::string config = option(arguments, "--config");
    return config.empty() ? usage("lathe-worker explain --config FILE_OR_PRESET") : print(engine::explainConfig(config));
}

ExitCode curve(const Arguments& arguments) {
    const std::string config = option(arguments, "--config");
    std::vector<std::int64_t> steps;
    for (std::size_t i = 2; i < arguments.size(); ++i) {
        const auto step = readInteger(arguments[i]);
        if (!step || *step < 0) return usage("lathe-worker curve: each number of updates is a whole number from 0 on");
        steps.push_back(*step);
    }
    return config.empty() || steps.empty() ? usage("lathe-worker curve --config FILE_OR_PRESET UPDATES …") : print(engine::curveOfConfig(config, steps));
}

ExitCode eval(const Arguments& arguments) {
    const std::string run = option(arguments, "--run"), checkpoint = option(arguments, "--checkpoint");
    if (run.empty() || checkpoint.empty()) return usage("lathe-worker eval --run FOLDER --checkpoint NAME");
    return print(engine::evaluateCheckpoint(run, checkpoint));
}

ExitCode selftest(const Arguments&) {
    const std::string answer = engine::selftest();
    static_cast<void>(print(answer));
    return answer.find("\"ok\":false") == std::string::npos ? ExitCode::Completed : ExitCode::Failed;
}

}  // namespace lathe::worker
