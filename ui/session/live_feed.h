// The shared memory of a running session as points, events and heartbeats. Thread: one.
#pragma once

#include "launch/session/time_left.h"
#include "live/segment.h"
#include "session/event_log.h"
#include "session/recorded.h"
#include "session/run_data.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace lathe::session {

class LiveFeed {
public:
    LiveFeed(std::unique_ptr<live::Segment> segment, std::int32_t session) : m_segment(std::move(segment)), m_session(session) {}

    std::int32_t session() const { return m_session; }
    int rings() const { return m_segment->writers(); }
    /// Goes on behind what is recorded. Requires: `recorded` was read for this session and these rings.
    void begin(const Recorded& recorded);
    /// False before begin() and after a lap.
    bool begun() const { return !m_readers.empty(); }

    struct News {
        bool points = false, events = false;
        bool lapped = false;  ///< frames were overwritten unread: begin() again, poll() brings nothing until then
    };
    News poll(RunData& data, EventLog& events, launch::TimeLeft& timeLeft);
    /// By ring: how far the database must reach before begin() can go on without a hole.
    const std::vector<std::uint64_t>& needed() const { return m_needed; }

    /// Of rank 0, else of the first rank that has one.
    std::optional<live::Heartbeat> heartbeat() const;
    live::Control control() const { return m_segment->control(); }
    std::uint64_t lostFrames() const;

private:
    /// False: names a series that is not known.
    bool take(int ring, const live::Frame& frame, RunData& data, EventLog& events, launch::TimeLeft& timeLeft, News& news);
    bool takePoints(int ring, const live::PointsFrame& frame, RunData& data, launch::TimeLeft& timeLeft);

    std::unique_ptr<live::Segment> m_segment;
    std::int32_t m_session;
    std::vector<live::RingReader> m_readers;
    std::vector<std::uint64_t> m_needed;
    std::vector<std::map<std::uint16_t, std::string>> m_names;  ///< by ring
};

}  // namespace lathe::session
