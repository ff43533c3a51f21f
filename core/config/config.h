// Reading, checking and writing configurations. Nothing is executed or expanded while reading.
// Paths inside a configuration are relative to the file they were read from; load() makes them absolute,
// and values of a preset that start with "$resources/" point below the resource folder.
#pragma once

#include "base/result.h"
#include "config/schema.h"
#include "config/sections.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lathe::config {

enum class Severity { Notice, Warning, Error };

/// One thing to tell about a configuration. `key` is dotted ("optimizer.learning_rate"), or empty for the whole file.
struct Problem {
    std::string key;
    Severity severity = Severity::Error;
    std::string sentence;
};

bool hasErrors(const std::vector<Problem>& problems);

/// A configuration with all that was noticed while reading it (not yet what validate() says of the whole: see check()).
/// With errors the config holds defaults in the bad places and must not be run.
struct Loaded {
    RunConfig config;
    std::vector<Problem> problems;
    std::string preset;                ///< load(): name of the preset, or of the file without its ending
    bool flatForm = false;             ///< came from the flat form; problems then say how each key was understood
    std::optional<std::int64_t> trialUpdates; ///< flat form, fast_dev_run: the run is a trial of so many updates, and as many after a resume
    std::filesystem::path workspace;   ///< flat form: output_dir made absolute, where the run goes unless a workspace is chosen
};

/// Text of a YAML file (sections, or the flat form). `base` resolves relative paths.
Loaded parse(std::string_view yaml, const std::filesystem::path& base);
/// A file, or the name of a preset ("digits-mlp"). An error is only what leaves nothing to look at: no such file.
Result<Loaded> load(const std::string& fileOrPreset);
/// A configuration without errors; otherwise the first of them, naming the file.
Result<RunConfig> loadUsable(const std::string& fileOrPreset);
/// Applies "section.key=value" on top: what was wrong with that key before is forgotten, new problems are appended.
/// Relative paths are relative to the working folder. "argument.name=value" changes a setting among the arguments of
/// command.line.
void applySettings(Loaded& loaded, const std::vector<std::string>& settings);

/// What makes a configuration a trial of everything: so many updates, one evaluation of as many batches, one save.
void makeTrial(RunConfig& config, std::int64_t updates);

/// All rules that need no look at data or devices: ranges, choices, combinations. Every problem at once.
std::vector<Problem> validate(const RunConfig& config);
/// Everything to tell before a start: what reading noticed, then validate().
std::vector<Problem> check(const Loaded& loaded);

/// Every section and key in order; read back equal. Paths below the resource folder are written as "$resources/…", so that
/// the text does not depend on where Lathe is installed.
std::string toYaml(const RunConfig& config);
/// Same configuration, same text, whatever the order it was written in: of the canonical YAML.
std::string configHash(const RunConfig& config);

struct Difference {
    std::string key;
    std::string left;
    std::string right;
};
std::vector<Difference> diff(const RunConfig& left, const RunConfig& right);

/// Whether a run is a person's own program (command.line is set), not Lathe's training.
bool isCommand(const RunConfig& config);
/// What a comparison shows of a configuration, in order: dotted key and text of each setting that belongs, its name and
/// note left out. The command of a command's run is taken apart: argument.<name> for each setting among its arguments,
/// variable.<name> for each variable in front of it, and command.line without them.
std::vector<std::pair<std::string, std::string>> comparedSettings(const RunConfig& config);
/// Whether two texts of a setting mean the same: "3e-4" and "0.0003" do.
bool sameSetting(const std::string& left, const std::string& right);

struct Preset {
    std::string name;   ///< file name without .yaml
    std::string title;  ///< first comment line of the file
    std::filesystem::path file;
};
std::vector<Preset> presets();

/// "digits-convnet-lr6e-4": preset plus up to two changed keys; "train-lr3e-4": a command's script and up to two settings.
std::string suggestName(const std::string& preset, const RunConfig& base, const RunConfig& changed);

/// Text of `lathe-trainer config-reference`: every section and key with help, unit, range, default.
std::string referenceText();
/// The same of one section or one setting; error where there is none of that name, with the nearest.
Result<std::string> referenceText(const std::string& sectionOrKey);
/// The setting that a word from somewhere else means ("lr", "batch-size"); empty where none does.
std::string settingCalled(const std::string& word);

}  // namespace lathe::config
