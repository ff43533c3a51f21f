#include "launch/queue_waits.h"

#include <algorithm>
#include <map>
#include <utility>

namespace lathe::launch {

static Wait waitOf(const QueueEntry& entry, std::size_t place, std::map<std::string, std::size_t>& waitedFor) {
    if (entry.held) return {Wait::For::Release, {}, 0, entry.why};
    const auto config = configOf(rundir::RunFolder(entry.folder), entry.session);
    auto devices = config ? devicesFor(*config) : Result<std::vector<std::string>>(config.error());
    if (!devices) return {Wait::For::Never, {}, 0, devices.error().text()};
    const auto isFree = [&](const std::string& device) { return !waitedFor.contains(device); };
    Wait wait{Wait::For::Device, *devices, 0, {}};
    if (std::none_of(devices->begin(), devices->end(), isFree)) {
        wait.what = Wait::For::Other;
        for (const std::string& device : *devices) wait.other = std::max(wait.other, waitedFor.at(device));
    }
    for (const std::string& device : *devices) waitedFor[device] = place;
    return wait;
}

std::vector<Wait> waitsOf(const QueueState& state) {
    std::map<std::string, std::size_t> waitedFor;   // device -> the last entry that waits for it
    std::vector<Wait> waits;
    for (std::size_t place = 0; place < state.entries.size(); ++place) waits.push_back(waitOf(state.entries[place], place, waitedFor));
    return waits;
}

std::string waitText(const Wait& wait, const std::string& other) {
    switch (wait.what) {
    case Wait::For::Device:
        if (wait.devices.size() > 1) return "waits for one of " + std::to_string(wait.devices.size()) + " GPUs";
        return wait.devices.empty() || wait.devices.front() == "cpu" ? "waits for the processor" : "waits for " + wait.devices.front();
    case Wait::For::Other: return "waits behind " + other;
    case Wait::For::Release: return wait.why.empty() ? "held" : "held: " + wait.why;
    case Wait::For::Never: return "cannot start: " + wait.why;
    }
    return {};
}

}  // namespace lathe::launch
