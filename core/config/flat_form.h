// The flat form: one level of keys, as many small trainers write it. Each key is mapped to one of ours, and a Notice
// says how; what this version cannot do is a Warning where the result is the same or plainly told, an Error otherwise.
#pragma once

#include "config/config.h"
#include "config/yaml_tree.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::config {

/// Whether a file's top level is the flat form: scalars only, and no section name.
bool looksFlat(const YamlNode& root);
Loaded readFlatForm(const YamlNode& root, const std::filesystem::path& base);
/// Names of the keys that the flat form understands.
const std::vector<std::string>& flatKeys();
/// Our key for a flat key ("learning_rate" -> "optimizer.learning_rate"), or empty.
std::string ownKeyFor(std::string_view flatKey);

}  // namespace lathe::config
