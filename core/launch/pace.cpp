#include "launch/pace.h"

namespace lathe::launch {

static constexpr std::int64_t kWindowNs = 60'000'000'000;    // long enough to hold evaluations and saves in their proportion
static constexpr std::int64_t kEnoughNs = 1'000'000'000;
static constexpr std::int64_t kEnoughSteps = 20;
static constexpr std::int64_t kWarmUpSteps = 3;              // the first ones also pay for caches and allocations

void Pace::add(std::int64_t step, std::int64_t activeNs) {
    if (!m_seen.empty() && step <= m_seen.back().first) return;
    m_seen.emplace_back(step, activeNs);
    // Looked at a few times a second; the window keeps at least enough steps to judge by.
    while (m_seen.size() > 2 && activeNs - m_seen[1].second > kWindowNs && step - m_seen[1].first >= kEnoughSteps) m_seen.pop_front();
}

std::optional<double> Pace::stepsPerSecond() const {
    std::size_t first = 0;
    while (first + 1 < m_seen.size() && m_seen[first].first - m_seen.front().first < kWarmUpSteps) ++first;
    if (m_seen.size() < 2 || first + 1 >= m_seen.size()) return std::nullopt;
    const std::int64_t steps = m_seen.back().first - m_seen[first].first, ns = m_seen.back().second - m_seen[first].second;
    if (ns <= 0 || (steps < kEnoughSteps && ns < kWindowNs) || ns < kEnoughNs) return std::nullopt;
    return static_cast<double>(steps) * 1e9 / static_cast<double>(ns);
}

std::optional<double> Pace::secondsFor(std::int64_t steps) const {
    const auto rate = stepsPerSecond();
    if (!rate || steps < 0) return std::nullopt;
    return static_cast<double>(steps) / *rate;
}

}  // namespace lathe::launch
