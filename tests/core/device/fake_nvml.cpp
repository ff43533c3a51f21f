// Stands in for libnvidia-ml.so.1. $FAKE_NVML says what the machine is like, each word on its own:
//   fine | none | no-init | old-driver | old-gpu | one-lost | mute (no sensors)
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

bool is(const char* word) {
    const char* said = std::getenv("FAKE_NVML");
    return said && std::string(said).find(word) != std::string::npos;
}

int text(char* out, unsigned size, const char* value) {
    if (std::strlen(value) >= size) return 7;  // buffer too small
    std::strcpy(out, value);
    return 0;
}

int gpus[2] = {0, 1};

struct Memory {
    unsigned long long total, free, used;
};
struct Utilization {
    unsigned gpu, memory;
};
struct PciInfo {
    char busIdLegacy[16];
    unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
    char busId[32];
};

int indexOf(void* device) { return *static_cast<int*>(device); }

}  // namespace

extern "C" {

int nvmlInit_v2() { return is("no-init") ? 18 : 0; }
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int code) { return code == 18 ? "Driver/library version mismatch" : code == 15 ? "GPU is lost" : "Not Supported"; }
int nvmlSystemGetDriverVersion(char* out, unsigned size) { return text(out, size, is("old-driver") ? "535.104.05" : "580.65.06"); }
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
    *version = is("old-driver") ? 12020 : 13000;
    return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = is("none") ? 0 : 2;
    return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
    if (index > 1) return 2;
    if (index == 1 && is("one-lost")) return 15;
    *device = &gpus[index];
    return 0;
}
int nvmlDeviceGetName(void* device, char* out, unsigned size) {
    return text(out, size, indexOf(device) == 0 ? "NVIDIA GeForce GTX 1080" : "NVIDIA RTX 6000 Ada Generation");
}
int nvmlDeviceGetUUID(void* device, char* out, unsigned size) {
    return text(out, size, indexOf(device) == 0 ? "GPU-00000000-aaaa" : "GPU-11111111-bbbb");
}
int nvmlDeviceGetPciInfo_v3(void* device, PciInfo* info) {
    std::memset(info, 0, sizeof *info);
    return text(info->busId, sizeof info->busId, indexOf(device) == 0 ? "00000000:01:00.0" : "00000000:41:00.0");
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
    const unsigned long long gib = 1024ull * 1024 * 1024;
    *memory = indexOf(device) == 0 ? Memory{8 * gib, 6 * gib, 2 * gib} : Memory{48 * gib, 40 * gib, 8 * gib};
    return 0;
}
int nvmlDeviceGetUtilizationRates(void* device, Utilization* rates) {
    if (is("mute")) return 3;
    *rates = {indexOf(device) == 0 ? 10u : 70u, 5};
    return 0;
}
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* degrees) {
    if (is("mute") || sensor != 0) return 3;
    *degrees = indexOf(device) == 0 ? 41 : 66;
    return 0;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
    if (is("mute")) return 3;
    *milliwatts = indexOf(device) == 0 ? 30500 : 212000;
    return 0;
}
int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {
    *major = indexOf(device) == 0 && is("old-gpu") ? 6 : 8;
    *minor = indexOf(device) == 0 && is("old-gpu") ? 1 : 9;
    return 0;
}

}  // extern "C"
