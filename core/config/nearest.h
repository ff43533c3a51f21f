// "Did you mean": the known word most like a mistyped one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lathe::config {

/// The word of `known` that takes the fewest changes (insert, delete, replace, swap of neighbours) from `word`,
/// or, where all are further away than a third of its length (at least 2), the only one that begins with it; else empty.
std::string nearestWord(std::string_view word, std::span<const std::string> known);

}  // namespace lathe::config
