// How fast training goes now, and how long the rest will take: from this session's own recent steps.
// Thread: plain value.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

namespace lathe::launch {

class Pace {
public:
    /// `activeNs`: time inside the session, pauses left out.
    void add(std::int64_t step, std::int64_t activeNs);
    /// Nothing while it is still measured.
    std::optional<double> stepsPerSecond() const;
    std::optional<double> secondsFor(std::int64_t steps) const;

private:
    std::deque<std::pair<std::int64_t, std::int64_t>> m_seen;
};

}  // namespace lathe::launch
