#include "launch/drill/drill_cast.h"

#include "base/file_system.h"
#include "base/program_paths.h"

#include <csignal>
#include <ctime>
#include <thread>
#include <utility>

namespace lathe::launch {

bool StopWatch::sleep(std::chrono::duration<double> time) {
    sigset_t stops;
    ::sigemptyset(&stops);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&stops, number);
    const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
    const timespec wait{static_cast<std::time_t>(nanoseconds / 1'000'000'000), static_cast<long>(nanoseconds % 1'000'000'000)};
    if (!m_stopped && ::sigtimedwait(&stops, nullptr, &wait) > 0) m_stopped = true;
    return !m_stopped;
}

static std::filesystem::path trainer() { return programFolder() / "lathe-trainer"; }

/// The folder's name is random: nobody else has it.
DrillCast::DrillCast(std::filesystem::path workspace) : m_workspace(std::move(workspace)), m_mark("LATHE_DRILL=" + m_workspace.filename().string()) {}

DrillCast::~DrillCast() { static_cast<void>(endAll()); }

Result<ChildProcess> DrillCast::start(const std::filesystem::path& program, std::vector<std::string> words, std::vector<std::string> environment) const {
    words.insert(words.end(), {"--workspace", m_workspace.string()});
    environment.push_back(m_mark);
    environment.push_back("XDG_CONFIG_HOME=" + (m_workspace / "config").string());  // the person's notify_command is not for this
    return ChildProcess::start({program, {}, std::move(words), log(), {}, std::move(environment)}, {});
}

Result<void> DrillCast::startCommand(std::vector<std::string> words) {
    m_command.reset();
    LATHE_TRY_ASSIGN(ChildProcess started, start(trainer(), std::move(words)));
    m_command.emplace(std::move(started));
    return {};
}

std::optional<ExitStatus> DrillCast::commandEnd() { return m_command ? m_command->poll() : std::optional<ExitStatus>(ExitStatus{}); }

void DrillCast::startWatchers(const std::string& run) {
    const std::vector<std::string> unseen = {"QT_QPA_PLATFORM=offscreen", "LATHE_SETTINGS=" + (m_workspace / "window.ini").string(),
                                             "DBUS_SESSION_BUS_ADDRESS=disabled:"};  // nothing of the drill on the person's desktop
    std::error_code ignored;
    const bool hasWindow = std::filesystem::exists(siblingProgram("lathe"), ignored);
    for (const char* part : {"reader", "window"}) {
        const bool isWindow = std::string_view(part) == "window";
        const auto now = m_watchers.find(part);
        if ((isWindow && !hasWindow) || (now != m_watchers.end() && !now->second.poll())) continue;
        if (now != m_watchers.end()) m_watchers.erase(now);
        auto started = isWindow ? start(siblingProgram("lathe"), {run}, unseen) : start(trainer(), {"attach", run, "--json"});
        if (started) m_watchers.emplace(part, std::move(*started));
    }
}

static std::string verbOf(const TreeProcess& process) {
    const auto words = readFile("/proc/" + std::to_string(process.pid) + "/cmdline", 1u << 20);
    const std::size_t second = words ? words->find('\0') : std::string::npos;
    return second == std::string::npos ? std::string() : std::string(words->c_str() + second + 1);
}

/// A supervisor in the background is a fork of the command, and has its words.
static bool isSupervisor(const TreeProcess& process) {
    if (process.name != "lathe-trainer") return false;
    const std::string verb = verbOf(process);
    return verb == "run" || verb == "continue";
}

/// One that is only asked what would be is the command's affair.
static bool isWorker(const TreeProcess& process) { return process.name == "lathe-worker" && verbOf(process) == "train"; }

std::map<std::string, std::vector<TreeProcess>> DrillCast::onStage() const {
    std::map<std::string, std::vector<TreeProcess>> parts;
    for (TreeProcess& process : processesWith(m_mark, OwnProgram::Included)) {
        std::string part = isSupervisor(process) ? "supervisor" : isWorker(process) ? "worker" : kNobody;
        if (m_command && m_command->identity().pid == process.pid) part = "command";
        for (const auto& [watcher, child] : m_watchers)
            if (child.identity().pid == process.pid) part = watcher;
        parts[part].push_back(std::move(process));
    }
    return parts;
}

bool DrillCast::endAll() {
    m_command.reset();
    m_watchers.clear();
    for (int tries = 0; tries < 500; ++tries) {
        const auto left = processesWith(m_mark, OwnProgram::Included);
        if (left.empty()) return true;
        signalAll(left, SIGKILL);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

}  // namespace lathe::launch
