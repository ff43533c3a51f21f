#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lathe::config {

/// Offset of the first byte that is not part of well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates), or npos.
std::size_t firstBadUtf8(std::string_view text);
/// Each byte that is not part of well-formed UTF-8 becomes "?".
std::string repairedUtf8(std::string text);

}  // namespace lathe::config
