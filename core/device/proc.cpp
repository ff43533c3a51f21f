#include "device/proc.h"

#include "base/file_system.h"
#include "base/number_text.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <vector>

namespace lathe::device {
namespace {

/// Control groups (version 2) this process is in, innermost first, as folders below `root`.
std::vector<std::string> controlGroups(const std::filesystem::path& root) {
    std::istringstream lines(procText(root, "proc/self/cgroup"));
    std::vector<std::string> folders;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("0::/") || line.find("..") != std::string::npos) continue;
        std::string group = line.substr(3);
        while (group.size() > 1) {
            folders.push_back("sys/fs/cgroup" + group);
            group.resize(std::max<std::size_t>(group.rfind('/'), 1));
            if (group == "/") break;
        }
        folders.push_back("sys/fs/cgroup");
    }
    return folders;
}

std::string firstWord(const std::string& text) { return text.substr(0, text.find_first_of(" \n")); }

std::optional<std::uint64_t> countIn(const std::filesystem::path& root, const std::string& path) {
    const auto number = readInteger(firstWord(procText(root, path)));
    return number && *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

std::uint64_t kibibytesAfter(const std::string& text, const std::string& label) {
    const std::size_t at = text.find(label);
    if (at == std::string::npos) return 0;
    std::istringstream stream(text.substr(at + label.size(), 40));
    std::uint64_t kibibytes = 0;
    stream >> kibibytes;
    return kibibytes * 1024;
}

}  // namespace

std::string procText(const std::filesystem::path& root, const std::string& path) {
    constexpr std::uint64_t kLargest = 16 * 1024 * 1024;
    auto text = readFile(root / path, kLargest);
    return text ? std::move(*text) : std::string();
}

CpuTime cpuTime(const std::filesystem::path& root) {
    std::istringstream stream(procText(root, "proc/stat"));
    std::string label;
    stream >> label;
    if (label != "cpu") return {};
    // user nice system idle iowait irq softirq steal; the two guest columns are in user and nice already
    std::array<std::uint64_t, 8> ticks{};
    for (std::uint64_t& tick : ticks) stream >> tick;
    CpuTime time;
    for (const std::uint64_t tick : ticks) time.total += tick;
    time.busy = time.total - ticks[3] - ticks[4];
    return time;
}

Memory memory(const std::filesystem::path& root) {
    const std::string text = procText(root, "proc/meminfo");
    Memory memory{kibibytesAfter(text, "MemTotal:"), kibibytesAfter(text, "MemAvailable:")};
    for (const std::string& group : controlGroups(root)) {
        const auto limit = countIn(root, group + "/memory.max");
        if (!limit) continue;
        const std::uint64_t used = countIn(root, group + "/memory.current").value_or(0);
        memory.total = std::min(memory.total, *limit);
        memory.available = std::min(memory.available, *limit > used ? *limit - used : 0);
    }
    return memory;
}

OwnMemory ownMemory(const std::filesystem::path& root) {
    const std::string text = procText(root, "proc/self/status");
    return {kibibytesAfter(text, "VmSize:"), kibibytesAfter(text, "VmHWM:")};
}

static std::optional<std::uint64_t> killsIn(const std::string& text) {
    std::istringstream stream(text);
    std::string name;
    for (std::uint64_t value = 0; stream >> name >> value;)
        if (name == "oom_kill") return value;
    return std::nullopt;
}

std::uint64_t outOfMemoryKills(const std::filesystem::path& root) {
    for (const std::string& group : controlGroups(root))
        if (const auto kills = killsIn(procText(root, group + "/memory.events"))) return *kills;
    return killsIn(procText(root, "proc/vmstat")).value_or(0);
}

std::optional<double> cpuQuota(const std::filesystem::path& root) {
    std::optional<double> least;
    for (const std::string& group : controlGroups(root)) {
        std::istringstream stream(procText(root, group + "/cpu.max"));
        double quota = 0, period = 0;
        if (!(stream >> quota >> period) || quota <= 0 || period <= 0) continue;  // "max 100000" is no limit
        least = std::min(least.value_or(quota / period), quota / period);
    }
    return least;
}

}  // namespace lathe::device
