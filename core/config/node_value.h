// A YAML node as the value of a field.
#pragma once

#include "base/result.h"
#include "config/schema.h"
#include "config/yaml_tree.h"

#include <filesystem>

namespace lathe::config {

/// Checked; paths made absolute from `base`. The error's sentence names the line.
Result<Value> valueOfNode(const Field& field, const YamlNode& node, const std::filesystem::path& base);

}  // namespace lathe::config
