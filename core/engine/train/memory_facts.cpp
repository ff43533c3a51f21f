#include "engine/train/memory_facts.h"

#include "base/number_text.h"
#include "device/proc.h"

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <algorithm>
#include <cmath>
#include <sys/resource.h>

namespace lathe::engine {
namespace {

/// The number behind `label`, with its unit where one follows: bytes.
std::optional<std::uint64_t> amountAfter(std::string_view text, std::string_view label) {
    const std::size_t at = text.find(label);
    if (at == std::string_view::npos) return std::nullopt;
    text.remove_prefix(at + label.size());
    const std::size_t end = text.find_first_not_of("0123456789.");
    std::string_view digits = text.substr(0, end);
    const std::string_view unit = end == std::string_view::npos ? std::string_view() : text.substr(end);
    while (digits.ends_with('.')) digits.remove_suffix(1);
    const auto value = readDouble(digits);
    if (!value || !(*value >= 0) || *value > 1e18) return std::nullopt;
    double factor = 1;
    if (unit.starts_with(" KiB")) factor = 1024;
    else if (unit.starts_with(" MiB")) factor = 1024.0 * 1024;
    else if (unit.starts_with(" GiB")) factor = 1024.0 * 1024 * 1024;
    return static_cast<std::uint64_t>(std::min(std::llround(*value * factor), std::llround(1e18)));
}

std::string deviceIn(std::string_view said) {
    if (said.find("CPUAllocator") != std::string_view::npos) return "cpu";
    constexpr std::string_view kLabel = "GPU ";
    const std::size_t at = said.find(kLabel);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = said.substr(at + kLabel.size());
    const std::string_view index = rest.substr(0, rest.find_first_not_of("0123456789"));
    return index.empty() ? std::string() : "cuda:" + std::string(index);
}

/// The allocator's own numbers, where there is such a device; else what it said stands.
void askDevice(MemoryFacts& facts) {
    if (!at::hasCUDA()) return;
    try {
        const c10::Device device(facts.device);
        const auto stats = at::accelerator::getDeviceStats(device.index());
        facts.peak = static_cast<std::uint64_t>(std::max<std::int64_t>(0, stats.allocated_bytes[0].peak));
        const auto [free, total] = at::accelerator::getMemoryInfo(device.index());
        facts.free = free;
        facts.total = total;
    } catch (const std::exception&) {
        return;
    }
}

}  // namespace

std::shared_ptr<const MemoryFacts> mainMemoryFacts(const std::string& doing, std::optional<std::uint64_t> requested) {
    try {
        const device::Memory machine = device::memory("/");
        const device::OwnMemory own = device::ownMemory("/");
        auto facts = std::make_shared<MemoryFacts>(MemoryFacts{"cpu", doing, requested, machine.available, own.peak, machine.total});
        rlimit space{};
        if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY && space.rlim_cur < machine.total) {
            facts->total = space.rlim_cur;
            facts->free = std::min<std::uint64_t>(machine.available, space.rlim_cur > own.mapped ? space.rlim_cur - own.mapped : 0);
        }
        return facts;
    } catch (const std::exception&) {
        return nullptr;
    }
}

std::shared_ptr<const MemoryFacts> memoryFacts(const std::string& doing, std::string_view said) {
    try {
        const auto requested = amountAfter(said, "ried to allocate ");   // also "you tried …"
        const std::string device = deviceIn(said);
        if (device == "cpu") return mainMemoryFacts(doing, requested);
        auto facts = std::make_shared<MemoryFacts>(MemoryFacts{device, doing, requested, amountAfter(said, "of which "), amountAfter(said, "Of the allocated memory "),
                                                               amountAfter(said, "total capacity of ")});
        if (!device.empty()) askDevice(*facts);
        return facts;
    } catch (const std::exception&) {
        return nullptr;
    }
}

void releaseCachedMemory(c10::Device device) {
    if (device.is_cuda()) at::accelerator::emptyCache();
}

}  // namespace lathe::engine
