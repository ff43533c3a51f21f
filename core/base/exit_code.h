// Exit codes of all three programs: the one list that scripts rely on (also printed by --help).
#pragma once

#include "base/error.h"

namespace lathe {

enum class ExitCode : int {
    Completed = 0,    ///< did what was asked
    Usage = 2,        ///< bad command line or configuration
    Failed = 3,       ///< could not do it; the reason is on standard error and in the exit record
    Stopped = 4,      ///< stopped on request, with a checkpoint unless discarded
    Interrupted = 5,  ///< killed by a signal, or its supervisor was lost
    Diverged = 6,     ///< numbers stayed non-finite
    OutOfMemory = 7,  ///< host or device memory exhausted
    Busy = 8          ///< another process holds this run
};

/// The code that a failure of this kind stands for.
ExitCode exitCodeOf(ErrorCode code);

}  // namespace lathe
