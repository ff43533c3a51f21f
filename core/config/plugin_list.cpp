#include "config/plugin_list.h"

#include <algorithm>

namespace lathe::config {
namespace {

constexpr std::size_t kLongestName = 40;

bool isName(std::string_view text) {
    const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
    return !text.empty() && text.size() <= kLongestName && std::all_of(text.begin(), text.end(), fits);
}

Error noName(const std::string& item) {
    return {ErrorCode::Config, "\"" + item.substr(0, 60) + "\" names no plug-in: its name, and that of a setting, is made of a–z, 0–9, _ and -; for example go_back or go_back.every=100",
            "plugins.use", {}};
}

}  // namespace

Result<std::vector<PluginChoice>> pluginsOf(const PluginsSection& section) {
    std::vector<PluginChoice> all;
    for (const std::string& item : section.use) {
        const std::size_t equals = item.find('='), dot = item.substr(0, equals).find('.');
        const std::string name = item.substr(0, std::min(dot, equals));
        const bool isSetting = dot != std::string::npos && equals != std::string::npos;
        const std::string key = isSetting ? item.substr(dot + 1, equals - dot - 1) : std::string();
        if (!isName(name) || (isSetting ? !isName(key) : name != item)) return noName(item);
        auto found = std::find_if(all.begin(), all.end(), [&](const PluginChoice& choice) { return choice.name == name; });
        if (found == all.end()) found = all.insert(all.end(), PluginChoice{name, {}});
        if (isSetting && !found->settings.emplace(key, item.substr(equals + 1)).second)
            return Error{ErrorCode::Config, "plugins." + name + "." + key + " is set twice; keep one", "plugins.use", {}};
    }
    return all;
}

void setPlugin(std::vector<std::string>& items, const std::string& name, const std::string& key, const std::string& value) {
    const std::string start = key.empty() ? name : name + "." + key + "=";
    const auto found = std::find_if(items.begin(), items.end(), [&](const std::string& item) { return key.empty() ? item == start : item.starts_with(start); });
    const std::string item = key.empty() ? start : start + value;
    if (found == items.end()) items.push_back(item);
    else *found = item;
}

std::string_view pluginOf(std::string_view thing) {
    const std::size_t slash = thing.find('/');
    const bool isThing = slash != std::string_view::npos && isName(thing.substr(0, slash)) && isName(thing.substr(slash + 1));
    return isThing ? thing.substr(0, slash) : std::string_view();
}

}  // namespace lathe::config
