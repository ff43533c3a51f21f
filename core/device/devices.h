// What this machine computes with, found out without LibTorch: the CPU from /proc and sysfs, GPUs through NVIDIA's
// management library, loaded at run time. GPUs are named by UUID: an index changes with the environment.
// Thread: free functions are safe from any thread; a Sampler belongs to one thread at a time.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lathe::device {

struct Cpu {
    std::string model;                      ///< "AMD EPYC 9334", "unknown" when the system does not say
    std::vector<std::string> instructions;  ///< of the instruction sets that change numbers or speed, sorted: "avx2", "avx512f" …
    std::int64_t physicalCores = 1;         ///< of the machine
    std::int64_t threads = 1;               ///< logical CPUs of the machine
    std::int64_t usableCores = 1;           ///< physical cores this process may use: affinity and the container's quota
    std::uint64_t memoryTotal = 0;          ///< bytes; the container's limit where that is lower
    std::uint64_t memoryAvailable = 0;      ///< bytes
    double load = 0;                        ///< runnable threads, mean of the last minute
};

/// `root` is "/" but for tests. What cannot be read keeps its default.
Cpu cpu(const std::filesystem::path& root = "/");

struct Gpu {
    std::string uuid;                    ///< "GPU-5f3c…", the value of parallel.device
    std::string name;                    ///< "NVIDIA GeForce RTX 4090"
    std::string pciBusId;                ///< "00000000:01:00.0"
    int index = 0;                       ///< in the order of the PCI bus, for people
    int computeMajor = 0, computeMinor = 0;
    std::uint64_t memoryTotal = 0;       ///< bytes
    std::uint64_t memoryFree = 0;        ///< bytes
    std::optional<double> utilization;   ///< percent of the time in which something ran
    std::optional<double> temperature;   ///< °C
    std::optional<double> power;         ///< W
    std::string unusable;                ///< why it cannot train, with what to do; empty: it can

    bool usable() const { return unusable.empty(); }
};

struct Gpus {
    std::vector<Gpu> list;
    std::string driverVersion;  ///< "580.65.06"
    std::string none;           ///< why the list is empty: one sentence; empty otherwise
};

/// `library`: path of the management library; empty: $LATHE_NVML, else the system's.
Gpus gpus(const std::filesystem::path& library = {});

/// What `parallel.device` means here for one rank: "cpu" or the UUID of a usable GPU, of several named ones the first. auto takes the usable GPU with the most free
/// memory, the CPU only where no GPU is installed: one that is there but cannot be used is an error with the reason,
/// never a silent slow run. Errors are Unsupported with key parallel.device.
Result<std::string> chooseDevice(const std::string& setting, const Gpus& gpus);

/// Where a run can compute: on any `needed` of `devices`, the first choice first.
struct Candidates {
    std::vector<std::string> devices;  ///< {"cpu"}, or UUIDs of usable GPUs
    std::size_t needed = 1;            ///< one GPU for each rank; one processor for all
};

/// What `parallel.device` leaves a run of `ranks` processes: the CPU for all of them, or a usable GPU for each, as they are named
/// or in the order of the PCI bus (for one rank that of chooseDevice() first). Too few of them is an error (Unsupported, key
/// parallel.ranks). The order for several ranks does not depend on the moment, so that each rank finds the same.
Result<Candidates> candidates(const std::string& setting, int ranks, const Gpus& gpus);
/// The one that a rank takes by itself.
Result<std::string> deviceOfRank(const std::string& setting, int rank, int world, const Gpus& gpus);

/// One measured value, under its series name: "device/cpu/utilization", "device/0/memory_used".
struct Sample {
    std::string name;
    std::string unit;  ///< "%", "GiB", "°C", "W"
    double value = 0;
};

/// Measures use of the machine again and again, cheaply; CPU use is over the time since the last call (or construction).
class Sampler {
public:
    explicit Sampler(const std::filesystem::path& library = {}, std::filesystem::path root = "/");
    ~Sampler();
    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;

    /// Leaves out what cannot be measured now.
    std::vector<Sample> sample();

private:
    struct State;
    std::unique_ptr<State> m_state;
};

}  // namespace lathe::device
