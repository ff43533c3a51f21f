#include "engine/session/frame_writer.h"

#include "base/clock.h"
#include "base/log.h"

#include <nlohmann/json.hpp>

namespace lathe::engine {

std::uint16_t FrameWriter::series(const std::string& name, const std::string& unit) {
    const auto known = m_series.find(name);
    if (known != m_series.end()) return known->second;
    const auto id = static_cast<std::uint16_t>(m_series.size() + 1);
    m_series[name] = id;
    live::encode(live::SeriesFrame{id, name, unit}, m_buffer);
    write(live::FrameType::Series);
    return id;
}

live::PointsFrame& FrameWriter::row(const Counters& counters, double activeSeconds) {
    m_row.session = m_session;
    m_row.attempt = counters.updateAttempts.value();
    m_row.step = counters.globalStep.value();
    m_row.activeNs = static_cast<std::int64_t>(activeSeconds * 1e9);
    m_row.wallNs = Clock::system().wallNs();
    m_row.items.clear();
    return m_row;
}

void FrameWriter::points(const live::PointsFrame& row) {
    live::encode(row, m_buffer);
    write(live::FrameType::Points);
}

void FrameWriter::event(const std::string& kind, const std::string& text, const nlohmann::json& facts, const Counters& counters) {
    live::EventFrame frame;
    frame.session = m_session;
    frame.attempt = counters.updateAttempts.value();
    frame.step = counters.globalStep.value();
    frame.wallNs = Clock::system().wallNs();
    frame.kind = kind;
    frame.text = text;
    if (!facts.is_null()) frame.json = facts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    live::encode(frame, m_buffer);
    write(live::FrameType::Event);
}

void FrameWriter::digest(std::int64_t attempt, std::uint64_t samples, double loss, double gradNorm) {
    live::encode(live::DigestFrame{m_session, attempt, samples, loss, gradNorm}, m_buffer);
    write(live::FrameType::Digest);
}

void FrameWriter::record(live::FrameType type, const std::string& name, const std::string& content, const Counters& counters) {
    LATHE_ASSERT(content.size() <= live::kMostInlineBytes);
    live::encode(live::RecordFrame{type, m_session, counters.updateAttempts.value(), counters.globalStep.value(), Clock::system().wallNs(), name, {}, content, {}}, m_buffer);
    write(type);
}

void FrameWriter::write(live::FrameType type) {
    if (const auto written = m_segment.write(m_ring, type, m_buffer); !written.ok()) log::error(written.error().text());
}

}  // namespace lathe::engine
