#include "device/nvml.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>

namespace lathe::device {
namespace {

constexpr int kSuccess = 0;
constexpr unsigned kGpuSensor = 0;

struct PciInfo {
    std::array<char, 16> busIdLegacy{};
    unsigned domain = 0, bus = 0, device = 0, pciDeviceId = 0, pciSubSystemId = 0;
    std::array<char, 32> busId{};
};
static_assert(sizeof(PciInfo) == 68, "layout of nvmlPciInfo_t");

struct Utilization {
    unsigned gpu = 0, memory = 0;
};

using Device = Nvml::Handle;
using Text = int (*)(Device, char*, unsigned);

template <std::size_t N>
std::string textOf(std::array<char, N>& buffer) {
    buffer.back() = '\0';
    return buffer.data();
}

/// Closes a library that was opened but not kept.
struct Closer {
    void operator()(void* library) const { ::dlclose(library); }
};
using Library = std::unique_ptr<void, Closer>;

Library openLibrary(const std::filesystem::path& chosen) {
    if (!chosen.empty()) return Library(::dlopen(chosen.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (const char* path = std::getenv("LATHE_NVML"); path && *path) return Library(::dlopen(path, RTLD_NOW | RTLD_LOCAL));
    if (void* found = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) return Library(found);
    return Library(::dlopen("/usr/lib/wsl/lib/libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL));  // Windows' Linux keeps it out of the search path
}

}  // namespace

struct Nvml::Functions {
    Library library;
    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    const char* (*errorString)(int) = nullptr;
    int (*systemGetDriverVersion)(char*, unsigned) = nullptr;
    int (*systemGetCudaDriverVersion)(int*) = nullptr;
    int (*deviceGetCount)(unsigned*) = nullptr;
    int (*deviceGetHandleByIndex)(unsigned, Device*) = nullptr;
    Text deviceGetName = nullptr;
    Text deviceGetUuid = nullptr;
    int (*deviceGetPciInfo)(Device, PciInfo*) = nullptr;
    int (*deviceGetMemoryInfo)(Device, MemoryInfo*) = nullptr;
    int (*deviceGetUtilizationRates)(Device, Utilization*) = nullptr;
    int (*deviceGetTemperature)(Device, unsigned, unsigned*) = nullptr;
    int (*deviceGetPowerUsage)(Device, unsigned*) = nullptr;
    int (*deviceGetCudaComputeCapability)(Device, int*, int*) = nullptr;

    bool load() {
        bool complete = true;
        const auto find = [&](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library.get(), name));
            complete = complete && function != nullptr;
        };
        find(init, "nvmlInit_v2");
        find(shutdown, "nvmlShutdown");
        find(errorString, "nvmlErrorString");
        find(systemGetDriverVersion, "nvmlSystemGetDriverVersion");
        find(systemGetCudaDriverVersion, "nvmlSystemGetCudaDriverVersion_v2");
        find(deviceGetCount, "nvmlDeviceGetCount_v2");
        find(deviceGetHandleByIndex, "nvmlDeviceGetHandleByIndex_v2");
        find(deviceGetName, "nvmlDeviceGetName");
        find(deviceGetUuid, "nvmlDeviceGetUUID");
        find(deviceGetPciInfo, "nvmlDeviceGetPciInfo_v3");
        find(deviceGetMemoryInfo, "nvmlDeviceGetMemoryInfo");
        find(deviceGetUtilizationRates, "nvmlDeviceGetUtilizationRates");
        find(deviceGetTemperature, "nvmlDeviceGetTemperature");
        find(deviceGetPowerUsage, "nvmlDeviceGetPowerUsage");
        find(deviceGetCudaComputeCapability, "nvmlDeviceGetCudaComputeCapability");
        return complete;
    }

    std::string reason(int code) const {
        const char* text = errorString(code);
        return text && *text ? text : "error " + std::to_string(code);
    }
};

Nvml::Nvml(std::unique_ptr<Functions> functions) : m_functions(std::move(functions)) {}

Nvml::~Nvml() { m_functions->shutdown(); }

Result<std::unique_ptr<Nvml>> Nvml::open(const std::filesystem::path& library) {
    auto functions = std::make_unique<Functions>();
    functions->library = openLibrary(library);
    if (!functions->library) return Error{ErrorCode::NotFound, "No NVIDIA driver is installed", {}, {}};
    if (!functions->load()) return Error{ErrorCode::Unsupported, "The NVIDIA driver is too old to be asked about its GPUs; install version 580 or newer", {}, {}};
    if (const int code = functions->init(); code != kSuccess)
        return Error{ErrorCode::Unsupported, "The NVIDIA driver does not answer (" + functions->reason(code) + "); restarting the machine often mends that after an update", {}, {}};
    return std::unique_ptr<Nvml>(new Nvml(std::move(functions)));
}

std::string Nvml::driverVersion() const {
    std::array<char, 96> buffer{};
    return m_functions->systemGetDriverVersion(buffer.data(), buffer.size()) == kSuccess ? textOf(buffer) : std::string();
}

std::optional<int> Nvml::cudaVersion() const {
    int version = 0;
    return m_functions->systemGetCudaDriverVersion(&version) == kSuccess ? std::optional(version) : std::nullopt;
}

unsigned Nvml::count() const {
    unsigned count = 0;
    return m_functions->deviceGetCount(&count) == kSuccess ? count : 0;
}

Result<Nvml::Handle> Nvml::device(unsigned index) const {
    Handle handle = nullptr;
    if (const int code = m_functions->deviceGetHandleByIndex(index, &handle); code != kSuccess)
        return Error{ErrorCode::Unsupported, "GPU " + std::to_string(index) + " does not answer (" + m_functions->reason(code) + ")", {}, {}};
    return handle;
}

std::string Nvml::name(Handle device) const {
    std::array<char, 128> buffer{};
    return m_functions->deviceGetName(device, buffer.data(), buffer.size()) == kSuccess ? textOf(buffer) : "NVIDIA GPU";
}

std::string Nvml::uuid(Handle device) const {
    std::array<char, 128> buffer{};
    return m_functions->deviceGetUuid(device, buffer.data(), buffer.size()) == kSuccess ? textOf(buffer) : std::string();
}

std::string Nvml::pciBusId(Handle device) const {
    PciInfo info;
    return m_functions->deviceGetPciInfo(device, &info) == kSuccess ? textOf(info.busId) : std::string();
}

std::optional<Nvml::MemoryInfo> Nvml::memory(Handle device) const {
    MemoryInfo info;
    return m_functions->deviceGetMemoryInfo(device, &info) == kSuccess ? std::optional(info) : std::nullopt;
}

std::optional<double> Nvml::utilization(Handle device) const {
    Utilization rates;
    return m_functions->deviceGetUtilizationRates(device, &rates) == kSuccess ? std::optional<double>(rates.gpu) : std::nullopt;
}

std::optional<double> Nvml::temperature(Handle device) const {
    unsigned degrees = 0;
    return m_functions->deviceGetTemperature(device, kGpuSensor, &degrees) == kSuccess ? std::optional<double>(degrees) : std::nullopt;
}

std::optional<double> Nvml::power(Handle device) const {
    unsigned milliwatts = 0;
    return m_functions->deviceGetPowerUsage(device, &milliwatts) == kSuccess ? std::optional(milliwatts / 1000.0) : std::nullopt;
}

std::optional<std::pair<int, int>> Nvml::computeCapability(Handle device) const {
    int major = 0, minor = 0;
    if (m_functions->deviceGetCudaComputeCapability(device, &major, &minor) != kSuccess) return std::nullopt;
    return std::pair(major, minor);
}

}  // namespace lathe::device
