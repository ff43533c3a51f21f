// The person's own command at the end of a run, window open or not. It stands in their settings and never in a run folder,
// which may come from elsewhere: $XDG_CONFIG_HOME/lathe/settings.yaml (else ~/.config/lathe/settings.yaml),
//   notify_command: /home/me/bin/tell-me --short
// read as words without a shell. It is given three more words, name, ending and folder of the run, and finds the same as
// LATHE_RUN_NAME, LATHE_RUN_ENDING and LATHE_RUN_FOLDER in its environment, with LATHE_RUN_WHY and LATHE_RUN_ID.
// Thread: the calling one.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace lathe::launch {

struct RunNotice {
    std::string id, name;
    std::string ending;               ///< word of the state
    std::string why;
    std::filesystem::path folder;
    std::filesystem::path log;        ///< what the command prints is appended here
};

std::filesystem::path userSettingsFile();
/// The command as it stands there; nothing where there is none. Refused (Permission) where somebody else could have written
/// the file.
Result<std::optional<std::string>> notifyCommand();
/// Whether it could be run: its words and its program are looked for, nothing is started.
Result<void> checkNotifyCommand();
/// Runs it and waits for it, at most kNotifySeconds; then it is ended. Nothing to do where there is none. Where it takes long
/// `tellWait` is given, once, what is waited for.
Result<void> notifyUser(const RunNotice& notice, const std::function<void(const std::string&)>& tellWait);
/// For whoever waits for the supervisor of a run that has ended: that it waits for this command. Empty where there is none.
std::string notificationNote();

inline constexpr int kNotifySeconds = 10, kNotifyQuietSeconds = 1;

}  // namespace lathe::launch
