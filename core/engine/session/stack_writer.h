// Where the training thread is, told without a debugger: at SIGURG (which does nothing where nobody listens, so that asking
// never ends a process) the main thread writes its stack to standard error, which is the rank's log:
//   ==== stack 1234
//   libtorch_cpu.so(mangled+0x12) [0x7f…]      innermost first
//   ==== end of stack 1234
// with the process id. The handler allocates nothing. Names come from the loader, whose lock it needs: it waits for another
// thread that hangs in dlopen().
// A process that is stopped writes it once it goes on.
#pragma once

namespace lathe::engine {

/// Requires: called once, on the main thread, before training starts.
void writeStackWhenAsked();

}  // namespace lathe::engine
