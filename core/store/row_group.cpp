#include "store/row_group.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace lathe::store {
namespace {

constexpr std::uint32_t kTailMagic = 0x4c494154;  // "TAIL"
constexpr std::size_t kMostDecoded = 16u << 20;  ///< numbers in one tail, so that a bad one cannot exhaust memory

std::size_t countPresent(const Values& values, std::size_t from, std::size_t to) {
    return static_cast<std::size_t>(std::count(values.present.begin() + static_cast<std::ptrdiff_t>(from),
                                               values.present.begin() + static_cast<std::ptrdiff_t>(to), 1));
}

constexpr std::int64_t kMostRowNumber = std::int64_t{1} << 60;

template <typename T>
std::vector<T> part(const std::vector<T>& all, std::size_t from, std::size_t to) {
    return {all.begin() + static_cast<std::ptrdiff_t>(from), all.begin() + static_cast<std::ptrdiff_t>(to)};
}

template <typename T>
void eraseFront(std::vector<T>& all, std::size_t count) {
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
}

template <typename T>
void extend(std::vector<T>& all, const std::vector<T>& more) {
    all.insert(all.end(), more.begin(), more.end());
}

void putSized(Bytes& out, const Bytes& bytes) {
    put(out, static_cast<std::uint32_t>(bytes.size()));
    putBytes(out, bytes);
}

std::optional<RowGroup> decodePart(Codec& codec, ByteReader& in, std::size_t& budget) {
    RowGroup group;
    group.id = in.get<std::int64_t>();
    group.session = in.get<std::int32_t>();
    group.firstRow = in.get<std::int64_t>();
    const std::size_t rows = in.get<std::uint32_t>();
    const std::size_t series = in.get<std::uint32_t>();
    if (!in.ok() || rows == 0 || rows > kChunkRows || series > in.left() / sizeof(std::int64_t)) return std::nullopt;
    if (group.firstRow < 0 || group.firstRow > kMostRowNumber || rows * (series + 4) > budget) return std::nullopt;
    budget -= rows * (series + 4);
    group.columns.resize(series);
    for (RowGroup::Column& column : group.columns) column.series = in.get<std::int64_t>();
    auto axis = codec.decodeAxis(in.take(in.get<std::uint32_t>()), rows);
    if (!axis) return std::nullopt;
    group.axis = std::move(*axis);
    for (RowGroup::Column& column : group.columns) {
        auto values = codec.decodeValues(in.take(in.get<std::uint32_t>()), rows);
        if (!values) return std::nullopt;
        column.values = std::move(*values);
    }
    return group;
}

}  // namespace

void RowGroup::forgetFront(std::size_t rows) {
    for (Column& column : columns) {
        eraseFront(column.values.bits, countPresent(column.values, 0, rows));
        eraseFront(column.values.present, rows);
    }
    for (auto* numbers : {&axis.attempt, &axis.step, &axis.activeNs, &axis.wallNs}) eraseFront(*numbers, rows);
    firstRow += static_cast<std::int64_t>(rows);
    durableRows = durableRows > rows ? durableRows - rows : 0;
}

RowGroup slice(const RowGroup& group, std::size_t from, std::size_t to) {
    RowGroup out;
    out.id = group.id;
    out.session = group.session;
    out.firstRow = group.firstRow + static_cast<std::int64_t>(from);
    out.axis = {part(group.axis.attempt, from, to), part(group.axis.step, from, to), part(group.axis.activeNs, from, to),
                part(group.axis.wallNs, from, to)};
    for (const RowGroup::Column& column : group.columns) {
        const std::size_t before = countPresent(column.values, 0, from);
        const std::size_t count = countPresent(column.values, from, to);
        out.columns.push_back({column.series, {part(column.values.present, from, to), part(column.values.bits, before, before + count)}});
    }
    return out;
}

void append(RowGroup& group, const RowGroup& more) {
    LATHE_ASSERT(more.firstRow == group.endRow() && more.columns.size() == group.columns.size());
    extend(group.axis.attempt, more.axis.attempt);
    extend(group.axis.step, more.axis.step);
    extend(group.axis.activeNs, more.axis.activeNs);
    extend(group.axis.wallNs, more.axis.wallNs);
    for (std::size_t i = 0; i < group.columns.size(); ++i) {
        extend(group.columns[i].values.present, more.columns[i].values.present);
        extend(group.columns[i].values.bits, more.columns[i].values.bits);
    }
}

