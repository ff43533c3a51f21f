#include "worker_answer.h"

#include "base/exit_code.h"
#include "base/file_system.h"
#include "base/program_paths.h"
#include "config/config.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace lathe::trainer {

using nlohmann::json;

static constexpr std::uint64_t kMaxAnswerBytes = 64u << 20;

Result<TextInMemory> TextInMemory::make(const std::string& text) {
    const int fd = ::memfd_create("lathe-text", MFD_CLOEXEC);
    if (fd < 0) return fileError("make", "a file in memory", errno);
    TextInMemory out(fd);
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t got = ::write(fd, text.data() + done, text.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fileError("write", "a file in memory", errno);
        done += static_cast<std::size_t>(got);
    }
    return out;
}

TextInMemory::TextInMemory(TextInMemory&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}

TextInMemory::~TextInMemory() {
    if (m_fd >= 0) ::close(m_fd);
}

std::string TextInMemory::path() const { return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(m_fd); }

std::string TextInMemory::content() const {
    auto text = readFile(path(), kMaxAnswerBytes);
    std::string out = text ? std::move(*text) : std::string();
    while (!out.empty() && out.back() == '\n') out.pop_back();
    return out;
}

Result<json> askWorker(const std::vector<std::string>& words) {
    const auto program = siblingProgram("lathe-worker");
    LATHE_TRY_ASSIGN(const TextInMemory out, TextInMemory::make({}));
    LATHE_TRY_ASSIGN(const TextInMemory err, TextInMemory::make({}));
    std::vector<std::string> command = {program.string()};
    command.insert(command.end(), words.begin(), words.end());
    std::vector<char*> argv;
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, out.fd(), 1);
    ::posix_spawn_file_actions_adddup2(&actions, err.fd(), 2);
    pid_t pid = 0;
    const int problem = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (problem != 0) return fileError("start", program.native(), problem);
    int status = -1;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    json answer = json::parse(out.content(), nullptr, false);
    if (status == 0 && answer.is_object()) return answer;
    const bool config = WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(ExitCode::Usage);
    std::string said = err.content();
    if (said.empty()) said = "lathe-worker " + words.front() + " gave no answer";
    return Error{config ? ErrorCode::Config : ErrorCode::Internal, said.substr(0, 2000), {}, {}};
}

Result<json> describeConfig(const config::RunConfig& config) {
    LATHE_TRY_ASSIGN(const TextInMemory file, TextInMemory::make(config::toYaml(config)));
    return askWorker({"describe", "--config", file.path()});
}

}  // namespace lathe::trainer
