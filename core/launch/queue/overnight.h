// What becomes of runs in the background when their user logs out. Where lingering is on (loginctl enable-linger), a run gets
// a unit of its own among the user's (a scope around its supervisor, which keeps environment and locks; OOMPolicy=continue), and
// neither log-out nor the end of one process of it takes the rest. Where it is off and the system leaves processes of closed
// sessions alone, staying in the session is what survives: the user's units end with the last session.
// Thread: the calling one.
#pragma once

#include "base/result.h"

#include <optional>
#include <string>

namespace lathe::launch {

struct LogoutFacts {
    bool hasLogind = false;
    bool hasManager = false;               ///< the user's own systemd answers
    std::optional<bool> endsProcesses;     ///< KillUserProcesses of logind
    bool lingers = false;
};
LogoutFacts lookAtLogout();

struct LogoutOutlook {
    bool survives = true;
    bool ownUnit = false;                  ///< in a unit of its own
    std::string sentence;
};
LogoutOutlook outlookOf(const LogoutFacts& facts);

/// Moves this process, and what it starts from here on, into a unit of its own: "lathe-<run id>.scope". False where that is refused.
bool enterOwnUnit(const std::string& runId, const std::string& runName);
/// Asks the system to keep this user's units when nobody is logged in. The error says what an administrator can do.
Result<void> enableLinger();

}  // namespace lathe::launch
