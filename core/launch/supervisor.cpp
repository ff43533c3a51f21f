#include "launch/supervisor.h"

#include "base/log.h"
#include "launch/session.h"

namespace lathe::launch {

using rundir::State;

static constexpr int kTurnMilliseconds = 25;

ExitCode exitCodeOf(State state) {
    switch (state) {
        case State::Failed: return ExitCode::Failed;
        case State::Stopped: return ExitCode::Stopped;
        case State::Killed:
        case State::Interrupted:
        case State::Lost: return ExitCode::Interrupted;
        case State::Diverged: return ExitCode::Diverged;
        case State::OutOfMemory: return ExitCode::OutOfMemory;
        default: return ExitCode::Completed;
    }
}

Result<ExitCode> superviseSession(const SupervisorOptions& options, rundir::RunLock lock) {
    log::toFile(options.run.supervisorLog());
    Session session(options);
    const auto opened = session.open();
    if (!opened) {
        log::error(opened.error().text());
        session.close(&opened.error());
        return opened.error();
    }
    while (session.turn(kTurnMilliseconds)) {}
    const ExitCode code = session.close(nullptr);
    static_cast<void>(lock);  // held until here: whoever finds it free finds the exit record too
    return code;
}

}  // namespace lathe::launch
