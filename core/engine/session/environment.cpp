#include "engine/session/environment.h"

#include "base/number_text.h"
#include "device/devices.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <cstdlib>
#include <malloc.h>
#include <set>

namespace lathe::engine {

void applyDeterminism(const config::ParallelSection& section) {
    const bool isExact = section.determinism == "exact";
    if (isExact) ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 1);
    at::Context& context = at::globalContext();
    context.setDeterministicAlgorithms(isExact, false);
    context.setDeterministicFillUninitializedMemory(false);  // a net for faults that costs time in every operator
    context.setDeterministicCuDNN(isExact);
    context.setBenchmarkCuDNN(!isExact);
}

Result<at::Device> chooseDevice(const config::ParallelSection& section, int rank, int world) {
    LATHE_TRY_ASSIGN(const std::string chosen, device::deviceOfRank(section.device, rank, world, device::gpus()));
    if (chosen == "cpu") return at::Device(at::kCPU);
    ::setenv("CUDA_VISIBLE_DEVICES", chosen.c_str(), 1);  // before LibTorch looks for devices: what it sees is cuda:0
    if (at::detail::getCUDAHooks().hasCUDA() && at::detail::getCUDAHooks().deviceCount() > 0) return at::Device(at::kCUDA, 0);
    return Error{ErrorCode::Unsupported, "The GPU " + chosen + " cannot be used: this LibTorch has no CUDA. Run installer/start again for the full set, "
                 "or choose cpu", "parallel.device", {}};
}

int applyThreads(const config::ParallelSection& section, int ranks) {
    const char* omp = std::getenv("OMP_NUM_THREADS");
    const auto fromOmp = omp ? readInteger(omp) : std::nullopt;
    std::int64_t threads = std::max<std::int64_t>(1, device::cpu().usableCores / ranks);
    if (section.threads) threads = *section.threads;
    else if (fromOmp && *fromOmp > 0 && *fromOmp < 1024) threads = *fromOmp;
    at::set_num_threads(static_cast<int>(threads));
    return at::get_num_threads();
}

void keepFreedMemory() {
    constexpr int kLargestInHeap = 32 << 20, kMostKept = 1 << 30;  // bytes; the first is the most that glibc takes
    ::mallopt(M_MMAP_THRESHOLD, kLargestInHeap);
    ::mallopt(M_TRIM_THRESHOLD, kMostKept);
}

/// What else decides the numbers of a GPU: its kind, the driver, and the libraries under LibTorch.
static void addGpu(Environment& record, const device::Gpus& gpus) {
    const char* chosen = std::getenv("CUDA_VISIBLE_DEVICES");   // chooseDevice() names the one
    for (const device::Gpu& gpu : gpus.list)
        if (chosen && gpu.uuid == chosen) record["GPU"] = gpu.name + ", compute capability " + std::to_string(gpu.computeMajor) + "." + std::to_string(gpu.computeMinor);
    record["GPU driver"] = gpus.driverVersion;
    const at::CUDAHooksInterface& hooks = at::detail::getCUDAHooks();
    if (!hooks.hasCUDA()) return;
    record["CUDA"] = std::to_string(hooks.versionCUDART());
    record["cuDNN"] = hooks.compiledWithCuDNN() ? std::to_string(hooks.versionCuDNN()) : "none";
}

Environment environmentRecord(const config::RunConfig& config, at::Device device, int threads, const std::string& precision, const std::string& layout) {
    Environment record{{"LibTorch", TORCH_VERSION},
            {"CPU", device::cpu().model},
            {"instruction set", at::get_cpu_capability()},
            {"threads", std::to_string(threads)},
            {"device", device.str()},
            {"precision", precision},
            {"layout", layout},
            {"deterministic", config.parallel.determinism == "exact" ? "yes" : "no"}};
    if (device.is_cuda()) addGpu(record, device::gpus());
    return record;
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
