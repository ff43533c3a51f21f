#include "launch/process/recurring_problem.h"

#include <array>
#include <ctime>
#include <regex>
#include <utility>

namespace lathe::launch {

std::string withoutAmounts(const std::string& sentence) {
    static const std::regex kAmount("[0-9]+(\\.[0-9]+)?( [kMGT]?i?B\\b)?");
    return std::regex_replace(sentence, kAmount, "#");
}

static std::string timeText(std::int64_t wallNs) {
    const auto seconds = static_cast<std::time_t>(wallNs / 1'000'000'000);
    std::tm parts{};
    ::localtime_r(&seconds, &parts);
    std::array<char, 16> text{};
    static_cast<void>(std::strftime(text.data(), text.size(), "%H:%M:%S", &parts));
    return text.data();
}

bool RecurringProblem::came(const std::string& sentence, std::int64_t wallNs) {
    if (m_count++ == 0) m_firstNs = wallNs;
    m_lastNs = wallNs;
    const std::string kind = withoutAmounts(sentence);
    return std::exchange(m_told, kind) != kind;
}

std::optional<std::string> RecurringProblem::over() {
    m_told.clear();
    const int count = std::exchange(m_count, 0);
    if (count < 2) return std::nullopt;
    return std::to_string(count) + " " + m_what + " between " + timeText(m_firstNs) + " and " + timeText(m_lastNs);
}

}  // namespace lathe::launch
