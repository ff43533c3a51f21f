#include "launch/session/device_telemetry.h"

#include "base/log.h"

#include <cstddef>

namespace lathe::launch {

void DeviceTelemetry::look(const Reached& run, std::int64_t nowNs, std::int64_t wallNs) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    if (m_every.unit != Interval::Unit::Seconds || nowNs - m_measuredNs < m_every.count * kSecond) return;
    if (run.attempt == m_attempt) return;
    m_measuredNs = nowNs;
    m_attempt = run.attempt;
    live::PointsFrame points;
    points.session = m_place.session;
    points.attempt = run.attempt;
    points.step = run.step;
    points.activeNs = run.activeNs;
    points.wallNs = wallNs;
    std::vector<std::byte> payload;
    for (const device::Sample& sample : m_measure()) {
        const auto [series, isNew] = m_series.try_emplace(sample.name, static_cast<std::uint16_t>(m_series.size()));
        if (isNew) {
            live::encode(live::SeriesFrame{series->second, sample.name, sample.unit}, payload);
            if (!m_place.segment.write(m_place.ring, live::FrameType::Series, payload)) return;
        }
        points.items.push_back({series->second, sample.value});
    }
    if (points.items.empty()) return;
    live::encode(points, payload);
    if (const auto written = m_place.segment.write(m_place.ring, live::FrameType::Points, payload); !written) log::warning(written.error().text());
}

}  // namespace lathe::launch
