// Parallel: who holds what, how a window is run, when gradients are reduced, and how ranks agree. The only strategy that
// may install gradient hooks (LibTorch has room for one a tensor).
// Thread: one thread at a time.
#pragma once

#include "engine/parallel/flat_storage.h"

#include <functional>
#include <memory>
#include <string>

namespace lathe::engine {

struct GradientNorm {
    double value = 0;          ///< over all trainable parameters of all ranks, tied weights once
    std::string notFinite;     ///< first parameter with a gradient that is not finite
};

class Parallel {
public:
    /// `reduces`: the backward pass of this micro-batch is the one whose gradients are complete.
    using MicroStep = std::function<void(std::size_t microBatch, bool reduces)>;

    virtual ~Parallel() = default;
    virtual int rank() const = 0;
    virtual int world() const = 0;
    /// Names what must be equal for equal bits: ranks and reduction ("single").
    virtual std::string layout() const = 0;

    virtual void runWindow(std::size_t microBatches, const MicroStep& step) = 0;
    /// Sums gradients over data ranks. There is no factor for the number of ranks.
    virtual void reduce(FlatStorage& storage) = 0;
    /// Σ over data ranks.
    virtual double sum(double mine) = 0;
    /// True on every rank when true on any.
    virtual bool any(bool mine) = 0;
    virtual GradientNorm globalNorm(const FlatStorage& storage) = 0;
};

/// One process that holds everything.
std::unique_ptr<Parallel> makeSingleProcess();

}  // namespace lathe::engine
