#include "device/devices.h"
#include "device/proc.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <sstream>
#include <string_view>

namespace lathe::device {
namespace {

/// Instruction sets that libraries choose their code by.
constexpr std::array<std::string_view, 20> kTold{
    "sse4_2", "avx", "avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512bw", "avx512dq", "avx512vl",
    "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16", "amx_int8", "asimd", "asimddp", "bf16", "sve"};

/// What stands after the first "label : " at the beginning of a line.
std::string valueOf(const std::string& text, std::string_view label) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(label)) continue;
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos || line.find_first_not_of(" \t", label.size()) != colon) continue;
        const std::size_t start = line.find_first_not_of(' ', colon + 1);
        return start == std::string::npos ? std::string() : line.substr(start);
    }
    return {};
}

std::vector<std::string> instructionsIn(const std::string& cpuinfo) {
    std::string flags = valueOf(cpuinfo, "flags");
    if (flags.empty()) flags = valueOf(cpuinfo, "Features");  // ARM
    std::istringstream words(flags);
    std::vector<std::string> told;
    for (std::string word; words >> word;)
        if (std::find(kTold.begin(), kTold.end(), word) != kTold.end()) told.push_back(word);
    std::sort(told.begin(), told.end());
    return told;
}

/// Numbers in "0-3,8,10-11", bounded.
std::vector<int> numbersIn(const std::string& ranges) {
    constexpr int kMost = 8192;
    std::vector<int> numbers;
    std::istringstream parts(ranges);
    for (std::string part; std::getline(parts, part, ',');) {
        int first = 0, last = 0;
        char dash = 0;
        std::istringstream range(part);
        if (!(range >> first)) continue;
        if (!(range >> dash >> last)) last = first;
        for (int i = std::max(first, 0); i <= std::min(last, kMost); ++i) numbers.push_back(i);
    }
    return numbers;
}

std::vector<int> allowedCpus() {
    constexpr int kMost = 8192;
    std::vector<int> allowed;
    cpu_set_t* set = CPU_ALLOC(kMost);
    const std::size_t size = CPU_ALLOC_SIZE(kMost);
    CPU_ZERO_S(size, set);
    if (::sched_getaffinity(0, size, set) == 0)
        for (int i = 0; i < kMost; ++i)
            if (CPU_ISSET_S(i, size, set)) allowed.push_back(i);
    CPU_FREE(set);
    return allowed;
}

/// Different cores among these logical CPUs: threads of one core name the same siblings.
std::int64_t coresOf(const std::vector<int>& cpus, const std::filesystem::path& root) {
    std::set<std::string> cores;
    for (const int cpu : cpus) {
        const std::string number = std::to_string(cpu);
        const std::string siblings = procText(root, "sys/devices/system/cpu/cpu" + number + "/topology/thread_siblings_list");
        cores.insert(siblings.empty() ? number : siblings);
    }
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(cores.size()));
}

}  // namespace

Cpu cpu(const std::filesystem::path& root) {
    Cpu cpu;
    const std::string cpuinfo = procText(root, "proc/cpuinfo");
    cpu.model = valueOf(cpuinfo, "model name");
    if (cpu.model.empty()) cpu.model = valueOf(cpuinfo, "Model");
    if (cpu.model.empty()) cpu.model = "unknown";
    cpu.instructions = instructionsIn(cpuinfo);

    std::vector<int> online = numbersIn(procText(root, "sys/devices/system/cpu/online"));
    const std::vector<int> allowed = root == "/" ? allowedCpus() : online;
    if (online.empty()) online = allowed;
    cpu.threads = std::max<std::int64_t>(1, static_cast<std::int64_t>(online.size()));
    cpu.physicalCores = coresOf(online, root);
    cpu.usableCores = std::min(coresOf(allowed, root), cpu.physicalCores);
    if (const auto quota = cpuQuota(root))
        cpu.usableCores = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(*quota)), 1, cpu.usableCores);

    const Memory now = memory(root);
    cpu.memoryTotal = now.total;
    cpu.memoryAvailable = now.available;
    std::istringstream(procText(root, "proc/loadavg")) >> cpu.load;
    return cpu;
}

}  // namespace lathe::device
