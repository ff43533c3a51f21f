#include "launch/session/live_summary.h"

#include "base/file_system.h"
#include "base/log.h"

namespace lathe::launch {

void LiveSummary::setState(rundir::State state, const std::string& why) {
    if (m_summary.state == state && (state == rundir::State::Paused || m_summary.why == why)) return;
    m_summary.state = state;
    m_summary.why = why;
    m_hasChanged = true;
}

bool LiveSummary::isDue(std::int64_t nowNs) const {
    constexpr std::int64_t kEvery = 1'000'000'000;
    return m_hasChanged || nowNs - m_writtenNs >= kEvery;
}

void LiveSummary::write(std::int64_t nowNs, std::int64_t wallNs) {
    m_summary.updatedNs = wallNs;
    if (const auto written = rundir::writeSummary(FileSystem::real(), m_run, m_summary); !written) {
        if (m_fails.came(written.error().text(), wallNs)) log::warning(written.error().text());
    } else if (const auto over = m_fails.over()) {
        log::warning(*over);
    }
    m_writtenNs = nowNs;
    m_hasChanged = false;
}

}  // namespace lathe::launch
