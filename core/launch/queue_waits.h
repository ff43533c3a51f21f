// What each run of the queue waits for, by the rule that its keeper goes by.
// Thread: functions without shared state; they read the configurations of the sessions.
#pragma once

#include "launch/queue.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lathe::launch {

struct Wait {
    enum class For {
        Device,    ///< until one of `devices` can be had alone
        Other,     ///< until the entry `other`, which takes a device that this one could have, has started
        Release,   ///< it is held; `why` where nobody asked for that
        Never      ///< it can never run here: `why`
    };
    For what = For::Device;
    std::vector<std::string> devices;   ///< "cpu" or UUIDs
    std::size_t other = 0;              ///< place in QueueState::entries
    std::string why;
    bool operator==(const Wait&) const = default;
};

/// One for each entry, in the same order.
std::vector<Wait> waitsOf(const QueueState& state);

/// "waits for the processor", "waits behind NAME", "held": for people. `other`: name of the entry it waits behind.
std::string waitText(const Wait& wait, const std::string& other);

}  // namespace lathe::launch
