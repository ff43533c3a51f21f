#include "launch/session/verifier.h"

#include "base/log.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace lathe::launch {

/// Of the calling thread alone, on Linux: last for the processor, and for the disk only when nobody else wants it.
static void yieldToEverybody() {
    constexpr int kLeast = 19, kThread = 1, kIdleClass = 3 << 13;
    static_cast<void>(::setpriority(PRIO_PROCESS, 0, kLeast));
    static_cast<void>(::syscall(SYS_ioprio_set, kThread, 0, kIdleClass));
}

Verifier::~Verifier() {
    {
        const std::lock_guard lock(m_mutex);
        m_leaving = true;
    }
    m_changed.notify_all();
    if (m_thread.joinable()) m_thread.join();
}

void Verifier::add(const std::string& folder) {
    if (!m_known.insert(folder).second) return;
    {
        const std::lock_guard lock(m_mutex);
        m_waiting.push_back(folder);
    }
    if (!m_thread.joinable()) m_thread = std::thread([this] { work(); });
    m_changed.notify_all();
}

std::vector<Verifier::Finding> Verifier::take() {
    const std::lock_guard lock(m_mutex);
    for (const std::string& folder : std::exchange(m_unread, {})) m_known.erase(folder);
    return std::exchange(m_findings, {});
}

void Verifier::work() {
    yieldToEverybody();
    std::unique_lock lock(m_mutex);
    while (true) {
        m_changed.wait(lock, [this] { return m_leaving || !m_waiting.empty(); });
        if (m_leaving) return;
        const std::string folder = m_waiting.front();
        lock.unlock();
        Finding finding{folder, Descriptor(::open((m_checkpoints / folder).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), {}};
        auto found = rundir::verifyCheckpoint(finding.place(), {.fromDisk = true, .goesOn = [this] { return !m_leaving; }});
        lock.lock();
        m_waiting.pop_front();
        if (found) {
            finding.found = std::move(*found);
            m_findings.push_back(std::move(finding));
        } else {
            if (found.error().code != ErrorCode::Stopped && finding.held) log::warning("Checkpoint " + folder + " could not be re-read now: " + found.error().text());
            m_unread.push_back(folder);
        }
        m_changed.notify_all();
    }
}

}  // namespace lathe::launch
