#include "launch/queue/overnight.h"

#include "launch/process/system_tool.h"

#include <unistd.h>
#include <vector>

namespace lathe::launch {

LogoutFacts lookAtLogout() {
    LogoutFacts facts;
    const auto ends = outputOf({"busctl", "get-property", "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "KillUserProcesses"});
    facts.hasLogind = ends.has_value();
    if (ends == "b true") facts.endsProcesses = true;
    if (ends == "b false") facts.endsProcesses = false;
    if (!facts.hasLogind) return facts;
    facts.lingers = outputOf({"loginctl", "show-user", std::to_string(::getuid()), "--property=Linger", "--value"}) == "yes";
    facts.hasManager = outputOf({"systemctl", "--user", "show-environment"}).has_value();
    return facts;
}

LogoutOutlook outlookOf(const LogoutFacts& facts) {
    if (!facts.hasLogind) return {true, false, "No logind answers on this machine, so nothing ends a run in the background when you log out"};
    if (facts.lingers && facts.hasManager) return {true, true, "A run in the background has a unit of its own and goes on when you log out (lingering is on)"};
    if (facts.endsProcesses == false) return {true, false, "This system leaves a run in the background alone when you log out (KillUserProcesses=no)"};
    if (facts.lingers)
        return {false, false, "Lingering is on, but your own systemd does not answer here (after su or sudo it does not): a run started from here may end when you log out"};
    const std::string what = facts.endsProcesses ? "This system ends a run in the background when you log out (KillUserProcesses=yes)"
                                                 : "Whether a run in the background goes on when you log out cannot be told here";
    return {false, false, what + "; lathe-trainer overnight --enable lets it go on. Locking the screen does no harm"};
}

bool enterOwnUnit(const std::string& runId, const std::string& runName) {
    const std::vector<std::string> call = {"busctl", "--user", "call", "org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
                                           "StartTransientUnit", "ssa(sv)a(sa(sv))", "lathe-" + runId + ".scope", "fail"};
    const std::vector<std::string> properties = {"PIDs", "au", "1", std::to_string(::getpid()), "Description", "s", "Lathe run " + runName, "CollectMode", "s", "inactive-or-failed"};
    // Before systemd 253 a scope has no such policy, and goes on.
    for (const bool hasPolicy : {true, false}) {
        std::vector<std::string> words = call;
        words.push_back(hasPolicy ? "4" : "3");
        words.insert(words.end(), properties.begin(), properties.end());
        if (hasPolicy) words.insert(words.end(), {"OOMPolicy", "s", "continue"});
        words.emplace_back("0");
        if (outputOf(words)) return true;
    }
    return false;
}

Result<void> enableLinger() {
    if (outputOf({"loginctl", "enable-linger"})) return {};
    return Error{ErrorCode::Permission, "loginctl enable-linger was refused or is not there; as an administrator: loginctl enable-linger " + std::to_string(::getuid()), {}, {}};
}

}  // namespace lathe::launch
