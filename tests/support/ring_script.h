// Offers frames to a RunWriter as a ring would: declares series by name, numbers frames.
#pragma once

#include "live/frame.h"
#include "store/run_store.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lathe::tests {

class RingScript {
public:
    RingScript(store::RunWriter& writer, int ring, std::int32_t session, std::uint64_t sequence = 0)
        : m_writer(writer), m_ring(ring), m_session(session), m_sequence(sequence) {}

    struct Row {
        std::int64_t attempt = 0, step = 0, activeNs = 0, wallNs = 0;
    };

    void points(const Row& row, const std::vector<std::pair<std::string, double>>& values) {
        live::PointsFrame frame{m_session, row.attempt, row.step, row.activeNs, row.wallNs, {}};
        for (const auto& [name, value] : values) frame.items.push_back({idOf(name), value});
        live::encode(frame, m_buffer);
        offer(live::FrameType::Points);
    }
    /// With times made up from the attempt.
    void points(std::int64_t attempt, const std::vector<std::pair<std::string, double>>& values) {
        points({attempt, attempt, attempt * 1000, 1'700'000'000'000'000'000 + attempt * 1000}, values);
    }
    void event(const std::string& kind, const std::string& text, std::int64_t attempt = 0) {
        live::encode(live::EventFrame{m_session, attempt, attempt, 1, kind, text, "{}"}, m_buffer);
        offer(live::FrameType::Event);
    }
    void digest(std::int64_t attempt, std::uint64_t samples, double loss, double norm) {
        live::encode(live::DigestFrame{m_session, attempt, samples, loss, norm}, m_buffer);
        offer(live::FrameType::Digest);
    }
    std::uint64_t sequence() const { return m_sequence; }

private:
    std::uint16_t idOf(const std::string& name) {
        const auto [it, fresh] = m_ids.try_emplace(name, static_cast<std::uint16_t>(m_ids.size() + 1));
        if (fresh) {
            live::encode(live::SeriesFrame{it->second, name, ""}, m_buffer);
            offer(live::FrameType::Series);
        }
        return it->second;
    }
    void offer(live::FrameType type) { m_writer.take(m_ring, m_session, ++m_sequence, type, m_buffer); }

    store::RunWriter& m_writer;
    int m_ring;
    std::int32_t m_session;
    std::uint64_t m_sequence;
    std::map<std::string, std::uint16_t> m_ids;
    std::vector<std::byte> m_buffer;
};

}  // namespace lathe::tests
