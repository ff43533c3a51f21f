// NVIDIA's management library (NVML), loaded at run time: nothing of it is needed to build or start Lathe.
// Only what Lathe asks; names, numbers and layouts are those of the library's stable interface.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace lathe::device {

class Nvml {
public:
    using Handle = void*;

    struct MemoryInfo {
        std::uint64_t total = 0, free = 0, used = 0;
    };

    /// Loads and initialises. NotFound: no library, so no driver; Unsupported: it is there and refuses, with the reason.
    static Result<std::unique_ptr<Nvml>> open(const std::filesystem::path& library);
    ~Nvml();
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    std::string driverVersion() const;          ///< "580.65.06", or empty
    std::optional<int> cudaVersion() const;     ///< of the driver: 13000 for 13.0
    unsigned count() const;
    Result<Handle> device(unsigned index) const;
    std::string name(Handle device) const;
    std::string uuid(Handle device) const;
    std::string pciBusId(Handle device) const;
    std::optional<MemoryInfo> memory(Handle device) const;
    std::optional<double> utilization(Handle device) const;  ///< percent
    std::optional<double> temperature(Handle device) const;  ///< °C
    std::optional<double> power(Handle device) const;        ///< W
    std::optional<std::pair<int, int>> computeCapability(Handle device) const;

private:
    struct Functions;
    explicit Nvml(std::unique_ptr<Functions> functions);
    std::unique_ptr<Functions> m_functions;
};

}  // namespace lathe::device
