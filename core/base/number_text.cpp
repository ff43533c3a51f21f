#include "base/number_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace lathe {

std::string exactText(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    std::array<char, 40> text{};
    const auto [end, problem] = std::to_chars(text.data(), text.data() + text.size(), value);
    return problem == std::errc{} ? std::string(text.data(), end) : std::string("nan");
}

std::optional<double> readDouble(std::string_view text) {
    if (text == "nan" || text == ".nan" || text == "NaN") return std::nan("");
    if (!text.empty() && text.front() == '+') text.remove_prefix(1);
    if (text == "inf" || text == ".inf") return HUGE_VAL;
    if (text == "-inf" || text == "-.inf") return -HUGE_VAL;
    double value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

std::optional<std::int64_t> readInteger(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string shortText(double value, int digits) {
    if (!std::isfinite(value)) return exactText(value);
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*g", digits, value);
    std::string out = text.data();
    // "3e-04" reads as a machine's number; people write 3e-4
    if (const std::size_t e = out.find('e'); e != std::string::npos) {
        std::size_t digit = e + 1;
        if (out[digit] == '+') out.erase(digit, 1);
        else if (out[digit] == '-') ++digit;
        while (out[digit] == '0' && digit + 1 < out.size()) out.erase(digit, 1);
    }
    return out;
}

static std::string scaled(std::uint64_t bytes, double base, const std::array<const char*, 5>& units) {
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= base && unit + 1 < units.size()) {
        value /= base;
        ++unit;
    }
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text.data();
}

std::string memoryText(std::uint64_t bytes) { return scaled(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB"}); }
std::string diskText(std::uint64_t bytes) { return scaled(bytes, 1000, {"B", "kB", "MB", "GB", "TB"}); }

std::string durationText(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) return "unknown";
    const auto whole = static_cast<std::int64_t>(seconds + 0.5);
    std::array<char, 64> text{};
    if (whole >= 3600)
        std::snprintf(text.data(), text.size(), "%lld h %02lld min", static_cast<long long>(whole / 3600),
                      static_cast<long long>(whole / 60 % 60));
    else if (whole >= 60)
        std::snprintf(text.data(), text.size(), "%lld min %02lld s", static_cast<long long>(whole / 60),
                      static_cast<long long>(whole % 60));
    else
        std::snprintf(text.data(), text.size(), "%lld s", static_cast<long long>(whole));
    return text.data();
}

}  // namespace lathe
