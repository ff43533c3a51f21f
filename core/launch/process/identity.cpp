#include "launch/process/identity.h"

#include "base/file_system.h"
#include "base/number_text.h"

#include <algorithm>
#include <array>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace lathe::launch {

namespace stdfs = std::filesystem;

std::string hostName() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
    return name.data();
}

std::string bootId() {
    auto text = readFile("/proc/sys/kernel/random/boot_id", 100);
    std::string id = text ? *text : std::string("unknown");
    while (!id.empty() && id.back() == '\n') id.pop_back();
    return id;
}

std::string ownerVariable(const rundir::RunFolder& run) { return "LATHE_SOCKET=" + rundir::RunFolder(run.place()).producerSocket().string(); }

std::optional<ProcessFacts> factsOf(std::int64_t pid) {
    const auto text = readFile("/proc/" + std::to_string(pid) + "/stat", 4096);
    if (!text) return std::nullopt;
    // Field 2 is the program's name in parentheses and may hold anything: count from its end.
    const std::size_t open = text->find('('), close = text->rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
    ProcessFacts facts;
    facts.name = text->substr(open + 1, close - open - 1);
    std::size_t place = close + 1;
    for (int field = 3; field <= 22; ++field) {
        const std::size_t begin = text->find_first_not_of(' ', place);
        if (begin == std::string::npos) return std::nullopt;
        place = std::min(text->find(' ', begin), text->size());
        const std::string_view word = std::string_view(*text).substr(begin, place - begin);
        if (field == 3) facts.state = word.front();
        if (field != 4 && field != 22) continue;
        const auto value = readInteger(word);
        if (!value || *value < 0) return std::nullopt;
        if (field == 4) facts.parent = *value;
        else facts.startTime = static_cast<std::uint64_t>(*value);
    }
    return facts;
}

std::optional<std::uint64_t> startTimeOf(std::int64_t pid) {
    const auto facts = factsOf(pid);
    return facts ? std::optional(facts->startTime) : std::nullopt;
}

std::optional<rundir::ProcessIdentity> identityOf(std::int64_t pid, const std::string& token) {
    const auto start = startTimeOf(pid);
    if (!start) return std::nullopt;
    return rundir::ProcessIdentity{hostName(), bootId(), pid, *start, token};
}

bool isTaken(std::int64_t pid) {
    const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
    if (pidfd < 0) return false;
    struct pollfd wait {pidfd, POLLIN, 0};
    const bool ended = ::poll(&wait, 1, 0) > 0;
    ::close(pidfd);
    return !ended;
}

std::optional<VerifiedProcess> VerifiedProcess::find(const rundir::ProcessIdentity& who) {
    if (who.host != hostName() || who.bootId != bootId() || who.pid <= 1 || who.pid > 0x7fffffff) return std::nullopt;
    const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(who.pid), 0));
    if (pidfd < 0) return std::nullopt;
    VerifiedProcess found(pidfd, who.pid);
    // Asked after the pidfd is open: what it holds now is what the pid means from here on.
    if (startTimeOf(who.pid) != who.startTime || !found.isAlive()) return std::nullopt;
    return std::optional<VerifiedProcess>(std::move(found));
}

VerifiedProcess::VerifiedProcess(VerifiedProcess&& other) noexcept : m_pidfd(std::exchange(other.m_pidfd, -1)), m_pid(other.m_pid) {}

VerifiedProcess::~VerifiedProcess() {
    if (m_pidfd >= 0) ::close(m_pidfd);
}

bool VerifiedProcess::isAlive() const {
    struct pollfd wait {m_pidfd, POLLIN, 0};
    return ::poll(&wait, 1, 0) == 0;
}

bool VerifiedProcess::signal(int number) const {
    return ::syscall(SYS_pidfd_send_signal, m_pidfd, number, nullptr, 0) == 0;
}

bool VerifiedProcess::isStopped() const {
    const auto facts = factsOf(m_pid);
    return facts && isAlive() && (facts->state == 'T' || facts->state == 't');   // alive: the pid still means the same one
}

std::string stoppedNote(const rundir::ProcessIdentity& who) {
    const auto process = VerifiedProcess::find(who);
    const std::string pid = std::to_string(who.pid);
    return process && process->isStopped() ? "process " + pid + " is stopped (Ctrl-Z or SIGSTOP); kill -CONT " + pid + " lets it go on" : std::string();
}

bool VerifiedProcess::hasOpen(const stdfs::path& file) const {
    struct stat wanted {};
    if (::stat(file.c_str(), &wanted) != 0) return false;
    const stdfs::path folder = "/proc/" + std::to_string(m_pid) + "/fd";
    const auto names = listFolder(folder);
    if (!names) return false;
    for (const std::string& name : *names) {
        struct stat info {};
        if (::stat((folder / name).c_str(), &info) == 0 && info.st_dev == wanted.st_dev && info.st_ino == wanted.st_ino) return true;
    }
    return false;
}

}  // namespace lathe::launch