Bytes encodeTail(Codec& codec, std::span<const RowGroup> parts) {
    Bytes out;
    put(out, kTailMagic);
    put(out, static_cast<std::uint32_t>(parts.size()));
    for (const RowGroup& group : parts) {
        put(out, group.id);
        put(out, group.session);
        put(out, group.firstRow);
        put(out, static_cast<std::uint32_t>(group.axis.rows()));
        put(out, static_cast<std::uint32_t>(group.columns.size()));
        for (const RowGroup::Column& column : group.columns) put(out, column.series);
        putSized(out, codec.encode(group.axis));
        for (const RowGroup::Column& column : group.columns) putSized(out, codec.encode(column.values));
    }
    return out;
}

std::optional<std::vector<RowGroup>> decodeTail(Codec& codec, std::span<const std::byte> bytes) {
    ByteReader in(bytes);
    const auto magic = in.get<std::uint32_t>();
    const auto count = in.get<std::uint32_t>();
    if (!in.ok() || magic != kTailMagic) return std::nullopt;
    std::vector<RowGroup> groups;
    std::size_t budget = kMostDecoded;
    for (std::uint32_t i = 0; i < count; ++i) {
        auto group = decodePart(codec, in, budget);
        if (!group) return std::nullopt;
        groups.push_back(std::move(*group));
    }
    if (!in.finished()) return std::nullopt;
    return groups;
}

ChunkFacts factsOf(const Axis& axis, const Values& values) {
    ChunkFacts facts;
    std::size_t at = 0;
    for (std::size_t row = 0; row < values.present.size(); ++row) {
        if (values.present[row] == 0) continue;
        const std::uint64_t bits = values.bits[at++];
        const auto value = std::bit_cast<double>(bits);
        const auto step = static_cast<std::int64_t>(axis.step[row]);
        const auto attempt = static_cast<std::int64_t>(axis.attempt[row]);
        if (facts.n++ == 0) {
            facts.firstAttempt = facts.lastAttempt = attempt;
            facts.firstStep = step;
            facts.firstBits = bits;
        }
        facts.firstAttempt = std::min(facts.firstAttempt, attempt);
        facts.lastAttempt = std::max(facts.lastAttempt, attempt);
        facts.lastStep = step;
        facts.lastBits = bits;
        if (!std::isfinite(value)) {
            ++facts.nonFinite;
            continue;
        }
        if (!facts.minimum || value < *facts.minimum) facts.minimum = value, facts.minimumStep = step;
        if (!facts.maximum || value > *facts.maximum) facts.maximum = value, facts.maximumStep = step;
    }
    return facts;
}

void merge(ChunkFacts& facts, const ChunkFacts& more) {
    if (more.n == 0) return;
    if (facts.n == 0) {
        facts = more;
        return;
    }
    facts.n += more.n;
    facts.nonFinite += more.nonFinite;
    facts.firstAttempt = std::min(facts.firstAttempt, more.firstAttempt);
    if (more.lastAttempt >= facts.lastAttempt) {
        facts.lastAttempt = more.lastAttempt;
        facts.lastStep = more.lastStep;
        facts.lastBits = more.lastBits;
    }
    if (more.minimum && (!facts.minimum || *more.minimum < *facts.minimum)) {
        facts.minimum = more.minimum;
        facts.minimumStep = more.minimumStep;
    }
    if (more.maximum && (!facts.maximum || *more.maximum > *facts.maximum)) {
        facts.maximum = more.maximum;
        facts.maximumStep = more.maximumStep;
    }
}

Level levelOf(const Values& values) {
    const std::size_t buckets = bucketsOf(values.present.size());
    const auto none = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN());
    Level level{std::vector(buckets, none), std::vector(buckets, none), std::vector<std::uint64_t>(buckets), std::vector<std::uint64_t>(buckets)};
    std::size_t at = 0;
    for (std::size_t row = 0; row < values.present.size(); ++row) {
        if (values.present[row] == 0) continue;
        const std::size_t bucket = row / kBucketRows;
        const auto value = std::bit_cast<double>(values.bits[at]);
        ++level.count[bucket];
        if (!std::isfinite(value)) {
            ++level.nonFinite[bucket];
        } else {
            // Not (a >= b), so that the NaN of an empty bucket gives way.
            if (!(std::bit_cast<double>(level.minimum[bucket]) <= value)) level.minimum[bucket] = values.bits[at];
            if (!(std::bit_cast<double>(level.maximum[bucket]) >= value)) level.maximum[bucket] = values.bits[at];
        }
        ++at;
    }
    return level;
}

AxisLevel levelOf(const Axis& axis) {
    AxisLevel level;
    for (std::size_t row = 0; row < axis.rows(); row += kBucketRows) {
        level.firstStep.push_back(axis.step[row]);
        level.lastStep.push_back(axis.step[std::min(row + kBucketRows, axis.rows()) - 1]);
    }
    return level;
}

}  // namespace lathe::store
