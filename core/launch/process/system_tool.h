// Asking a program of the system (systemctl, loginctl, busctl) for a short answer.
// Thread: any.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lathe::launch {

/// What it prints (the first 64 KiB), without the last line's end; nothing where it is not there, fails, or takes more than
/// five seconds. Searched for in PATH; standard error goes nowhere.
std::optional<std::string> outputOf(const std::vector<std::string>& words);

}  // namespace lathe::launch
