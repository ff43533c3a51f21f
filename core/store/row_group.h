// Points of one run that are not in a closed chunk yet: rows of series that are written together, and their form in
// tail blobs and in chunks. Layouts in FORMAT.md.
// Thread: plain values; one thread at a time.
#pragma once

#include "store/codec.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lathe::store {

/// Series that came together in a frame share their rows (attempt, step, times), so that those are kept once.
/// A series belongs to one group of its session and ring; a row may leave some of its series out.
struct RowGroup {
    struct Column {
        std::int64_t series = 0;   ///< id in the database
        Values values;
    };
    std::int64_t id = 0;           ///< unique in the database
    std::int32_t session = 0;
    std::int64_t firstRow = 0;     ///< number of the first row held here; rows before it are in closed chunks
    std::size_t durableRows = 0;   ///< of the rows held here, those that lie in tails already
    bool sealed = false;           ///< gets no more rows: the next flush closes what is left
    Axis axis;
    std::vector<Column> columns;

    std::int64_t endRow() const { return firstRow + static_cast<std::int64_t>(axis.rows()); }
    /// Drops the first rows.
    void forgetFront(std::size_t rows);
};

/// Some rows of a group, copied out.
RowGroup slice(const RowGroup& group, std::size_t from, std::size_t to);
/// Appends the rows of `part`, which begin where `group` ends and have the same columns.
void append(RowGroup& group, const RowGroup& part);

/// The rows that one flush adds, of all groups.
Bytes encodeTail(Codec& codec, std::span<const RowGroup> parts);
/// Nothing where the bytes are not a tail.
std::optional<std::vector<RowGroup>> decodeTail(Codec& codec, std::span<const std::byte> bytes);

/// The header of a chunk: facts about the values of one series at the rows of an axis.
struct ChunkFacts {
    std::int64_t n = 0, nonFinite = 0;
    std::int64_t firstAttempt = 0, lastAttempt = 0, firstStep = 0, lastStep = 0;
    std::optional<double> minimum, maximum;
    std::int64_t minimumStep = 0, maximumStep = 0;
    std::uint64_t firstBits = 0, lastBits = 0;

    bool operator==(const ChunkFacts&) const = default;
};
/// Takes in what comes later (or beside it in the same session).
void merge(ChunkFacts& facts, const ChunkFacts& more);
ChunkFacts factsOf(const Axis& axis, const Values& values);
Level levelOf(const Values& values);
AxisLevel levelOf(const Axis& axis);

}  // namespace lathe::store
