#include "engine/session/environment.h"

#include "base/number_text.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <torch/headeronly/version.h>

#include <cstdlib>
#include <fstream>
#include <sched.h>
#include <set>

namespace lathe::engine {
namespace {

std::string firstLineOf(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::string cpuModel() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    }
    return "unknown";
}

/// Distinct (package, core) pairs among the processors this process may run on.
int physicalCores() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
    std::set<std::string> cores;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
        const std::string core = firstLineOf(folder + "core_id");
        cores.insert(core.empty() ? "cpu " + std::to_string(cpu) : firstLineOf(folder + "physical_package_id") + "/" + core);
    }
    return std::max(1, static_cast<int>(cores.size()));
}

}  // namespace

Result<at::Device> chooseDevice(const config::ParallelSection& section) {
    if (section.device == "cpu") return at::Device(at::kCPU);
    const bool hasCuda = at::detail::getCUDAHooks().hasCUDA() && at::detail::getCUDAHooks().deviceCount() > 0;
    if (section.device == "auto") return hasCuda ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
    if (!hasCuda)
        return Error{ErrorCode::Unsupported, "“" + section.device + "” was chosen, but this LibTorch sees no usable GPU. Choose cpu, or install the CUDA set",
                     "parallel.device", {}};
    if (section.device == "cuda") return at::Device(at::kCUDA, 0);
    return Error{ErrorCode::Unsupported, "Choosing a GPU by its UUID (" + section.device + ") is not possible in this version; use cuda", "parallel.device", {}};
}

int applyThreads(const config::ParallelSection& section) {
    const char* omp = std::getenv("OMP_NUM_THREADS");
    const auto fromOmp = omp ? readInteger(omp) : std::nullopt;
    std::int64_t threads = physicalCores();
    if (section.threads) threads = *section.threads;
    else if (fromOmp && *fromOmp > 0 && *fromOmp < 1024) threads = *fromOmp;
    at::set_num_threads(static_cast<int>(threads));
    return at::get_num_threads();
}

Environment environmentRecord(const config::RunConfig& config, at::Device device, int threads, const std::string& layout) {
    return {{"LibTorch", TORCH_VERSION},
            {"CPU", cpuModel()},
            {"instruction set", at::get_cpu_capability()},
            {"threads", std::to_string(threads)},
            {"device", device.str()},
            {"precision", config.precision.mode},
            {"layout", layout},
            {"deterministic", config.parallel.deterministic ? "yes" : "no"}};
}

std::vector<std::string> environmentDifferences(const Environment& before, const Environment& now) {
    std::vector<std::string> differences;
    std::set<std::string> names;
    for (const auto& [name, value] : before) names.insert(name);
    for (const auto& [name, value] : now) names.insert(name);
    const auto valueIn = [](const Environment& all, const std::string& name) {
        const auto found = all.find(name);
        return found == all.end() ? std::string("unknown") : found->second;
    };
    for (const std::string& name : names)
        if (const std::string a = valueIn(before, name), b = valueIn(now, name); a != b) differences.push_back(name + " " + a + " → " + b);
    return differences;
}

}  // namespace lathe::engine
