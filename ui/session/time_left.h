// Time left of a session, from its own recent rate: pauses, evaluations and saves do not distort it for long, and what
// earlier sessions did never counts.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace lathe::session {

class TimeLeft {
public:
    /// A new session: nothing measured yet.
    void restart();
    /// A point of this session: attempt and active time in it (pauses left out). Out-of-order points are ignored.
    void add(std::int64_t attempt, double activeSeconds);
    /// Updates a second; nothing until a handful of updates were seen ("measuring").
    std::optional<double> updatesPerSecond() const;
    std::optional<double> secondsFor(std::int64_t updates) const;

private:
    struct Mark {
        std::int64_t attempt;
        double seconds;
    };
    std::deque<Mark> m_marks;  ///< thinned to a few a second
    std::optional<Mark> m_newest;
};

}  // namespace lathe::session
