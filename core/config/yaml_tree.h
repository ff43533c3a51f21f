// YAML as a plain tree, strict: one document, at most 1 MiB and 32 levels, no anchors, aliases or tags, keys are plain
// texts that appear once in their map, well-formed UTF-8 without control characters.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::config {

struct YamlEntry;

struct YamlNode {
    enum class Kind { Null, Scalar, List, Map };

    Kind kind = Kind::Null;
    std::string text;     ///< Scalar
    bool quoted = false;  ///< Scalar in quotation marks or a block: a text, never a number
    int line = 0;         ///< 1-based
    int column = 0;
    std::vector<YamlNode> items;     ///< List
    std::vector<YamlEntry> entries;  ///< Map, in the order of the file

    const YamlNode* find(std::string_view key) const;
};

struct YamlEntry {
    std::string key;
    YamlNode value;
};

inline constexpr std::uint64_t kMaxYamlBytes = 1024 * 1024;
inline constexpr int kMaxYamlDepth = 32;

/// The error's sentence names line and column.
Result<YamlNode> readYaml(std::string_view text);

/// A scalar in canonical form: plain where every YAML reader takes it for a text, in quotation marks otherwise.
std::string yamlText(std::string_view text);

}  // namespace lathe::config
