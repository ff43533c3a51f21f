#include "launch/supervisor.h"

#include "base/log.h"
#include "launch/session.h"

namespace lathe::launch {

static constexpr int kTurnMilliseconds = 25;

ExitCode superviseSession(const SupervisorOptions& options, rundir::RunLock lock) {
    SupervisorOptions current = options;
    ExitCode code = ExitCode::Failed;
    while (current.session > 0) {
        Session session(current);
        log::toFile(session.run().supervisorLog());
        const auto opened = session.open();
        if (!opened) log::error(opened.error().text());
        while (opened && session.turn(kTurnMilliseconds)) {}
        code = session.close(opened ? nullptr : &opened.error());
        current.session = session.next();
        current.wentBack = session.isRestart() ? std::string() : session.whyNext();
        current.restarted = session.isRestart() ? session.whyNext() : std::string();
        current.crashes = session.crashes();
        current.readyFd = -1;
        current.notice.clear();
    }
    static_cast<void>(lock);  // held until here: whoever finds it free finds the exit record too
    return code;
}

}  // namespace lathe::launch
