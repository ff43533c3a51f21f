#include "actions.h"

#include "before_start.h"
#include "config/command_text.h"
#include "config/config.h"
#include "look_ahead.h"
#include "output.h"
#include "problems.h"
#include "start.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace lathe::trainer {

/// What is to be run: a configuration, or a command given as a line or word by word.
static Result<config::Loaded> chosen(const Options& options) {
    const int ways = (options.target.empty() ? 0 : 1) + (options.command.empty() ? 0 : 1) + (options.words.empty() ? 0 : 1);
    if (ways != 1)
        return Error{ErrorCode::Usage, std::string(ways == 0 ? "Nothing to run" : "Several things to run") + ": give CONFIG (a file or a preset), or --command 'python train.py', or -- and the words of a command", {}, {}};
    if (!options.target.empty()) return loadTarget(options);
    config::Loaded loaded;
    loaded.config.command.line = options.command.empty() ? config::joinCommand(options.words) : options.command;
    return loaded;
}

/// What --set changed shows in the name of a configuration file's run, as it does in a preset's.
static void nameFromSettings(const config::RunConfig& before, config::Loaded& loaded) {
    std::string& name = loaded.config.run.name;
    const auto presets = config::presets();
    const bool isPreset = std::any_of(presets.begin(), presets.end(), [&](const config::Preset& preset) { return preset.name == loaded.preset; });
    if (name != before.run.name || (name.empty() && isPreset)) return;
    const std::string stem = name.empty() ? loaded.preset : name;
    if (const std::string told = config::suggestName(stem, before, loaded.config); told != config::suggestName(stem, before, before)) name = told;
}

/// A command is trained by nobody here: what would steer our trainer is told to be without use.
static void tellUnused(const std::vector<std::string>& settings) {
    static constexpr std::array kUsed = {"run.", "command.", "argument.", "telemetry.", "parallel.device="};
    for (const std::string& setting : settings) {
        const bool isUsed = std::any_of(kUsed.begin(), kUsed.end(), [&](std::string_view used) { return setting.starts_with(used); });
        if (!isUsed) tell("--set " + setting + " changes nothing for a command: it knows its own arguments only");
    }
}

ExitCode run(const Options& options) {
    auto loaded = chosen(options);
    if (!loaded) return fail(options, loaded.error());
    const config::RunConfig before = loaded->config;
    config::applySettings(*loaded, settingsOf(options));
    if (!config::isCommand(loaded->config)) nameFromSettings(before, *loaded);
    Options here = options;
    std::vector<config::Problem> problems = chooseWorkspace(here, *loaded);
    const Outlook outlook = lookAhead(*loaded, workspaceOf(here), Depth::WhatRefuses);
    problems.insert(problems.begin(), outlook.problems.begin(), outlook.problems.end());
    if (config::hasErrors(problems)) return failWith(options, problems);
    tellProblems(problems);
    if (options.detach || options.queue) tellProblems(outlook.doubts);   // else the run itself says them here
    if (config::isCommand(loaded->config)) tellUnused(options.settings);
    return start(here, launch::prepareRun(workspaceOf(here), loaded->config, loaded->preset), loaded->trialUpdates);
}

}  // namespace lathe::trainer
