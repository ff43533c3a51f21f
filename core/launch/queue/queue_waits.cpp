#include "launch/queue/queue_waits.h"
#include "launch/run/run_settings.h"

#include <algorithm>
#include <map>
#include <utility>

namespace lathe::launch {

using WaitedFor = std::map<std::string, std::size_t>;   // device -> the last entry that waits for it

static Wait waitOf(const QueueEntry& entry, const device::Gpus& gpus, const WaitedFor& waitedFor) {
    Wait wait;
    wait.why = entry.why;
    wait.what = Wait::For::Release;
    if (entry.held) return wait;
    const auto config = configOf(rundir::RunFolder(entry.folder), entry.session);
    const auto all = config ? devicesFor(*config, gpus) : Result<device::Candidates>(config.error());
    wait.what = Wait::For::Machine;
    if (!all) {
        wait.why = all.error().text();
        return wait;
    }
    wait.needed = all->needed;
    for (const std::string& device : all->devices) {
        if (const auto before = waitedFor.find(device); before != waitedFor.end()) wait.other = std::max(wait.other, before->second);
        else wait.devices.push_back(device);
    }
    const bool isNext = wait.devices.size() >= wait.needed;
    wait.what = isNext ? Wait::For::Device : Wait::For::Other;
    if (isNext) wait.other = 0;
    else wait.devices = all->devices;
    return wait;
}

std::vector<Wait> waitsOf(const QueueState& state, const device::Gpus& gpus) {
    WaitedFor waitedFor;
    std::vector<Wait> waits;
    for (std::size_t place = 0; place < state.entries.size(); ++place) {
        waits.push_back(waitOf(state.entries[place], gpus, waitedFor));
        for (const std::string& device : waits.back().devices) waitedFor[device] = place;
    }
    return waits;
}

static std::string deviceText(const Wait& wait) {
    if (wait.devices.empty() || wait.devices.front() == "cpu") return "waits for the processor";
    if (wait.devices.size() == 1) return "waits for " + wait.devices.front();
    const std::string count = wait.needed == 1 ? "one" : std::to_string(wait.needed);
    return wait.needed == wait.devices.size() ? "waits for " + count + " GPUs" : "waits for " + count + " of " + std::to_string(wait.devices.size()) + " GPUs";
}

std::string waitText(const Wait& wait, const std::string& other) {
    switch (wait.what) {
    case Wait::For::Device: return deviceText(wait) + (wait.why.empty() ? "" : "; it could not be started: " + wait.why);
    case Wait::For::Other: return "waits behind " + other;
    case Wait::For::Release: return wait.why.empty() ? "held" : "held: " + wait.why;
    case Wait::For::Machine: return "cannot start now: " + wait.why;
    }
    return {};
}

}  // namespace lathe::launch
