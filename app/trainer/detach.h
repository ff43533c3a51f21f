// Work that goes on in the background, away from the terminal.
#pragma once

#include "base/exit_code.h"
#include "base/result.h"

#include <functional>

namespace lathe::trainer {

/// Leaves the terminal: a session of its own, nothing open but what it needs.
void leaveTerminal();

/// Runs `work` in a process of its own and returns once it writes a byte to the descriptor it is given (true), or has
/// ended without (false). Requires: no other threads.
Result<bool> runApart(const std::function<ExitCode(int ready)>& work);

}  // namespace lathe::trainer
