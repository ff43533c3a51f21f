// What is known at the moment when memory runs out. Thread: any.
#pragma once

#include "base/error.h"

#include <c10/core/Device.h>

#include <memory>
#include <string_view>

namespace lathe::engine {

/// Of main memory; `requested` where it is known.
std::shared_ptr<const MemoryFacts> mainMemoryFacts(const std::string& doing, std::optional<std::uint64_t> requested = {});
/// From what an allocator of LibTorch says ("… tried to allocate 2.00 GiB. GPU 0 has a total capacity of …"), and from the
/// device where it can be asked. Null on any failure: nothing that is told here is worth another exception.
std::shared_ptr<const MemoryFacts> memoryFacts(const std::string& doing, std::string_view said);
/// Gives what caches of an accelerator's allocator hold back to the device.
void releaseCachedMemory(c10::Device device);

}  // namespace lathe::engine
