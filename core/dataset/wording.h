// Words that several readers put into their sentences.
#pragma once

#include "base/error.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lathe::dataset {

/// " Did you mean 'age'?", or, without a close one, " There are: a, b, c and 7 more.". Case does not count.
std::string nameHint(std::string_view name, std::span<const std::string> known);

/// "a, b, c and 7 more".
std::string shortList(std::span<const std::string> names, std::size_t shown = 8);

/// "1 row", "1,797 rows".
std::string countOf(std::int64_t count, std::string_view one, std::string_view many);

/// A cell or name as it may stand in a sentence: at most 40 characters, control characters replaced.
std::string inQuotes(std::string_view text);

Error dataError(std::string sentence, std::string_view key);

}  // namespace lathe::dataset
