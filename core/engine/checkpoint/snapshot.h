// Memory that was made ready beforehand for a copy of the state: a save stops training for the time of one copy, and a
// checkpoint is written from here while training goes on.
// Thread: one at a time; touch() may run on another one before the first take().
#pragma once

#include "base/result.h"
#include "engine/train/train_state.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace lathe::engine {

class Snapshot {
public:
    /// Bytes of a copy of `parts`: of everything that an update can change.
    static std::uint64_t bytesFor(const std::vector<StatePart>& parts);
    /// Address space for a copy of `parts`; page-locked where they lie on a device. OutOfMemory, with a sentence, where it
    /// would take more than `available` bytes or the system refuses it.
    static Result<std::unique_ptr<Snapshot>> reserve(const std::vector<StatePart>& parts, std::uint64_t available);

    /// Makes its pages real, so that the first copy does not have to.
    void touch();
    bool fits(const std::vector<StatePart>& parts) const { return bytesFor(parts) <= m_memory.nbytes(); }
    /// Copies what an update can change and puts the copies in the place of the live tensors; frozen ones stay as they are.
    /// The copies are good until the next take(). Requires: fits().
    void take(std::vector<StatePart>& parts);

private:
    explicit Snapshot(at::Tensor memory) : m_memory(std::move(memory)) {}
    at::Tensor m_memory;   ///< bytes
};

}  // namespace lathe::engine
