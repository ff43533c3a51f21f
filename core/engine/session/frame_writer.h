// Puts frames into this rank's ring. Thread: one thread at a time.
#pragma once

#include "base/counters.h"
#include "live/frame.h"
#include "live/segment.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::engine {

class FrameWriter {
public:
    FrameWriter(live::Segment& segment, int ring, int session) : m_segment(segment), m_ring(ring), m_session(session) {}

    /// Id of a series, declared at its first use.
    std::uint16_t series(const std::string& name, const std::string& unit);
    /// A row to be filled and given to points(); reused, so that no step allocates.
    live::PointsFrame& row(const Counters& counters, double activeSeconds);
    void points(const live::PointsFrame& row);
    /// `facts`: an object, or null.
    void event(const std::string& kind, const std::string& text, const nlohmann::json& facts, const Counters& counters);

    void digest(std::int64_t attempt, std::uint64_t samples, double loss, double gradNorm);
    /// Requires: content of at most live::kMostInlineBytes.
    void record(live::FrameType type, const std::string& name, const std::string& content, const Counters& counters);

    std::uint64_t lastSequence() const { return m_segment.lastSequence(m_ring); }
    int ring() const { return m_ring; }

private:
    void write(live::FrameType type);

    live::Segment& m_segment;
    int m_ring, m_session;
    std::map<std::string, std::uint16_t, std::less<>> m_series;
    live::PointsFrame m_row;
    std::vector<std::byte> m_buffer;
};

}  // namespace lathe::engine
