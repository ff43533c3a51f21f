// The worker's pulse: beats at least twice a second whatever the training thread does, and watches what ends a worker:
// the lifeline, signals and the control block.
// Thread: has a thread of its own; the setters belong to the training thread, the questions are safe from any thread.
#pragma once

#include "base/counters.h"
#include "live/segment.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace lathe::engine {

class Pulse {
public:
    /// `lifelineFd`: reading end of a pipe nobody writes to, or -1.
    Pulse(live::Segment& segment, int ring, int lifelineFd);
    ~Pulse();
    Pulse(const Pulse&) = delete;
    Pulse& operator=(const Pulse&) = delete;

    void phase(live::Phase phase, std::int64_t done = 0, std::int64_t total = 0);
    void counters(const Counters& counters);
    void checkpointIsDurable();
    /// Number of the operation that this rank enters with the others, and which kind it is.
    void operation(std::int64_t number, live::Activity activity) {
        m_operation.store(number, std::memory_order_relaxed);
        turnTo(activity);
    }
    /// What the training thread turns to: also a sign that it gets on.
    void turnTo(live::Activity activity) {
        m_activity.store(activity, std::memory_order_relaxed);
        m_marks.store(m_marks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    void acknowledge(std::int64_t controlNumber);
    void spill(std::uint64_t spilled, std::uint64_t lost);
    /// Makes the newest values visible now.
    void beat();
    live::Phase currentPhase() const { return m_beat.phase; }  ///< training thread

    bool supervisorLost() const { return m_lost; }
    /// Signals that ask to stop, so far.
    static int stopSignals();
    /// SIGTERM, SIGINT, SIGHUP: the first asks to save and stop, the second leaves at once.
    static void catchSignals();

private:
    void watch();
    void send();   ///< requires m_mutex held

    live::Segment& m_segment;
    int m_ring, m_lifelineFd;
    mutable std::mutex m_mutex;  ///< guards m_beat
    live::Heartbeat m_beat;
    std::atomic<bool> m_lost{false};
    std::atomic<std::int64_t> m_operation{0};
    std::atomic<live::Activity> m_activity{live::Activity::None};
    std::atomic<std::uint64_t> m_marks{0};   ///< grows with each sign that the training thread gets on; written by it alone
    std::uint64_t m_marksSeen = 0;           ///< in the newest beat
    bool m_ending = false;
    std::condition_variable m_wake;
    std::thread m_thread;
};

}  // namespace lathe::engine
