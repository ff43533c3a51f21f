// What a person's command means on this machine now: which file is executed, and what is worth remembering of the
// surroundings that its results may depend on.
// Thread: functions without shared state.
#pragma once

#include "base/result.h"
#include "config/command_text.h"
#include "config/sections.h"

#include <filesystem>
#include <map>
#include <string>

namespace lathe::launch {

/// Looked up as a shell does: with a slash it is a path (relative to the working folder), else it is searched for in the
/// PATH that the command is given. The error (Config) names the key.
Result<std::filesystem::path> findProgram(const config::CommandWords& command, const std::filesystem::path& folder);
/// Whether the command could be started: its line, its working folder, its program.
Result<void> checkCommand(const config::CommandSection& command);

/// Those variables of this process that results often depend on. Only variables of a fixed list are kept (command_facts.cpp):
/// an environment holds secrets.
std::map<std::string, std::string> keptEnvironment();
/// Makes this process's variables of that list what they were there; those that are not in `kept` are unset.
void takeEnvironment(const std::map<std::string, std::string>& kept);

/// For the record of the session: the program's file, the state of the git repository that the working folder lies in
/// (git.commit, git.branch, git.dirty), and keptEnvironment(). The command itself gets all variables.
std::map<std::string, std::string> surroundingsOf(const config::CommandWords& command, const std::filesystem::path& folder,
                                                  const std::filesystem::path& program);

}  // namespace lathe::launch
