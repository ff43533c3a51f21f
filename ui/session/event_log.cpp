#include "session/event_log.h"

#include <algorithm>

namespace lathe::session {

namespace {
constexpr std::size_t kOverlap = 2000;  // more events than a ring holds while the recorder writes it down
}

bool EventLog::has(const live::EventFrame& frame) const {
    const std::size_t from = m_rows.size() - std::min(m_rows.size(), kOverlap);
    return std::any_of(m_rows.begin() + std::ptrdiff_t(from), m_rows.end(), [&](const store::EventRow& row) {
        return row.event.wallNs == frame.wallNs && row.event.attempt == frame.attempt && row.event.session == frame.session &&
               row.event.kind == frame.kind && row.event.text == frame.text;
    });
}

bool EventLog::addRecorded(const store::EventRow& row) {
    m_newest = std::max(m_newest, row.id);
    return addLive(row.event);
}

bool EventLog::addLive(const live::EventFrame& frame) {
    if (has(frame)) return false;
    m_rows.push_back({std::int64_t(m_rows.size()) + 1, frame});
    return true;
}

}  // namespace lathe::session
