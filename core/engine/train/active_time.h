// Seconds of training, pauses left out.
// Thread: one thread at a time.
#pragma once

#include "base/clock.h"

#include <cstdint>

namespace lathe::engine {

class ActiveTime {
public:
    explicit ActiveTime(const Clock& clock);
    double seconds() const;

    /// The clock stands still for as long as this lives.
    class Pause {
    public:
        explicit Pause(ActiveTime& time);
        ~Pause();
        Pause(const Pause&) = delete;
        Pause& operator=(const Pause&) = delete;

    private:
        ActiveTime& m_time;
    };

private:
    const Clock& m_clock;
    std::int64_t m_startNs, m_pausedNs = 0, m_pauseBeganNs = 0;
};

}  // namespace lathe::engine
