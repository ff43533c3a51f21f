#include "launch/recurring_problem.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <utility>

namespace lathe::launch {

/// The sentence without what differs from one time to the next: "have 8.2 kB".
static std::string withoutNumbers(const std::string& sentence) {
    std::string text;
    for (std::size_t i = 0; i < sentence.size(); ++i) {
        const bool isPoint = sentence[i] == '.' && i > 0 && std::isdigit(static_cast<unsigned char>(sentence[i - 1])) != 0;
        if (std::isdigit(static_cast<unsigned char>(sentence[i])) == 0 && !isPoint) text += sentence[i];
    }
    return text;
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
    const std::string kind = withoutNumbers(sentence);
    return std::exchange(m_told, kind) != kind;
}

std::optional<std::string> RecurringProblem::over() {
    m_told.clear();
    const int count = std::exchange(m_count, 0);
    if (count < 2) return std::nullopt;
    return std::to_string(count) + " " + m_what + " between " + timeText(m_firstNs) + " and " + timeText(m_lastNs);
}

}  // namespace lathe::launch
