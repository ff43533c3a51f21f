// Samples of a part as rows of tensors on the CPU.
// Thread: immutable; any number of threads may read.
#pragma once

#include "base/result.h"
#include "engine/data/batch.h"
#include "engine/data/run_data.h"

#include <cstdint>

namespace lathe::engine {

class PartReader {
public:
    PartReader(DataPart part, at::ScalarType dtype, bool augmentFlip, std::int64_t augmentShift, std::uint64_t seed);

    const DataPart& part() const { return m_part; }
    bool augments() const { return m_flip || m_shift > 0; }
    std::int64_t bytesPerSample() const;

    /// How inputs are kept: as numbers of the dtype, or as bytes v that stand for v / 255.
    enum class Storage { Numbers, PinnedNumbers, Bytes };
    /// An unfilled batch of `count` samples in main memory; pinned for a fast copy to a GPU.
    Batch allocate(std::int64_t count, Storage storage) const;
    /// Writes entry `entry` of the part into `row` of a batch from allocate(), ids included. Unsupported when the batch
    /// holds bytes and an input is not a multiple of 1 / 255.
    Result<void> read(std::int64_t entry, std::int64_t epoch, std::int64_t row, Batch& batch) const;

private:
    Result<void> readInput(std::int64_t sample, std::int64_t epoch, std::int64_t row, Batch& batch) const;
    template <typename Number>
    Result<void> readBytes(std::int64_t sample, std::uint8_t* out) const;

    DataPart m_part;
    at::ScalarType m_dtype;
    bool m_flip = false;  ///< pictures alone are augmented
    std::int64_t m_shift = 0;
    std::uint64_t m_seed;
    std::int64_t m_elements;
};

}  // namespace lathe::engine
