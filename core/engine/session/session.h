// One session of one rank, from its command line to its "ended" event: the worker's side of the contract in
// launch/session/supervisor.h. Includes no LibTorch.
#pragma once

#include "base/exit_code.h"

#include <filesystem>

namespace lathe::engine {

struct SessionArguments {
    std::filesystem::path run;
    int session = 0;
    int rank = 0, world = 1;
    int segmentFd = -1, lifelineFd = -1;
};

/// Returns when the session has ended; the reason is in its "ended" event, or on standard error when there is no ring.
ExitCode runSession(const SessionArguments& arguments);

}  // namespace lathe::engine
