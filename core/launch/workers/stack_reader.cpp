#include "launch/workers/stack_reader.h"

#include "base/file_system.h"
#include "base/hash.h"
#include "device/proc.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cxxabi.h>
#include <fcntl.h>
#include <memory>
#include <span>
#include <sstream>
#include <unistd.h>

namespace lathe::launch {
namespace {

constexpr std::int64_t kPatienceNs = 1'000'000'000;
constexpr std::size_t kMostBytes = 64u << 10, kMostNameBytes = 160;

std::string procFile(std::int64_t pid, const char* name) { return device::procText("/", "proc/" + std::to_string(pid) + "/" + name); }

std::string lineAfter(const std::string& text, const std::string& label) {
    const std::size_t at = text.find(label);
    if (at == std::string::npos) return {};
    const std::size_t begin = text.find_first_not_of(" \t", at + label.size());
    return begin == std::string::npos ? std::string() : text.substr(begin, text.find('\n', begin) - begin);
}

/// Whether the process has a handler for it (SigCgt of its status).
bool catches(const std::string& status, int signal) {
    const std::string mask = lineAfter(status, "SigCgt:");
    return mask.size() > 0 && ((std::strtoull(mask.c_str(), nullptr, 16) >> (signal - 1)) & 1) != 0;
}

std::string demangled(const std::string& name) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    std::string out = status == 0 && text ? text.get() : name;
    if (out.size() > kMostNameBytes) out = out.substr(0, kMostNameBytes) + "…";
    return out;
}

std::string tailFrom(const std::filesystem::path& file, std::uintmax_t from) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return {};
    std::string text(kMostBytes, '\0');
    const ssize_t got = ::pread(fd, text.data(), text.size(), static_cast<off_t>(from));
    ::close(fd);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
}

}  // namespace

std::string frameText(const std::string& line) {
    const std::size_t open = line.find('('), close = line.find(')', open == std::string::npos ? 0 : open), slash = line.rfind('/', open == std::string::npos ? line.size() : open);
    const std::string module = line.substr(slash == std::string::npos ? 0 : slash + 1, open == std::string::npos ? std::string::npos : open - (slash == std::string::npos ? 0 : slash + 1));
    if (open == std::string::npos || close == std::string::npos) return line.substr(0, line.find(" [0x"));
    const std::string inside = line.substr(open + 1, close - open - 1);
    const std::size_t plus = inside.rfind('+');
    const std::string name = inside.substr(0, plus);
    return (name.empty() ? inside : demangled(name)) + " (" + module + ")";
}

std::string RankStack::digest() const {
    std::string all;
    for (const std::string& frame : frames) all += frame + "\n";
    return all.empty() ? all : hashHex(std::as_bytes(std::span(all)));
}

StackReader::StackReader(const rundir::RunFolder& run, const std::vector<ChildProcess>& workers, std::int64_t nowNs) : m_untilNs(nowNs + kPatienceNs) {
    for (std::size_t rank = 0; rank < workers.size(); ++rank) {
        RankStack stack{.rank = static_cast<int>(rank), .frames = {}, .note = {}};
        const std::int64_t pid = workers[rank].identity().pid;
        const std::string status = procFile(pid, "status"), state = lineAfter(status, "State:");
        std::error_code problem;
        const std::filesystem::path log = run.rankLog(static_cast<int>(rank));
        const std::uintmax_t bytes = std::filesystem::file_size(log, problem);
        stack.note = state.empty() ? "the process has ended" : "process " + std::to_string(pid) + " is " + state;
        if (const std::string place = procFile(pid, "wchan"); !place.empty() && place != "0") stack.note += ", in the kernel at " + place;
        stack.isStopped = state.starts_with("T") || state.starts_with("t");
        const bool canAnswer = !problem && !stack.isStopped && catches(status, SIGURG);
        if (stack.isStopped) stack.note += ": what is stopped shows no stack; kill -CONT " + std::to_string(pid) + " lets it go on";
        else if (!canAnswer && !state.empty()) stack.note += ": it does not tell its stack";
        if (canAnswer) workers[rank].signal(SIGURG);
        m_isOpen.push_back(canAnswer);
        m_logs.push_back(log);
        m_logBytes.push_back(problem ? 0 : bytes);
        m_pids.push_back(pid);
        m_stacks.push_back(std::move(stack));
    }
}

void StackReader::read(std::size_t rank) {
    const std::string text = tailFrom(m_logs[rank], m_logBytes[rank]), pid = std::to_string(m_pids[rank]);
    const std::size_t begin = text.find("==== stack " + pid + "\n"), end = text.find("==== end of stack " + pid + "\n");
    if (begin == std::string::npos || end == std::string::npos || end < begin) return;
    std::istringstream lines(text.substr(begin, end - begin));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) m_stacks[rank].frames.push_back(frameText(line));
    m_isOpen[rank] = false;
}

bool StackReader::isComplete(std::int64_t nowNs) {
    for (std::size_t rank = 0; rank < m_stacks.size(); ++rank)
        if (m_isOpen[rank]) read(rank);
    if (std::find(m_isOpen.begin(), m_isOpen.end(), true) == m_isOpen.end()) return true;
    if (nowNs < m_untilNs) return false;
    for (std::size_t rank = 0; rank < m_stacks.size(); ++rank)
        if (m_isOpen[rank]) m_stacks[rank].note += ": it did not tell its stack within a second";
    std::fill(m_isOpen.begin(), m_isOpen.end(), false);
    return true;
}

}  // namespace lathe::launch
