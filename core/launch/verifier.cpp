#include "launch/verifier.h"

#include "base/log.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
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

std::uint64_t Verifier::inodeOf(const std::filesystem::path& folder) {
    struct stat info {};
    return ::stat(folder.c_str(), &info) == 0 ? info.st_ino : 0;
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
    return std::exchange(m_findings, {});
}

void Verifier::wait(std::chrono::milliseconds most) {
    std::unique_lock lock(m_mutex);
    m_changed.wait_for(lock, most, [this] { return m_waiting.empty(); });
}

void Verifier::work() {
    yieldToEverybody();
    std::unique_lock lock(m_mutex);
    while (true) {
        m_changed.wait(lock, [this] { return m_leaving || !m_waiting.empty(); });
        if (m_leaving) return;
        const std::string folder = m_waiting.front();
        lock.unlock();
        // Held open: whatever is given its name meanwhile is not mixed up with it.
        const int held = ::open((m_checkpoints / folder).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
        const std::filesystem::path place = "/proc/self/fd/" + std::to_string(held);
        auto found = rundir::verifyCheckpoint(place, {.fromDisk = true, .goesOn = [this] { return !m_leaving; }});
        const std::uint64_t inode = held >= 0 ? inodeOf(place) : 0;
        if (held >= 0) ::close(held);
        lock.lock();
        m_waiting.pop_front();
        if (found) m_findings.push_back({folder, inode, std::move(*found)});   // else it is gone, or there was no time for it
        m_changed.notify_all();
    }
}

}  // namespace lathe::launch
