// Ranks that talk to each other: c10d with Gloo, behind the few operations that training needs. The only file that knows
// c10d is rank_group.cpp.
//
// Tensors on GPUs go through NCCL (nccl.h). What is small and on the CPU goes through shared memory where all ranks are on one machine (rank_board.h), the rest through Gloo.
// Ranks find each other through a file in the run folder, which nobody else may open; they connect over the loopback
// interface, and no socket listens on another one. Every operation is entered by all ranks in the same order. A rank that
// dies breaks the operation that the others are in (they get an exception at once); afterwards the group is of no use.
// Thread: one thread at a time.
#pragma once

#include "base/result.h"
#include "live/segment.h"

#include <torch/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

namespace lathe::engine {

/// Thrown by a RankGroup when another rank is gone.
class LostContact : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// This process among the ranks of a session.
struct RankPlace {
    int rank = 0, world = 1;
    bool cuda = false;                                     ///< gradients lie on this process' GPU: NCCL sums them
    std::filesystem::path rendezvous;                      ///< fresh for each session; several ranks only
    std::chrono::seconds timeout{3600};                    ///< of one operation; the supervisor notices standstill earlier
    std::function<bool()> mayWait = [] { return true; };   ///< asked while other ranks are awaited; false gives up
    std::function<void(std::int64_t, live::Activity)> onOperation;  ///< called with number and kind before each operation that is waited for
};

class RankGroup {
public:
    /// Waits for all ranks; Stopped when place.mayWait() says so. Throws LostContact where one of them goes meanwhile.
    static Result<std::unique_ptr<RankGroup>> connect(const RankPlace& place);
    ~RankGroup();
    RankGroup(const RankGroup&) = delete;
    RankGroup& operator=(const RankGroup&) = delete;

    /// One operation under way.
    class Pending {
    public:
        virtual ~Pending() = default;
        virtual void wait() = 0;
    };
    /// In-place sum over all ranks of a one-dimensional tensor, in an order that depends on its length and the number of
    /// ranks alone; two ranks: mine + yours.
    std::unique_ptr<Pending> startSum(const at::Tensor& values);
    /// `mine` of all ranks one after the other. Requires: equal length everywhere.
    at::Tensor gather(const at::Tensor& mine);
    void send(const at::Tensor& values, int to);
    void receive(at::Tensor values, int from);
    /// Both ways at once.
    void exchange(const at::Tensor& mine, at::Tensor theirs, int with);
    void broadcast(at::Tensor values, int from);

private:
    struct Impl;
    explicit RankGroup(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

}  // namespace lathe::engine
