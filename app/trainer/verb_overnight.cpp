// overnight: what becomes of runs while nobody is there.
#include "actions.h"

#include "launch/queue/overnight.h"
#include "launch/queue/queue_keeper.h"
#include "launch/session/notify.h"
#include "launch/session/sleep_inhibitor.h"
#include "output.h"

#include <nlohmann/json.hpp>

namespace lathe::trainer {

ExitCode overnight(const Options& options) {
    if (options.enable) {
        if (const auto enabled = launch::enableLinger(); !enabled) return fail(options, enabled.error());
    }
    const launch::LogoutOutlook logout = launch::outlookOf(launch::lookAtLogout());
    const auto command = launch::notifyCommand();
    std::string notice = "At its end nobody is told: notify_command in " + launch::userSettingsFile().string() + " names a program that does";
    if (const auto runs = launch::checkNotifyCommand(); !runs) notice = "At its end nobody is told: " + runs.error().text();
    else if (*command) notice = "At its end " + **command + " is run";
    const bool awake = launch::canStayAwake();
    const std::string sleep = awake ? "the machine does not go to sleep by itself while a run is up (run.keep_awake); closing a laptop's lid can still do it"
                                    : "the machine may go to sleep while a run is up: systemd-inhibit is not there or was refused, so switch its sleep off yourself where it has one";
    if (options.json) {
        printJson({{"survives_logout", logout.survives}, {"own_unit", logout.ownUnit}, {"logout", logout.sentence}, {"stays_awake", awake}, {"sleep", sleep},
                   {"notify_command", command && *command ? nlohmann::json(**command) : nlohmann::json()}, {"notification", notice}});
        return ExitCode::Completed;
    }
    print("Log-out: " + logout.sentence);
    print("Sleep: " + sleep);
    print("Memory: where it runs out, the system takes a worker before its supervisor, which tells why the run ended");
    print("Crash: a run goes on from its last good checkpoint, or begins again where it has none yet (run.restarts_per_hour)");
    const char* queue = launch::hasUserSystemd() ? "starts by itself" : "starts with lathe-trainer queue, since this user has no systemd here";
    print(std::string("Restart of the machine: it is told as interrupted, and continue goes on; what waits in the queue ") + queue);
    print("Notification: " + notice);
    return ExitCode::Completed;
}

}  // namespace lathe::trainer
