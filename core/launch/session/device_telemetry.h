// How the machine is used while a run computes, as series of the run: measured every so many seconds, and written beside the
// attempt that the run had reached into the ring that the supervisor alone writes.
// Thread: that of the session; the clock comes from outside.
#pragma once

#include "base/interval.h"
#include "device/devices.h"
#include "live/segment.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lathe::launch {

class DeviceTelemetry {
public:
    /// Where its points go: `ring` of `segment`, which outlives this object, as points of `session`.
    struct Place {
        live::Segment& segment;
        int ring = 0, session = 0;
    };
    using Measure = std::function<std::vector<device::Sample>()>;
    /// `every`: telemetry.devices_every; of another unit than seconds nothing is measured.
    DeviceTelemetry(Place place, const Interval& every, Measure measure) : m_place(place), m_every(every), m_measure(std::move(measure)) {}

    /// How far the run has come.
    struct Reached {
        std::int64_t attempt = 0, step = 0, activeNs = 0;
    };
    /// Nothing before it is time again, and nothing at the attempt of the last points: a series has one value at an attempt.
    void look(const Reached& run, std::int64_t nowNs, std::int64_t wallNs);

private:
    const Place m_place;
    const Interval m_every;
    const Measure m_measure;
    std::map<std::string, std::uint16_t> m_series;
    std::int64_t m_measuredNs = 0, m_attempt = 0;   ///< of the last points
};

}  // namespace lathe::launch
