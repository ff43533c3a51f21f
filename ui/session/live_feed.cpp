#include "session/live_feed.h"

#include <algorithm>

namespace lathe::session {

void LiveFeed::begin(const Recorded& recorded) {
    m_names.resize(std::size_t(rings()));
    for (const auto& name : recorded.ringNames)
        if (name.ring >= 0 && name.ring < rings()) m_names[std::size_t(name.ring)][name.id] = name.name;
    m_readers.clear();
    m_needed.assign(std::size_t(rings()), 0);
    for (int ring = 0; ring < rings(); ++ring) {
        const std::uint64_t done = std::size_t(ring) < recorded.recorded.size() ? recorded.recorded[std::size_t(ring)] : 0;
        m_readers.push_back(m_segment->reader(ring, done + 1));
    }
}

LiveFeed::News LiveFeed::poll(RunData& data, EventLog& events, launch::TimeLeft& timeLeft) {
    News news;
    for (int ring = 0; ring < int(m_readers.size()); ++ring) {
        live::RingReader& reader = m_readers[std::size_t(ring)];
        const live::RingReader::Batch batch = reader.read();
        if (batch.lapped > 0) {
            // Points must come in order: what was missed is read from the database first, and this batch with it.
            news.lapped = true;
            m_needed[std::size_t(ring)] = reader.nextSequence() - 1;
            continue;
        }
        for (const live::Frame& frame : batch.frames) {
            if (take(ring, frame, data, events, timeLeft, news)) continue;
            news.lapped = true;  // its series was declared in a frame that is gone; the recorder knows the name
            m_needed[std::size_t(ring)] = frame.sequence;
            break;
        }
    }
    if (news.lapped) m_readers.clear();  // nothing more until begin(): later frames would be out of order
    return news;
}

bool LiveFeed::take(int ring, const live::Frame& frame, RunData& data, EventLog& events, launch::TimeLeft& timeLeft, News& news) {
    switch (frame.type) {
    case live::FrameType::Series:
        if (const auto series = live::decodeSeries(frame.payload); series.ok()) {
            m_names[std::size_t(ring)][series->id] = series->name;
            data.setUnit(series->name, series->unit);
        }
        break;
    case live::FrameType::Points:
        if (const auto points = live::decodePoints(frame.payload); points.ok()) {
            news.points = true;
            return takePoints(ring, *points, data, timeLeft);
        }
        break;
    case live::FrameType::Event:
        if (const auto event = live::decodeEvent(frame.payload); event.ok()) news.events |= events.addLive(*event);
        break;
    default: break;  // records are read from run.sqlite
    }
    return true;
}

bool LiveFeed::takePoints(int ring, const live::PointsFrame& frame, RunData& data, launch::TimeLeft& timeLeft) {
    store::Point point{frame.session, frame.attempt, frame.step, frame.activeNs, frame.wallNs, 0};
    for (const live::PointsFrame::Item& item : frame.items) {
        const auto& names = m_names[std::size_t(ring)];
        const auto name = names.find(item.series);
        if (name == names.end()) return false;
        point.value = item.value;
        data.append(name->second, point);
    }
    if (ring == 0 && frame.session == m_session)
        timeLeft.add(frame.attempt, double(frame.activeNs) * 1e-9);
    return true;
}

std::optional<live::Heartbeat> LiveFeed::heartbeat() const {
    for (int ring = 0; ring + 1 < rings(); ++ring)
        if (auto beat = m_segment->heartbeat(ring); beat && beat->monotonicNs > 0) return beat;
    return std::nullopt;
}

std::uint64_t LiveFeed::lostFrames() const {
    std::uint64_t lost = 0;
    for (int ring = 0; ring < rings(); ++ring)
        if (const auto beat = m_segment->heartbeat(ring)) lost += beat->lostFrames;
    return lost;
}

}  // namespace lathe::session
