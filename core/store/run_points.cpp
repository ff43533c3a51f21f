#include "base/hash.h"
#include "store/run_reader_impl.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

namespace lathe::store {
namespace {

/// Chunks a transaction: some 2 MB, a few milliseconds, far below the 100 ms that a statement may last.
constexpr std::int64_t sliceOf(RunReader::Impl::Detail detail) {
    switch (detail) {
    case RunReader::Impl::Detail::Facts: return 4096;
    case RunReader::Impl::Detail::Levels: return 1024;
    case RunReader::Impl::Detail::Data: break;
    }
    return 64;
}

std::string chunkQuery(RunReader::Impl::Detail detail) {
    using Detail = RunReader::Impl::Detail;
    std::string sql =
        "SELECT c.n, c.non_finite, c.first_attempt, c.last_attempt, c.first_step, c.last_step, c.minimum, c.maximum, "
        "c.minimum_step, c.maximum_step, c.first_bits, c.last_bits, c.checksum, a.id, a.row_group, a.first_row, a.n, a.checksum";
    if (detail != Detail::Facts) sql += ", al.data, cl.data";
    if (detail == Detail::Data) sql += ", ad.data, cd.data";
    sql += " FROM chunks c JOIN axes a ON a.id=c.axis";
    if (detail != Detail::Facts) sql += " JOIN axis_levels al ON al.id=c.axis JOIN chunk_levels cl ON cl.id=c.blob";
    if (detail == Detail::Data) sql += " JOIN axis_data ad ON ad.id=c.axis JOIN chunk_data cd ON cd.id=c.blob";
    return sql + " WHERE c.series=? AND c.session=? AND (c.last_attempt, c.axis) > (?,?) ORDER BY c.last_attempt, c.axis LIMIT ?";
}

FoundChunk chunkFrom(const Statement& row, std::int32_t session, RunReader::Impl::Detail detail) {
    FoundChunk chunk;
    chunk.session = session;
    ChunkFacts& facts = chunk.facts;
    facts.n = row.integer(0), facts.nonFinite = row.integer(1);
    facts.firstAttempt = row.integer(2), facts.lastAttempt = row.integer(3);
    facts.firstStep = row.integer(4), facts.lastStep = row.integer(5);
    facts.minimum = row.optionalReal(6), facts.maximum = row.optionalReal(7);
    facts.minimumStep = row.integer(8), facts.maximumStep = row.integer(9);
    facts.firstBits = static_cast<std::uint64_t>(row.integer(10)), facts.lastBits = static_cast<std::uint64_t>(row.integer(11));
    chunk.checksum = static_cast<std::uint64_t>(row.integer(12));
    chunk.axis = row.integer(13), chunk.group = row.integer(14), chunk.firstRow = row.integer(15);
    chunk.rows = static_cast<std::size_t>(row.integer(16));
    chunk.axisChecksum = static_cast<std::uint64_t>(row.integer(17));
    if (detail != RunReader::Impl::Detail::Facts) chunk.axisLevel = row.blob(18), chunk.level = row.blob(19);
    if (detail == RunReader::Impl::Detail::Data) chunk.axisData = row.blob(20), chunk.data = row.blob(21);
    return chunk;
}

}  // namespace

Error RunReader::Impl::damaged(const FoundChunk& chunk, std::string_view what) const {
    return {ErrorCode::Corrupt,
            file.string() + ": " + std::string(what) + " of session " + std::to_string(chunk.session) + ", attempts " +
                std::to_string(chunk.facts.firstAttempt) + " to " + std::to_string(chunk.facts.lastAttempt) +
                ", is damaged; the other points can still be read", {}, {}};
}

Result<void> RunReader::Impl::visitChunks(std::int64_t series, const Stretch& stretch, Detail detail,
                                          const std::function<Result<void>(FoundChunk&)>& visit) const {
    const std::int64_t slice = sliceOf(detail);
    std::int64_t lastAttempt = stretch.after, lastAxis = std::numeric_limits<std::int64_t>::max();
    while (true) {
        std::vector<FoundChunk> found;
        LATHE_TRY(read([&](Database& db) -> Result<void> {
            LATHE_TRY_ASSIGN(auto query, db.prepare(chunkQuery(detail)));
            query.bind(series, stretch.session, lastAttempt, lastAxis, slice);
            while (true) {
                LATHE_TRY_ASSIGN(const bool row, query.step());
                if (!row) return {};
                found.push_back(chunkFrom(query, stretch.session, detail));
            }
        }));
        for (FoundChunk& chunk : found) {
            if (chunk.rows > kChunkRows) return damaged(chunk, "a chunk");
            lastAttempt = chunk.facts.lastAttempt;
            lastAxis = chunk.axis;
            LATHE_TRY(visit(chunk));
        }
        if (static_cast<std::int64_t>(found.size()) < slice) return {};
    }
}

void appendPoints(const RowGroup& group, std::size_t from, std::int64_t series, const RunReader::Impl::Stretch& stretch,
                  std::vector<Point>& points) {
    if (group.session != stretch.session) return;
    for (const RowGroup::Column& column : group.columns) {
        if (column.series != series) continue;
        std::size_t at = 0;
        for (std::size_t row = 0; row < column.values.present.size(); ++row) {
            if (column.values.present[row] == 0) continue;
            const std::uint64_t bits = column.values.bits[at++];
            const auto attempt = static_cast<std::int64_t>(group.axis.attempt[row]);
            if (row < from || attempt <= stretch.after || attempt > stretch.last) continue;
            points.push_back({group.session, attempt, static_cast<std::int64_t>(group.axis.step[row]),
                              static_cast<std::int64_t>(group.axis.activeNs[row]), static_cast<std::int64_t>(group.axis.wallNs[row]),
                              std::bit_cast<double>(bits)});
        }
    }
}

Result<void> RunReader::Impl::appendPoints(const FoundChunk& chunk, const Stretch& stretch, std::vector<Point>& points) {
    if (chunk.facts.firstAttempt > stretch.last) return {};
    if (hash64(chunk.axisData, hash64(chunk.axisLevel)) != chunk.axisChecksum) return damaged(chunk, "the axis");
    if (hash64(chunk.data, hash64(chunk.level)) != chunk.checksum) return damaged(chunk, "a chunk");
    auto axis = codec.decodeAxis(chunk.axisData, chunk.rows);
    auto values = codec.decodeValues(chunk.data, chunk.rows);
    if (!axis || !values) return damaged(chunk, "a chunk");
    RowGroup rows;
    rows.session = chunk.session;
    rows.axis = std::move(*axis);
    rows.columns.push_back({0, std::move(*values)});
    store::appendPoints(rows, 0, 0, stretch, points);
    return {};
}

Result<void> RunReader::Impl::loadPoints(std::int64_t series, const FoundChunk& chunk, const Stretch& stretch, std::vector<Point>& points) {
    const Stretch around{stretch.session, chunk.facts.lastAttempt - 1, chunk.facts.lastAttempt};
    return visitChunks(series, around, Detail::Data, [&](FoundChunk& found) -> Result<void> {
        return found.axis == chunk.axis ? appendPoints(found, stretch, points) : Result<void>();
    });
}

Result<std::vector<Point>> RunReader::Impl::pointsOf(std::int64_t series, const std::vector<Stretch>& stretchesOf) {
    std::vector<Point> points;
    const auto isEarlier = [](const Point& a, const Point& b) { return a.attempt < b.attempt; };
    for (const Stretch& stretch : stretchesOf) {
        const auto begin = static_cast<std::ptrdiff_t>(points.size());
        // Tails were read before: what closed since then is in both, told apart by row number.
        std::unordered_map<std::int64_t, std::int64_t> closed = closedRowsOf;
        LATHE_TRY(visitChunks(series, stretch, Detail::Data, [&](FoundChunk& chunk) {
            std::int64_t& end = closed[chunk.group];
            end = std::max(end, chunk.firstRow + static_cast<std::int64_t>(chunk.rows));
            return appendPoints(chunk, stretch, points);
        }));
        visitTails(closed, [&](const RowGroup& group, std::size_t from) { store::appendPoints(group, from, series, stretch, points); });
        if (!std::is_sorted(points.begin() + begin, points.end(), isEarlier)) std::stable_sort(points.begin() + begin, points.end(), isEarlier);
    }
    return points;
}

Result<std::vector<Point>> RunReader::points(const std::string& name, Line line, std::int32_t afterSession, std::int64_t afterAttempt) const {
    std::optional<std::int64_t> series;
    std::vector<Impl::Stretch> wanted;
    LATHE_TRY(m_impl->read([&](Database& db) -> Result<void> {
        LATHE_TRY_ASSIGN(series, m_impl->seriesId(db, name));
        LATHE_TRY(m_impl->refreshTails(db));
        LATHE_TRY_ASSIGN(wanted, m_impl->stretches(db, line));
        return {};
    }));
    if (!series) return Error{ErrorCode::NotFound, m_impl->file.string() + " has no series " + name, {}, {}};
    std::erase_if(wanted, [&](const Impl::Stretch& stretch) { return stretch.session < afterSession; });
    for (Impl::Stretch& stretch : wanted)
        if (stretch.session == afterSession) stretch.after = afterAttempt;
    return m_impl->pointsOf(*series, wanted);
}

}  // namespace lathe::store
