#include "launch/session/time_left.h"

namespace lathe::launch {

namespace {
constexpr double kWindowSeconds = 60;
constexpr std::int64_t kWindowUpdates = 50;    // at least, where updates are slow
constexpr std::int64_t kFirstUpdates = 5;
constexpr double kMarkSpacing = 0.25;
constexpr double kInterruptionFactor = 5;      // an update that takes so many times the usual was interrupted
constexpr double kShortestInterruption = 0.2;  // seconds: jitter of quick updates is not an interruption
}  // namespace

void TimeLeft::add(std::int64_t attempt, double activeSeconds) {
    if (!m_newest) {
        m_newest = Mark{attempt, activeSeconds};
        m_marks.push_back({attempt, 0});
        return;
    }
    const std::int64_t updates = attempt - m_newest->attempt;
    double took = activeSeconds - m_newest->seconds;
    if (updates <= 0 || took < 0) return;
    m_newest = Mark{attempt, activeSeconds};
    const auto rate = updatesPerSecond();
    const double usual = rate ? double(updates) / *rate : took;
    if (took > kInterruptionFactor * usual && took - usual > kShortestInterruption) {
        m_interrupted += took - usual;
        took = usual;
    }
    m_updating += took;
    m_updates += updates;
    if (m_updating - m_marks.back().seconds >= kMarkSpacing) m_marks.push_back({attempt, m_updating});
    while (m_marks.size() > 2 && m_updating - m_marks[1].seconds >= kWindowSeconds && attempt - m_marks[1].attempt >= kWindowUpdates)
        m_marks.pop_front();
}

std::optional<double> TimeLeft::updatesPerSecond() const {
    if (!m_newest) return std::nullopt;
    const std::int64_t updates = m_newest->attempt - m_marks.front().attempt;
    const double seconds = m_updating - m_marks.front().seconds;
    if (m_updates < kFirstUpdates || updates <= 0 || seconds <= 0) return std::nullopt;
    return double(updates) / seconds;
}

std::optional<double> TimeLeft::secondsFor(std::int64_t updates) const {
    const auto rate = updatesPerSecond();
    if (!rate) return std::nullopt;
    return updates <= 0 ? 0.0 : double(updates) / *rate * (1 + m_interrupted / m_updating);
}

}  // namespace lathe::launch
