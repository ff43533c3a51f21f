// Time left of a session, from its own recent rate. Evaluations and saves are told from updates by their length and
// counted with the share of time that they have taken so far, so that one of them does not upset the estimate.
// Pauses are not in active time, and what earlier sessions did never counts. Supervisor and window ask the same.
// Thread: plain value.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace lathe::launch {

class TimeLeft {
public:
    /// A new session: nothing measured yet.
    void restart() { *this = TimeLeft(); }
    /// A point of this session: attempt, and active time in it. Points out of order are ignored.
    void add(std::int64_t attempt, double activeSeconds);
    /// Recent, while updating; nothing until a handful of updates were seen ("measuring").
    std::optional<double> updatesPerSecond() const;
    /// Interruptions included.
    std::optional<double> secondsFor(std::int64_t updates) const;

private:
    struct Mark {
        std::int64_t attempt;
        double seconds;
    };
    std::deque<Mark> m_marks;      ///< of updating time, a few a second
    std::optional<Mark> m_newest;  ///< attempt and active time
    double m_updating = 0;         ///< seconds, interruptions left out
    double m_interrupted = 0;
    std::int64_t m_updates = 0;
};

}  // namespace lathe::launch
