// Loads the plug-ins that a configuration uses. They come from one folder of the user, never from a run or from data, and
// only where nobody else can have written them.
// Thread: the training thread, before training.
#pragma once

#include "base/program_paths.h"
#include "config/sections.h"
#include "engine/plugin/plugin.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace lathe::engine {

struct LoadedPlugin {
    std::string name, version, digest;          ///< XXH3-128 of its file
    std::vector<std::unique_ptr<Hook>> hooks;
};

/// Each of them in the order of the configuration; what they add is in modelKinds(), taskKinds() … from then on. Errors
/// (Config, Unsupported) are one sentence that names the plug-in, and "plugins.NAME" as their key.
/// What lies in a run folder is not loaded. Folder and file must belong to this user or root and be writable for nobody else; links are followed, and what they lead
/// to must be so too.
Result<std::vector<LoadedPlugin>> loadPlugins(const config::PluginsSection& section, const std::filesystem::path& folder);

}  // namespace lathe::engine
