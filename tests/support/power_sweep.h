// One operation, with the power lost after each change that it makes to the disk, in many ways; see power_loss.h.
#pragma once

#include "fault_sweep.h"

namespace lathe::test {

struct PowerCount {
    bool works = false;
    std::string why;
    std::size_t changes = 0, states = 0;
    std::vector<std::string> bad;
};

/// `states`: how many are looked at; spread over all moments, each moment's first with nothing kept but what was synced.
/// Judged as killed; where the work was over, as done.
PowerCount losePower(const Operation& operation, std::size_t states);

}  // namespace lathe::test
