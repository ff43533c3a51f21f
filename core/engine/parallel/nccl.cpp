#include "engine/parallel/nccl.h"

#include "base/program_paths.h"
#include "engine/parallel/nccl_plugin.h"

#include <torch/headeronly/version.h>

#include <array>
#include <dlfcn.h>

namespace lathe::engine {
namespace {

Error unusable(const std::string& why) {
    return {ErrorCode::Unsupported, "Several ranks on GPUs need NCCL, and it cannot be used here: " + why + ". Set parallel.ranks to 1, or parallel.device to cpu",
            "parallel.ranks", {}};
}

Result<const LatheNcclPlugin*> load(const std::filesystem::path& library) {
    std::error_code ignored;
    if (!std::filesystem::exists(library, ignored))
        return unusable("this build has no " + library.filename().string() + ", which is made where CUDA's toolkit is installed");
    void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) return unusable(std::string(::dlerror()) + ". Run installer/start again for the full set of libraries");
    const auto entry = reinterpret_cast<const LatheNcclPlugin* (*)()>(::dlsym(handle, "latheNcclPlugin"));
    const LatheNcclPlugin* plugin = entry ? entry() : nullptr;
    if (!plugin || plugin->version != kLatheNcclVersion || plugin->libTorch != std::string_view(TORCH_VERSION))
        return unusable(library.filename().string() + " is of another build of Lathe or LibTorch; build both together");
    return plugin;
}

}  // namespace

std::filesystem::path ncclLibrary() { return programFolder() / "liblathe_nccl.so"; }

Result<c10::intrusive_ptr<c10d::Backend>> makeNccl(const std::filesystem::path& library, c10d::Store& store, int rank, int world,
                                                   std::chrono::milliseconds timeout) {
    LATHE_TRY_ASSIGN(const LatheNcclPlugin* plugin, load(library));
    std::array<char, 400> problem{};
    void* backend = plugin->makeBackend(&store, rank, world, timeout.count(), problem.data(), problem.size());
    if (!backend) return unusable(problem.data());
    return c10::intrusive_ptr<c10d::Backend>::reclaim(static_cast<c10d::Backend*>(backend));
}

}  // namespace lathe::engine
