#include "base/file_system.h"
#include "base/number_text.h"
#include "device/devices.h"
#include "device/nvml.h"
#include "device/proc.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace lathe::device {
namespace {

constexpr int kNeededCuda = 13000;                   ///< what the reference LibTorch is built for
constexpr std::pair<int, int> kOldestGpu{7, 5};      ///< oldest generation it holds code for

std::string unusableReason(const Nvml& nvml, const Gpu& gpu) {
    const auto cuda = nvml.cudaVersion();
    if (cuda && *cuda < kNeededCuda)
        return "Its driver " + nvml.driverVersion() + " is for CUDA " + std::to_string(*cuda / 1000) + "." + std::to_string(*cuda % 1000 / 10) +
               " and CUDA 13.0 is needed: install driver 580 or newer";
    if (std::pair(gpu.computeMajor, gpu.computeMinor) < kOldestGpu)
        return "Its generation (compute capability " + std::to_string(gpu.computeMajor) + "." + std::to_string(gpu.computeMinor) +
               ") is older than 7.5, the oldest that CUDA 13.0 runs on: train on the CPU or another GPU";
    if (gpu.uuid.empty() || gpu.memoryTotal == 0) return "Its driver gives no information about it: restart the machine, and if that does not help install the driver anew";
    return {};
}

Gpu describe(const Nvml& nvml, unsigned index) {
    Gpu gpu;
    gpu.index = static_cast<int>(index);
    const auto handle = nvml.device(index);
    if (!handle) {
        gpu.name = "NVIDIA GPU";
        gpu.unusable = handle.error().sentence + ": restart the machine";
        return gpu;
    }
    gpu.uuid = nvml.uuid(*handle);
    gpu.name = nvml.name(*handle);
    gpu.pciBusId = nvml.pciBusId(*handle);
    if (const auto capability = nvml.computeCapability(*handle)) std::tie(gpu.computeMajor, gpu.computeMinor) = *capability;
    if (const auto memory = nvml.memory(*handle)) {
        gpu.memoryTotal = memory->total;
        gpu.memoryFree = memory->free;
    }
    gpu.utilization = nvml.utilization(*handle);
    gpu.temperature = nvml.temperature(*handle);
    gpu.power = nvml.power(*handle);
    gpu.unusable = unusableReason(nvml, gpu);
    return gpu;
}

/// Whether the PCI bus holds an NVIDIA display or compute device, driver or not.
bool nvidiaOnTheBus() {
    const std::filesystem::path bus = "/sys/bus/pci/devices";
    const auto names = listFolder(bus);
    if (!names) return false;
    for (const std::string& name : *names) {
        const std::filesystem::path folder = bus / name;
        if (procText(folder, "vendor").starts_with("0x10de") && procText(folder, "class").starts_with("0x03")) return true;
    }
    return false;
}

std::string listed(const Gpus& gpus) {
    std::string text;
    for (const Gpu& gpu : gpus.list) text += (text.empty() ? "" : ", ") + gpu.uuid + " (" + gpu.name + ")";
    return text;
}

Error cannotUse(std::string sentence) { return {ErrorCode::Unsupported, std::move(sentence), "parallel.device", {}}; }

const Gpu* mostFreeMemory(const Gpus& gpus) {
    const Gpu* best = nullptr;
    for (const Gpu& gpu : gpus.list)
        if (gpu.usable() && (!best || gpu.memoryFree > best->memoryFree)) best = &gpu;
    return best;
}

}  // namespace

Gpus gpus(const std::filesystem::path& library) {
    Gpus found;
    const auto nvml = Nvml::open(library);
    if (!nvml) {
        found.none = nvml.error().sentence;
        if (nvml.error().code == ErrorCode::NotFound)
            found.none += nvidiaOnTheBus() ? ", though an NVIDIA GPU is: install driver 580 or newer to train on it" : ": this machine trains on its CPU";
        return found;
    }
    found.driverVersion = (*nvml)->driverVersion();
    for (unsigned i = 0, count = (*nvml)->count(); i < count; ++i) found.list.push_back(describe(**nvml, i));
    if (found.list.empty()) found.none = "The NVIDIA driver " + found.driverVersion + " finds no GPU: this machine trains on its CPU";
    return found;
}

