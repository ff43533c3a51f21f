#include "before_start.h"

#include "dataset/dataset.h"
#include "dataset/suggest.h"
#include "output.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace lathe::trainer {

using config::Problem;
using config::Severity;

static std::string shellQuoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

static bool isData(const std::string& target) {
    std::error_code ignored;
    if (!std::filesystem::exists(target, ignored) || target.ends_with(".yaml") || target.ends_with(".yml")) return false;
    const auto known = config::presets();
    const bool isPreset = std::any_of(known.begin(), known.end(), [&](const config::Preset& preset) { return preset.name == target; });
    return !isPreset && dataset::guessFormat(target).ok();
}

/// The preset for such data, with what the data ask for set, and what was decided about them.
static Error dataInstead(const std::string& target) {
    const auto suggestion = dataset::suggest(target);
    if (!suggestion) return Error{ErrorCode::Usage, target + " is no configuration, and as data it cannot be used: " + suggestion.error().sentence, {}, {}};
    auto base = config::load(suggestion->preset);
    if (!base) return base.error();
    config::RunConfig wanted = base->config;
    suggestion->putInto(wanted);
    std::string command = "lathe-trainer run " + suggestion->preset;
    for (const config::Difference& change : config::diff(base->config, wanted)) command += " --set " + shellQuoted(change.key + "=" + change.right);
    std::string notes;
    for (const std::string& note : suggestion->notes) notes += "\n  " + note;
    return Error{ErrorCode::Usage, target + " is data, not a configuration." + notes + "\nTo learn from it: " + command, "data.train", {}};
}

Result<config::Loaded> loadTarget(const Options& options) {
    if (isData(options.target)) return dataInstead(options.target);
    return config::load(options.target);
}

std::vector<Problem> chooseWorkspace(Options& options, const config::Loaded& loaded) {
    if (loaded.workspace.empty()) return {};
    const char* variable = std::getenv("LATHE_WORKSPACE");
    const bool elsewhere = !options.workspace.empty() || (variable != nullptr && *variable != 0);
    if (!elsewhere) options.workspace = loaded.workspace.string();
    return {{"", Severity::Notice, elsewhere ? "output_dir (" + loaded.workspace.string() + ") is passed over: the run goes to the workspace " + workspaceOf(options).string()
                                             : "output_dir is understood as the workspace " + loaded.workspace.string() + ", where the run gets a folder of its own (lathe-trainer --workspace "
                                                   + loaded.workspace.string() + " runs lists what is there)"}};
}

}  // namespace lathe::trainer
