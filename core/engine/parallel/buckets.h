// Gradients of a storage in buckets, summed over ranks while the backward pass still computes earlier ones.
// Thread: one thread at a time (backward passes on the CPU run in the calling thread).
#pragma once

#include "engine/parallel/flat_storage.h"
#include "engine/parallel/rank_group.h"

#include <memory>
#include <vector>

namespace lathe::engine {

class Buckets {
public:
    /// Installs gradient hooks; the group must outlive this.
    Buckets(const FlatStorage& storage, RankGroup& group, std::int64_t bucketBytes);
    ~Buckets();
    Buckets(const Buckets&) = delete;
    Buckets& operator=(const Buckets&) = delete;

    /// The coming backward pass completes the gradients: buckets start as they become ready.
    void arm();
    /// Starts what has not started and waits for everything.
    void finish();
    std::size_t count() const { return m_buckets.size(); }

private:
    class Hook;
    struct Bucket {
        at::Tensor gradient;   ///< a part of an arena
        int parameters = 0, left = 0;
        std::unique_ptr<RankGroup::Pending> pending;
    };
    void ready(std::size_t bucket);
    void startNext();

    std::vector<at::Tensor> m_parameters;   ///< those with a hook of ours
    RankGroup& m_group;
    std::vector<Bucket> m_buckets;   ///< in the order in which gradients tend to become ready: from the end of the model
    std::size_t m_next = 0;          ///< to be started
    bool m_armed = false;
};

}  // namespace lathe::engine
