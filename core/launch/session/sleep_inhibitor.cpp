#include "launch/session/sleep_inhibitor.h"

#include "base/log.h"
#include "launch/process/spawn_plan.h"
#include "launch/process/system_tool.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace lathe::launch {

bool canStayAwake() { return outputOf({"systemd-inhibit", "--what=sleep", "--who=Lathe", "--why=To see whether it can", "--mode=block", "true"}).has_value(); }

static void tellAwake(const std::string& why) { log::warning("The machine may go to sleep while this run is up: " + why); }

void SleepInhibitor::hold(const std::string& why) {
    std::array<int, 2> lifeline{-1, -1};
    if (::pipe2(lifeline.data(), O_CLOEXEC) != 0) return tellAwake(std::strerror(errno));
    SpawnPlan plan;
    plan.place(lifeline[0], 0);
    plan.open("/dev/null", O_WRONLY, 1);
    plan.open("/dev/null", O_WRONLY, 2);
    plan.closeFrom(3);
    std::array<std::string, 6> words = {"systemd-inhibit", "--what=sleep", "--who=Lathe", "--why=" + why, "--mode=block", "cat"};
    std::array<char*, words.size() + 1> argv{};
    for (std::size_t i = 0; i < words.size(); ++i) argv[i] = words[i].data();
    const int problem = ::posix_spawnp(&m_pid, words[0].c_str(), &plan.actions, &plan.attributes, argv.data(), environ);
    ::close(lifeline[0]);
    m_pipe = lifeline[1];
    if (problem == 0) return;
    m_pid = -1;
    tellAwake("systemd-inhibit cannot be started (" + std::string(std::strerror(problem)) + ")");
}

void SleepInhibitor::look() {
    int status = 0;
    if (m_pid < 0 || ::waitpid(m_pid, &status, WNOHANG) == 0) return;
    m_pid = -1;
    tellAwake("systemd-inhibit ended" + (WIFEXITED(status) ? " with code " + std::to_string(WEXITSTATUS(status)) : std::string()));
}

SleepInhibitor::~SleepInhibitor() {
    if (m_pipe >= 0) ::close(m_pipe);
    if (m_pid < 0) return;
    ::kill(m_pid, SIGTERM);  // not yet waited for, so the pid cannot mean anybody else
    ::waitpid(m_pid, nullptr, 0);
}

}  // namespace lathe::launch