static Result<std::string> namedGpu(const std::string& uuid, const Gpus& gpus) {
    for (const Gpu& gpu : gpus.list) {
        if (gpu.uuid != uuid) continue;
        if (gpu.usable()) return gpu.uuid;
        return cannotUse(gpu.name + " cannot be used. " + gpu.unusable);
    }
    const std::string there = gpus.list.empty() ? gpus.none : "there are " + listed(gpus);
    return cannotUse("This machine has no GPU " + uuid.substr(0, 80) + ": " + there);
}

/// The UUIDs of "GPU-…, GPU-…".
static Result<std::vector<std::string>> namedGpus(const std::string& setting, const Gpus& gpus) {
    std::vector<std::string> named;
    for (std::size_t at = 0; at <= setting.size();) {
        const std::size_t end = std::min(setting.find(',', at), setting.size());
        std::string_view word = std::string_view(setting).substr(at, end - at);
        while (word.starts_with(' ')) word.remove_prefix(1);
        while (word.ends_with(' ')) word.remove_suffix(1);
        LATHE_TRY_ASSIGN(std::string uuid, namedGpu(std::string(word), gpus));
        if (std::find(named.begin(), named.end(), uuid) != named.end()) return cannotUse("parallel.device names " + uuid + " twice");
        named.push_back(std::move(uuid));
        at = end + 1;
    }
    return named;
}

Result<std::string> chooseDevice(const std::string& setting, const Gpus& gpus) {
    if (setting == "cpu") return std::string("cpu");
    if (setting != "auto" && setting != "cuda") {
        LATHE_TRY_ASSIGN(const auto named, namedGpus(setting, gpus));
        return named.front();
    }
    if (const Gpu* best = mostFreeMemory(gpus)) return best->uuid;
    if (!gpus.list.empty())
        return cannotUse(gpus.list.front().name + " cannot be used. " + gpus.list.front().unusable + "; or choose device cpu");
    if (setting == "auto") return std::string("cpu");
    return cannotUse(gpus.none + "; choose device cpu or auto");
}

Result<Candidates> candidates(const std::string& setting, int ranks, const Gpus& gpus) {
    LATHE_TRY_ASSIGN(const std::string first, chooseDevice(setting, gpus));
    if (first == "cpu") return Candidates{{first}, 1};
    Candidates found{{}, static_cast<std::size_t>(ranks)};
    const bool isNamed = setting != "auto" && setting != "cuda";
    if (isNamed) {
        LATHE_TRY_ASSIGN(found.devices, namedGpus(setting, gpus));
    } else {
        if (ranks == 1) found.devices.push_back(first);
        for (const Gpu& gpu : gpus.list)
            if (gpu.usable() && (ranks > 1 || gpu.uuid != first)) found.devices.push_back(gpu.uuid);
    }
    if (found.devices.size() >= found.needed) return found;
    const std::string there = std::to_string(found.devices.size());
    const std::string why = isNamed ? "parallel.device names " + there : "this machine has " + there + " that can be used of " + std::to_string(gpus.list.size());
    return Error{ErrorCode::Unsupported, std::to_string(ranks) + " ranks on GPUs need one each, and " + why + ": use fewer parallel.ranks, or set parallel.device to cpu",
                 "parallel.ranks", {}};
}

Result<std::string> deviceOfRank(const std::string& setting, int rank, int world, const Gpus& gpus) {
    LATHE_TRY_ASSIGN(const Candidates found, candidates(setting, world, gpus));
    return found.devices[found.needed == 1 ? 0 : static_cast<std::size_t>(rank)];
}

}  // namespace lathe::device
