#include "engine/session/pulse.h"

#include "base/clock.h"
#include "base/exit_code.h"

#include <chrono>
#include <csignal>
#include <poll.h>
#include <unistd.h>

namespace lathe::engine {
namespace {

constexpr auto kWatchEvery = std::chrono::milliseconds(100);

std::atomic<int> g_stopSignals{0};

void onStopSignal(int) {
    if (g_stopSignals.fetch_add(1) > 0) ::_exit(static_cast<int>(ExitCode::Interrupted));
}

}  // namespace

Pulse::Pulse(live::Segment& segment, int ring, int lifelineFd)
    : m_segment(segment), m_ring(ring), m_lifelineFd(lifelineFd) {
    m_beat.pid = ::getpid();
    beat();
    m_thread = std::thread([this] { watch(); });
}

Pulse::~Pulse() {
    {
        const std::lock_guard lock(m_mutex);
        m_ending = true;
    }
    m_wake.notify_one();
    m_thread.join();
}

void Pulse::phase(live::Phase phase, std::int64_t done, std::int64_t total) {
    {
        const std::lock_guard lock(m_mutex);
        const bool changed = m_beat.phase != phase;
        if (changed || m_beat.done != done) turnTo(live::Activity::None);
        m_beat.phase = phase;
        m_beat.done = done;
        m_beat.total = total;
        if (!changed) return;
    }
    beat();
}

void Pulse::counters(const Counters& counters) {
    const std::lock_guard lock(m_mutex);
    m_beat.attempt = counters.updateAttempts.value();
    m_beat.step = counters.globalStep.value();
}

void Pulse::checkpointIsDurable() {
    {
        const std::lock_guard lock(m_mutex);
        ++m_beat.durableCheckpoints;
    }
    beat();
}

void Pulse::acknowledge(std::int64_t controlNumber) {
    {
        const std::lock_guard lock(m_mutex);
        m_beat.acknowledged = controlNumber;
    }
    beat();
}

void Pulse::spill(std::uint64_t spilled, std::uint64_t lost) {
    const std::lock_guard lock(m_mutex);
    m_beat.spilledFrames = spilled;
    m_beat.lostFrames = lost;
}

void Pulse::beat() {
    const std::lock_guard lock(m_mutex);
    send();
}

void Pulse::send() {
    m_beat.monotonicNs = Clock::system().monotonicNs();
    m_beat.collective = m_operation;
    m_beat.activity = m_activity;
    const std::uint64_t marks = m_marks;
    if (marks != m_marksSeen || m_beat.movedNs == 0) m_beat.movedNs = m_beat.monotonicNs;
    m_marksSeen = marks;
    m_segment.beat(m_ring, m_beat);
}

void Pulse::watch() {
    std::unique_lock lock(m_mutex);
    while (!m_wake.wait_for(lock, kWatchEvery, [this] { return m_ending; })) {
        if (m_lifelineFd >= 0 && !m_lost) {
            pollfd lifeline{m_lifelineFd, POLLIN, 0};
            if (::poll(&lifeline, 1, 0) > 0 && (lifeline.revents & (POLLHUP | POLLIN | POLLERR)) != 0) m_lost = true;
        }
        send();
    }
}

int Pulse::stopSignals() { return g_stopSignals; }

void Pulse::catchSignals() {
    struct sigaction action {};
    action.sa_handler = onStopSignal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

}  // namespace lathe::engine
