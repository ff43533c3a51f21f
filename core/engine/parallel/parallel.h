// Parallel: who runs which micro-batches of a window, when gradients are reduced, and how ranks agree. The only strategy
// that may install gradient hooks (LibTorch has room for one a tensor).
//
// Whatever is asked here is asked by every rank in the same order: each call may be a collective. Nothing is decided by
// what one rank alone knows; what differs between ranks goes through gather() or agree() first.
// Thread: one thread at a time.
#pragma once

#include "base/error.h"
#include "engine/parallel/flat_storage.h"
#include "plan/order.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace lathe::engine {

struct GradientNorm {
    double value = 0;          ///< over all trainable parameters of all ranks, tied weights once
    std::string notFinite;     ///< first parameter with a gradient that is not finite
};

class Parallel {
public:
    /// Forward and backward of one micro-batch, by its number within the whole window; adds to the storage's gradients.
    using MicroStep = std::function<void(std::size_t microBatch)>;

    virtual ~Parallel() = default;
    /// This rank, and how windows are shared out.
    virtual const plan::Sharing& sharing() const = 0;
    int rank() const { return sharing().rank; }
    int world() const { return sharing().world; }
    /// Names what must be equal for equal bits: ranks and reduction ("single"; "tree" whatever the number of ranks).
    virtual std::string layout() const = 0;

    /// Runs this rank's share of a window of `microBatches`. Afterwards the storage holds the sum of the gradients of all
    /// micro-batches of all ranks, the same bits everywhere; there is no factor for the number of ranks.
    virtual void runWindow(FlatStorage& storage, std::size_t microBatches, const MicroStep& step) = 0;
    /// Of the reduced gradients. Bits may differ between ranks on unlike devices: who acts on it takes one rank's.
    virtual GradientNorm globalNorm(const FlatStorage& storage) = 0;

    /// In: this rank's values. Out: those of all ranks, in rank order.
    virtual void gather(std::vector<double>& values) = 0;
    /// One-dimensional tensors of one type, of any length on each rank; in rank order.
    virtual std::vector<at::Tensor> gather(const at::Tensor& mine) = 0;
    /// Bits that are set on any rank.
    virtual std::uint64_t agree(std::uint64_t mine) = 0;
    /// Makes tensors on all ranks what they are on rank 0.
    virtual void broadcast(const std::vector<at::Tensor>& tensors) = 0;
};

/// Sum of squares of each parameter's gradient, as the norm takes it; in the order of the storage's views.
std::vector<double> squaresByParameter(const FlatStorage& storage);
/// Norm of gradients that this process holds whole.
GradientNorm normOf(const FlatStorage& storage);

/// One process that holds everything. `sumsByTree`: adds micro-gradients up as ranks with the reduction tree do.
std::unique_ptr<Parallel> makeSingleProcess(bool sumsByTree = false);

/// A digest as gather() carries it: its low 53 bits, which a double holds exactly.
inline double digestValue(std::uint64_t digest) { return static_cast<double>(digest & ((std::uint64_t{1} << 53) - 1)); }

/// What each rank says, in rank order.
std::vector<std::string> gatherTexts(Parallel& parallel, const std::string& mine);

}  // namespace lathe::engine
