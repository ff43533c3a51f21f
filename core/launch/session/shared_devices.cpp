#include "launch/session/shared_devices.h"

#include "base/log.h"

#include <utility>

namespace lathe::launch {

std::vector<std::string> SharedDevices::share(const device::Candidates& devices) {
    std::vector<std::string> told;
    for (std::size_t i = 0; i < devices.needed; ++i) {
        auto lock = DeviceLock::take(devices.devices[i], DeviceLock::Use::Shared);
        if (!lock) log::warning(lock.error().text());
        else if (*lock) m_locks->push_back(std::move(**lock));
        else told.push_back("A run from the queue has " + devices.devices[i] + " for itself; both will be slower");
    }
    return told;
}

std::vector<std::string> SharedDevices::keep(std::int64_t nowNs) {
    constexpr std::int64_t kTellAfterNs = 1'000'000'000;
    std::vector<std::string> told;
    for (DeviceLock& lock : *m_locks) {
        const auto kept = lock.renew();
        if (kept && *kept) {
            m_lost.erase(lock.device());
            continue;
        }
        std::int64_t& since = m_lost.try_emplace(lock.device(), nowNs).first->second;
        if (since == 0 || nowNs - since < kTellAfterNs) continue;
        since = 0;
        told.push_back("The lock " + lock.file().string() + " was removed, and "
                       + (kept ? "another run has " + lock.device() + " by now; both will be slower"
                               : "a run from the queue may start beside this one: " + kept.error().text()));
    }
    return told;
}

}  // namespace lathe::launch
