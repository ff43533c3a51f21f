#include "launch/workers/worker_answer.h"

#include "base/exit_code.h"
#include "base/file_system.h"
#include "base/number_text.h"
#include "base/program_paths.h"
#include "config/config.h"
#include "config/plugin_list.h"
#include "plan/schedule.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace lathe::launch {

using nlohmann::json;

static constexpr std::uint64_t kMaxAnswerBytes = 64u << 20;
/// For answers that need no data: loading LibTorch and plug-ins is all they take.
static constexpr std::chrono::seconds kPatience{30};

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

/// The wait status, or nothing where it took too long and was killed.
static std::optional<int> statusOf(pid_t pid, std::optional<std::chrono::seconds> patience) {
    bool late = false;
    if (const int pidfd = patience ? static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)) : -1; pidfd >= 0) {
        const auto until = std::chrono::steady_clock::now() + *patience;
        const auto left = [&] { return std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count(); };
        struct pollfd wait {pidfd, POLLIN, 0};
        int ready = 0;
        while ((ready = ::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(0, left())))) < 0 && errno == EINTR) {}
        late = ready == 0;
        if (late) ::kill(pid, SIGKILL);
        ::close(pidfd);
    }
    int status = -1;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    return late ? std::nullopt : std::optional(status);
}

Result<json> askWorker(const std::vector<std::string>& words, std::optional<std::chrono::seconds> patience) {
    const auto program = siblingProgram("lathe-worker");
    if (std::error_code ignored; !std::filesystem::exists(program, ignored)) return fileError("start", program.native(), ENOENT);
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
    const std::optional<int> ended = statusOf(pid, patience);
    if (!ended) return Error{ErrorCode::Timeout, "lathe-worker " + words.front() + " gave no answer within " + std::to_string(patience->count()) + " s: the data take long to open, or a plug-in hangs", {}, {}};
    const int status = *ended;
    json answer = json::parse(out.content(), nullptr, false);
    if (status == 0 && answer.is_object()) return answer;
    if (WIFSIGNALED(status))
        return Error{ErrorCode::Unsupported, "lathe-worker " + words.front() + " crashed and gave no answer (signal " + std::to_string(WTERMSIG(status)) + "); a plug-in may be at fault", {}, {}};
    const bool config = WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(ExitCode::Usage);
    std::string said = err.content();
    if (said.empty()) said = "lathe-worker " + words.front() + " gave no answer";
    return Error{config ? ErrorCode::Config : ErrorCode::Internal, said.substr(0, 2000), {}, {}};
}

Result<json> describeSession(const config::RunConfig& config, const SessionStart& start, std::chrono::seconds patience) {
    LATHE_TRY_ASSIGN(const TextInMemory file, TextInMemory::make(config::toYaml(config)));
    std::vector<std::string> words{"describe", "--config", file.path()};
    if (!start.checkpoint.empty()) words.insert(words.end(), {"--checkpoint", start.checkpoint.string()});
    if (start.weightsOnly) words.push_back("--weights-only");
    if (start.newCurve) words.push_back("--new-curve");
    LATHE_TRY_ASSIGN(json answer, askWorker(words, patience));
    const json refused = answer.value("refused", json());
    if (refused.is_object()) return Error{ErrorCode::Config, refused.value("sentence", std::string()), refused.value("key", std::string()), {}};
    return answer;
}

std::chrono::seconds refusalPatience() {
    const char* shorter = std::getenv("LATHE_REFUSAL_SECONDS");
    const auto seconds = shorter ? readInteger(shorter) : std::nullopt;
    return seconds && *seconds > 0 ? std::min(kPatience, std::chrono::seconds(*seconds)) : kPatience;
}

Result<void> refuseBadStart(const config::RunConfig& config, const SessionStart& start) {
    if (std::error_code ignored; !std::filesystem::exists(siblingProgram("lathe-worker"), ignored)) return {};
    const auto answer = describeSession(config, start);
    if (answer || (answer.error().code != ErrorCode::Config && answer.error().code != ErrorCode::Unsupported)) return {};
    return answer.error();
}

Result<std::vector<double>> factorsAt(const config::RunConfig& config, const config::ScheduleSection& schedule, const std::vector<std::int64_t>& steps) {
    std::vector<double> factors;
    if (config::pluginOf(schedule.name).empty()) {
        for (const std::int64_t step : steps) factors.push_back(plan::factorAt(schedule, GlobalStep(step)));
        return factors;
    }
    config::RunConfig asked = config;
    asked.schedule = schedule;
    LATHE_TRY_ASSIGN(const TextInMemory file, TextInMemory::make(config::toYaml(asked)));
    std::vector<std::string> words{"curve", "--config", file.path()};
    for (const std::int64_t step : steps) words.push_back(std::to_string(step));
    LATHE_TRY_ASSIGN(const json answer, askWorker(words, kPatience));
    for (const json& factor : answer.value("factors", json::array()))
        if (factor.is_number()) factors.push_back(factor.get<double>());
    if (factors.size() == steps.size()) return factors;
    return Error{ErrorCode::Internal, "lathe-worker told " + std::to_string(factors.size()) + " of " + std::to_string(steps.size()) + " learning rates", {}, {}};
}

static bool usesPluginIn(const config::RunConfig& config) {
    const auto names = {config.accumulation.rule, config.parallel.strategy, config.precision.mode, config.schedule.name};
    return std::any_of(names.begin(), names.end(), [](const std::string& name) { return !config::pluginOf(name).empty(); });
}

Result<std::vector<plan::UpdateEvent>> explainUpdate(const config::RunConfig& config) {
    if (!usesPluginIn(config)) return plan::explainUpdate(config);
    LATHE_TRY_ASSIGN(const TextInMemory file, TextInMemory::make(config::toYaml(config)));
    LATHE_TRY_ASSIGN(const json answer, askWorker({"explain", "--config", file.path()}, kPatience));
    std::vector<plan::UpdateEvent> events;
    for (const json& event : answer.value("update", json::array())) events.push_back({event.value("event", std::string()), event.value("detail", std::string())});
    return events;
}

}  // namespace lathe::launch
