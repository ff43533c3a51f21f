// plugins.use as what it means. In YAML each plug-in stands under its name with its settings:
//   plugins:
//     go_back: {every: 100, worse_by: 0.02}
// and --set plugins.go_back.every=100 sets one; inside, each of these is an item "go_back" or "go_back.every=100".
// Thread: functions without shared state.
#pragma once

#include "base/result.h"
#include "config/sections.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::config {

struct PluginChoice {
    std::string name;
    std::map<std::string, std::string> settings;
};

/// In the order in which they are named first. Config error for what is no name (a–z, 0–9, _ and -, at most 40) or a
/// setting that stands twice.
Result<std::vector<PluginChoice>> pluginsOf(const PluginsSection& section);
/// Adds or replaces one setting, or (with an empty key) only names the plug-in.
void setPlugin(std::vector<std::string>& items, const std::string& name, const std::string& key, const std::string& value);
/// "go_back/steep" -> "go_back"; empty where the text names no thing of a plug-in.
std::string_view pluginOf(std::string_view thing);

}  // namespace lathe::config
