#include "engine/train/active_time.h"

namespace lathe::engine {

ActiveTime::ActiveTime(const Clock& clock) : m_clock(clock), m_startNs(clock.monotonicNs()) {}

double ActiveTime::seconds() const {
    const std::int64_t now = m_pauseBeganNs ? m_pauseBeganNs : m_clock.monotonicNs();
    return static_cast<double>(now - m_startNs - m_pausedNs) * 1e-9;
}

ActiveTime::Pause::Pause(ActiveTime& time) : m_time(time) { m_time.m_pauseBeganNs = m_time.m_clock.monotonicNs(); }

ActiveTime::Pause::~Pause() {
    m_time.m_pausedNs += m_time.m_clock.monotonicNs() - m_time.m_pauseBeganNs;
    m_time.m_pauseBeganNs = 0;
}

}  // namespace lathe::engine
