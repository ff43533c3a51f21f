// The few numbers that /proc and the control groups tell.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace lathe::device {

/// Content of a file below `root`, or empty.
std::string procText(const std::filesystem::path& root, const std::string& path);

/// Time all CPUs spent since boot, in ticks.
struct CpuTime {
    std::uint64_t busy = 0;
    std::uint64_t total = 0;
};
CpuTime cpuTime(const std::filesystem::path& root);

struct Memory {
    std::uint64_t total = 0;      ///< bytes; the control group's limit where that is lower
    std::uint64_t available = 0;  ///< bytes
};
Memory memory(const std::filesystem::path& root);

/// Of this process, in bytes.
struct OwnMemory {
    std::uint64_t mapped = 0;     ///< address space, which RLIMIT_AS limits
    std::uint64_t peak = 0;       ///< most that was resident
};
OwnMemory ownMemory(const std::filesystem::path& root);

/// Processes that the kernel has ended so far because memory ran out: in this process's control group and those below it,
/// else on the whole machine.
std::uint64_t outOfMemoryKills(const std::filesystem::path& root);

/// CPUs' worth of time that the control group grants this process, where it limits it.
std::optional<double> cpuQuota(const std::filesystem::path& root);

}  // namespace lathe::device
