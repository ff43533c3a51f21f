// How columns of numbers become bytes: a difference to the neighbour where that helps, then byte planes, each constant,
// raw or compressed. Exact for every bit pattern. Layouts in FORMAT.md.
// Thread: a Codec belongs to one thread; the rest are values and functions without shared state.
#pragma once

#include "base/bytes.h"
#include "base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace lathe::store {

constexpr std::size_t kChunkRows = 4096;   ///< rows of a closed chunk, at most
constexpr std::size_t kBucketRows = 64;    ///< rows of one bucket of the finer level

/// The place of each row: shared by all series that have values in it.
struct Axis {
    std::vector<std::uint64_t> attempt, step, activeNs, wallNs;  ///< two's complement
    std::size_t rows() const { return attempt.size(); }
};

/// Values of one series at the rows of an axis.
struct Values {
    std::vector<std::uint8_t> present;  ///< one a row, 0 or 1
    std::vector<std::uint64_t> bits;    ///< of the doubles, one for each present row
};

/// Minimum and maximum of finite values in each bucket of kBucketRows rows, of one series.
struct Level {
    std::vector<std::uint64_t> minimum, maximum;  ///< bits of doubles; NaN where no value is finite
    std::vector<std::uint64_t> count, nonFinite;
    bool operator==(const Level&) const = default;
};

/// First and last step in each bucket of rows, of one axis.
struct AxisLevel {
    std::vector<std::uint64_t> firstStep, lastStep;
    bool operator==(const AxisLevel&) const = default;
};

class Codec {
public:
    Codec();
    ~Codec();
    Codec(const Codec&) = delete;
    Codec& operator=(const Codec&) = delete;

    enum class Kind { Integers, Reals };
    /// At most 65,536 numbers.
    void putColumn(Bytes& out, std::span<const std::uint64_t> numbers, Kind kind);
    /// `count` is known from elsewhere; fails the reader where bytes and count do not fit.
    std::vector<std::uint64_t> getColumn(ByteReader& in, std::size_t count);

    Bytes encode(const Axis& axis);
    Bytes encode(const Values& values);
    Bytes encode(const Level& level);
    Bytes encode(const AxisLevel& level);
    /// Nothing where the bytes are not what `rows` rows encode to.
    std::optional<Axis> decodeAxis(std::span<const std::byte> bytes, std::size_t rows);
    std::optional<Values> decodeValues(std::span<const std::byte> bytes, std::size_t rows);
    std::optional<Level> decodeLevel(std::span<const std::byte> bytes, std::size_t rows);
    std::optional<AxisLevel> decodeAxisLevel(std::span<const std::byte> bytes, std::size_t rows);

private:
    void putPlanes(Bytes& out, std::span<const std::uint64_t> numbers);
    struct Contexts;
    std::unique_ptr<Contexts> m_contexts;
};

constexpr std::size_t bucketsOf(std::size_t rows) { return (rows + kBucketRows - 1) / kBucketRows; }

}  // namespace lathe::store
