#include "launch/process/system_tool.h"

#include "launch/process/spawn_plan.h"

#include <array>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lathe::launch {

static constexpr int kPatienceMs = 5000;
static constexpr std::size_t kMost = 64u << 10;

/// Until its end or the deadline; whether it ended.
static bool readAll(int fd, std::string& text) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
    std::array<char, 4096> part{};
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
        pollfd what{fd, POLLIN, 0};
        if (left <= 0 || ::poll(&what, 1, static_cast<int>(left)) <= 0) return false;
        const ssize_t got = ::read(fd, part.data(), part.size());
        if (got <= 0) return got == 0;
        if (text.size() < kMost) text.append(part.data(), static_cast<std::size_t>(got));
    }
}

std::optional<std::string> outputOf(const std::vector<std::string>& words) {
    std::array<int, 2> pipe{-1, -1};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return std::nullopt;
    SpawnPlan plan;
    plan.open("/dev/null", O_RDONLY, 0);
    plan.place(pipe[1], 1);
    plan.open("/dev/null", O_WRONLY, 2);
    plan.closeFrom(3);
    std::vector<std::string> copies = words;
    std::vector<char*> argv;
    for (std::string& word : copies) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t child = -1;
    const bool started = ::posix_spawnp(&child, argv[0], &plan.actions, &plan.attributes, argv.data(), environ) == 0;
    ::close(pipe[1]);
    std::string text;
    const bool ended = started && readAll(pipe[0], text);
    ::close(pipe[0]);
    if (!started) return std::nullopt;
    if (!ended) ::kill(child, SIGKILL);   // not collected yet, so it is nobody else
    int status = -1;
    if (::waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

}  // namespace lathe::launch
