#include "engine/parallel/nccl_plugin.h"

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/headeronly/version.h>

#include <cstdio>
#include <exception>

namespace {

void* makeBackend(void* store, int rank, int world, std::int64_t timeoutMs, char* problem, std::size_t problemBytes) {
    try {
        const auto shared = c10::intrusive_ptr<c10d::Store>::reclaim_copy(static_cast<c10d::Store*>(store));
        const auto options = c10d::ProcessGroupNCCL::Options::create();
        options->timeout = std::chrono::milliseconds(timeoutMs);
        c10::intrusive_ptr<c10d::Backend> backend = c10::make_intrusive<c10d::ProcessGroupNCCL>(shared, rank, world, options);
        return backend.release();
    } catch (const std::exception& e) {
        std::snprintf(problem, problemBytes, "%s", e.what());
        return nullptr;
    }
}

}  // namespace

__attribute__((visibility("default"))) const LatheNcclPlugin* latheNcclPlugin() {
    static const LatheNcclPlugin plugin{kLatheNcclVersion, TORCH_VERSION, makeBackend};
    return &plugin;
}
