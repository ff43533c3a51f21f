// The boundary of liblathe_nccl.so: what needs CUDA's and NCCL's headers and LibTorch's CUDA part lies behind it, in a
// library that is loaded only where a usable GPU is. Plain C, so that it can be looked at before anything of it is used.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct LatheNcclPlugin {
    std::int32_t version;         ///< kLatheNcclVersion of the build that made it
    const char* libTorch;         ///< "2.11.0": it works with this LibTorch alone
    /// A c10d::Backend over NCCL with one reference that the caller takes over, or null with a sentence in `problem`.
    /// `store`: a c10d::Store that the ranks share, of which no reference is taken over.
    void* (*makeBackend)(void* store, int rank, int world, std::int64_t timeoutMs, char* problem, std::size_t problemBytes);
};

/// The only name that the library exports.
const LatheNcclPlugin* latheNcclPlugin();
}

constexpr std::int32_t kLatheNcclVersion = 1;
