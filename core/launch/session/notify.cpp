#include "launch/session/notify.h"

#include "base/file_system.h"
#include "config/command_text.h"
#include "config/yaml_tree.h"
#include "launch/command/command_facts.h"
#include "launch/process/child_process.h"
#include "launch/run/session_end.h"

#include <csignal>
#include <cstdlib>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace lathe::launch {

std::filesystem::path userSettingsFile() {
    const char* chosen = std::getenv("XDG_CONFIG_HOME");
    const char* home = std::getenv("HOME");
    if (chosen != nullptr && *chosen == '/') return std::filesystem::path(chosen) / "lathe/settings.yaml";
    return home != nullptr && *home == '/' ? std::filesystem::path(home) / ".config/lathe/settings.yaml" : std::filesystem::path();
}

static Error about(const std::filesystem::path& file, const std::string& problem, ErrorCode code = ErrorCode::Config) {
    return {code, file.string() + " " + problem, "notify_command", {}};
}

Result<std::optional<std::string>> notifyCommand() {
    const auto file = userSettingsFile();
    struct stat info {};
    if (file.empty() || ::stat(file.c_str(), &info) != 0) return std::optional<std::string>();
    constexpr mode_t kOthers = S_IWGRP | S_IWOTH;
    if (info.st_uid != ::geteuid() || (info.st_mode & kOthers) != 0)
        return about(file, "can be written by others, so what it names is not run; chmod go-w it", ErrorCode::Permission);
    LATHE_TRY_ASSIGN(const std::string text, readFile(file, config::kMaxYamlBytes));
    auto tree = config::readYaml(text);
    if (!tree) return about(file, "cannot be read: " + tree.error().sentence);
    if (tree->kind == config::YamlNode::Kind::Null) return std::optional<std::string>();
    for (const config::YamlEntry& entry : tree->entries)
        if (entry.key != "notify_command") return about(file, "has the unknown key \"" + entry.key + "\"; it may have notify_command");
    const config::YamlNode* command = tree->find("notify_command");
    if (tree->kind != config::YamlNode::Kind::Map || (command != nullptr && command->kind != config::YamlNode::Kind::Scalar))
        return about(file, "must say notify_command: COMMAND");
    if (command == nullptr || command->text.empty()) return std::optional<std::string>();
    return std::optional<std::string>(command->text);
}

static Result<ChildCommand> orderFor(const std::string& line, const RunNotice& notice) {
    LATHE_TRY_ASSIGN(const config::CommandWords words, config::splitCommand(line));
    const char* home = std::getenv("HOME");
    ChildCommand order;
    LATHE_TRY_ASSIGN(order.program, findProgram(words, home != nullptr ? home : "/"));
    order.name = words.words.front();
    order.arguments.assign(words.words.begin() + 1, words.words.end());
    order.arguments.insert(order.arguments.end(), {notice.name, notice.ending, notice.folder.string()});
    order.log = notice.log;
    order.environment = words.variables;
    for (const auto& [name, value] : {std::pair("NAME", notice.name), std::pair("ENDING", notice.ending), std::pair("FOLDER", notice.folder.string()), std::pair("WHY", notice.why),
                                      std::pair("ID", notice.id)})
        order.environment.push_back("LATHE_RUN_" + std::string(name) + "=" + value);
    return order;
}

Result<void> checkNotifyCommand() {
    LATHE_TRY_ASSIGN(const std::optional<std::string> line, notifyCommand());
    if (line) LATHE_TRY(orderFor(*line, {}));
    return {};
}

static std::string waitText(const std::string& line) { return "The run has ended; waits for notify_command (" + line + "), at most " + std::to_string(kNotifySeconds) + " s"; }

std::string notificationNote() {
    const auto line = notifyCommand();
    return line && *line ? waitText(**line) : std::string();
}

Result<void> notifyUser(const RunNotice& notice, const std::function<void(const std::string&)>& tellWait) {
    LATHE_TRY_ASSIGN(const std::optional<std::string> line, notifyCommand());
    if (!line) return {};
    LATHE_TRY_ASSIGN(const ChildCommand order, orderFor(*line, notice));
    LATHE_TRY_ASSIGN(ChildProcess child, ChildProcess::start(order, {}));
    pollfd end{child.pollFd(), POLLIN, 0};
    if (::poll(&end, 1, kNotifyQuietSeconds * 1000) == 0) {
        tellWait(waitText(*line));
        ::poll(&end, 1, (kNotifySeconds - kNotifyQuietSeconds) * 1000);
    }
    const auto status = child.poll();
    if (!status) return Error{ErrorCode::Timeout, *line + " did not end within " + std::to_string(kNotifySeconds) + " s and was ended", "notify_command", {}};   // by its destructor
    if (status->code == 0) return {};
    const std::string how = status->signal ? "was ended by signal " + signalText(*status->signal) : "ended with exit code " + std::to_string(status->code.value_or(-1));
    const std::string tail = logTail(notice.log, 1);
    return Error{ErrorCode::Io, *line + " " + how + (tail.empty() ? "" : ": " + tail), "notify_command", {}};
}

}  // namespace lathe::launch
