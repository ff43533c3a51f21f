#include "launch/supervisor.h"

#include "base/log.h"
#include "launch/session.h"

namespace lathe::launch {

static constexpr int kTurnMilliseconds = 25;

ExitCode superviseSession(const SupervisorOptions& options, rundir::RunLock lock) {
    Session session(options);
    log::toFile(session.run().supervisorLog());
    const auto opened = session.open();
    if (!opened) log::error(opened.error().text());
    while (opened && session.turn(kTurnMilliseconds)) {}
    const ExitCode code = session.close(opened ? nullptr : &opened.error());
    static_cast<void>(lock);  // held until here: whoever finds it free finds the exit record too
    return code;
}

}  // namespace lathe::launch
