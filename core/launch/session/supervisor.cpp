#include "launch/session/supervisor.h"

#include "base/log.h"
#include "launch/queue/queue_keeper.h"
#include "launch/session/session.h"

#include <csignal>

namespace lathe::launch {

static constexpr int kTurnMilliseconds = 25;

static sigset_t stopSignals() {
    sigset_t stops;
    ::sigemptyset(&stops);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&stops, number);
    return stops;
}

void holdStopSignals() {
    const sigset_t stops = stopSignals();
    ::pthread_sigmask(SIG_BLOCK, &stops, nullptr);
}

void releaseStopSignals() {
    const sigset_t stops = stopSignals();
    ::pthread_sigmask(SIG_UNBLOCK, &stops, nullptr);
}

ExitCode superviseSession(SupervisorOptions current, rundir::RunLock lock) {
    ExitCode code = ExitCode::Failed;
    do {
        Session session(current);
        log::toFile(session.run().supervisorLog());
        const auto opened = session.open();
        if (!opened) log::error(opened.error().text());
        while (opened && session.turn(kTurnMilliseconds)) {}
        code = session.close(opened ? nullptr : &opened.error());
        current.byItself = session.next();
        current.session = current.byItself ? current.byItself->session : 0;
        current.crashes = session.crashes();
        current.readyFd = -1;
        current.notice = current.byItself ? current.byItself->notice : std::string();
    } while (current.byItself);
    { const rundir::RunLock letGo = std::move(lock); }  // held until here: whoever finds it free finds the exit record too
    // Whatever became of the keeper: the end of a run wakes the queue that waits for its device. A keeper must not inherit it.
    current.devices.reset();
    if (const auto kept = startKeeper(Queue::ofThisUser()); !kept) log::warning(kept.error().text());
    return code;
}

}  // namespace lathe::launch
