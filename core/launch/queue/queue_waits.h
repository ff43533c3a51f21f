// What each run of the queue waits for: the rule that its keeper goes by.
// Thread: functions without shared state; they read the configurations of the sessions.
#pragma once

#include "launch/queue/queue.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lathe::launch {

struct Wait {
    enum class For {
        Device,    ///< until `needed` of `devices` can be had alone; `why` where it could not be started then
        Other,     ///< until the entry `other`, which takes a device that this one could have, has started
        Release,   ///< it is held; `why` where nobody asked for that
        Machine    ///< until the machine or its configuration are such that it can run: `why` it cannot now
    };
    For what = For::Device;
    std::vector<std::string> devices;   ///< "cpu" or UUIDs, the first choice first; those of Other are left out
    std::size_t needed = 1;
    std::size_t other = 0;              ///< place in QueueState::entries
    std::string why;
    bool operator==(const Wait&) const = default;
};

/// One for each entry, in the same order.
std::vector<Wait> waitsOf(const QueueState& state, const device::Gpus& gpus = device::gpus());

/// "waits for the processor", "waits behind NAME", "held": for people. `other`: name of the entry it waits behind.
std::string waitText(const Wait& wait, const std::string& other);

}  // namespace lathe::launch
