// Work that goes on in a process of its own, away from the terminal.
// Thread: these fork without exec, so no other thread may be there.
#pragma once

#include "base/exit_code.h"
#include "base/result.h"

#include <functional>
#include <sys/types.h>

namespace lathe::launch {

/// Leaves the terminal: a session of its own, nothing open but what it needs.
void leaveTerminal();

struct Apart {
    pid_t pid = -1;      ///< a child of this process, to be waited for by whoever stays
    bool isUp = false;   ///< false: it has ended without a word, and is collected
};
/// Runs `work` in a process of its own and returns once it writes a byte to the descriptor it is given, or has ended.
Result<Apart> runApart(const std::function<ExitCode(int ready)>& work);

}  // namespace lathe::launch
