// Numbers as text: exact for files (read back to the same bits), short for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lathe {

/// Shortest text that reads back to the same double; "nan", "inf", "-inf" spelled out.
std::string exactText(double value);
/// The whole text as a double (also nan, inf, -inf), or nothing.
std::optional<double> readDouble(std::string_view text);
std::optional<std::int64_t> readInteger(std::string_view text);

/// For people: "3e-4", "0.0021", "12.5", "1,204,000" is not used: at most `digits` significant digits.
std::string shortText(double value, int digits = 4);
/// "41.0 GiB" (memory, powers of 1024).
std::string memoryText(std::uint64_t bytes);
/// "41.0 GB" (disk, powers of 1000).
std::string diskText(std::uint64_t bytes);
/// "3 h 12 min", "4 min 05 s", "12 s".
std::string durationText(double seconds);

}  // namespace lathe
