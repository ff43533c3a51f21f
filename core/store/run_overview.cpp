// What lists and charts ask first: answered from summaries, chunk headers and min/max levels.
#include "base/hash.h"
#include "store/run_reader_impl.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace lathe::store {
namespace {

using Stretch = RunReader::Impl::Stretch;
using Bucket = RunReader::Bucket;
using Detail = RunReader::Impl::Detail;
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

void include(Bucket& bucket, double minimum, double maximum) {
    if (!(bucket.minimum <= minimum)) bucket.minimum = minimum;
    if (!(bucket.maximum >= maximum)) bucket.maximum = maximum;
}

/// One bucket for each `size` points.
void appendBuckets(std::span<const Point> points, std::size_t size, std::vector<Bucket>& buckets) {
    for (std::size_t i = 0; i < points.size(); ++i) {
        const Point& point = points[i];
        if (i % size == 0) buckets.push_back({point.session, point.step, point.step, kNothing, kNothing, 0, 0});
        Bucket& bucket = buckets.back();
        bucket.lastStep = point.step;
        ++bucket.count;
        if (std::isfinite(point.value)) include(bucket, point.value, point.value);
        else ++bucket.nonFinite;
    }
}

Bucket bucketOf(const FoundChunk& chunk) {
    return {chunk.session, chunk.facts.firstStep, chunk.facts.lastStep, chunk.facts.minimum.value_or(kNothing),
            chunk.facts.maximum.value_or(kNothing), chunk.facts.n, chunk.facts.nonFinite};
}

/// Joins neighbours of one session so that about `wanted` remain.
std::vector<Bucket> join(std::span<const Bucket> fine, std::size_t wanted) {
    const std::size_t factor = (fine.size() + wanted - 1) / wanted;
    std::vector<Bucket> coarse;
    std::size_t taken = 0;
    for (const Bucket& bucket : fine) {
        if (coarse.empty() || coarse.back().session != bucket.session || taken == factor) {
            coarse.push_back(bucket);
            taken = 1;
            continue;
        }
        Bucket& into = coarse.back();
        into.lastStep = bucket.lastStep;
        into.count += bucket.count;
        into.nonFinite += bucket.nonFinite;
        if (bucket.count > bucket.nonFinite) include(into, bucket.minimum, bucket.maximum);
        ++taken;
    }
    return coarse;
}

ChunkFacts factsOf(std::span<const Point> points) {
    Axis axis;
    Values values;
    for (const Point& point : points) {
        axis.attempt.push_back(static_cast<std::uint64_t>(point.attempt));
        axis.step.push_back(static_cast<std::uint64_t>(point.step));
        values.present.push_back(1);
        values.bits.push_back(std::bit_cast<std::uint64_t>(point.value));
    }
    return factsOf(axis, values);
}

/// Of a whole series on the line, from the facts of each session, oldest first.
void fill(SeriesSummary& summary, const std::vector<ChunkFacts>& sessions) {
    ChunkFacts all;
    for (const ChunkFacts& facts : sessions) {
        all.lastAttempt = std::numeric_limits<std::int64_t>::min();  // a later session's last point is the later one
        merge(all, facts);
    }
    summary.points = all.n;
    summary.nonFinite = all.nonFinite;
    summary.minimum = all.minimum, summary.maximum = all.maximum;
    summary.minimumStep = all.minimumStep, summary.maximumStep = all.maximumStep;
    summary.lastStep = all.lastStep;
    if (all.n > 0) summary.last = std::bit_cast<double>(all.lastBits);
}

/// Facts of one session, one entry a series.
using SessionFacts = std::unordered_map<std::int64_t, ChunkFacts>;

Result<void> readSummaries(Database& db, std::map<std::int32_t, SessionFacts>& facts) {
    LATHE_TRY_ASSIGN(auto query, db.prepare(
        "SELECT series, session, n, non_finite, minimum, maximum, minimum_step, maximum_step, last_attempt, last_step, last_bits FROM summaries"));
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, query.step());
        if (!row) return {};
        const auto session = facts.find(static_cast<std::int32_t>(query.integer(1)));
        if (session == facts.end()) continue;  // a branch that was left
        ChunkFacts& of = session->second[query.integer(0)];
        of.n = query.integer(2), of.nonFinite = query.integer(3);
        of.minimum = query.optionalReal(4), of.maximum = query.optionalReal(5);
        of.minimumStep = query.integer(6), of.maximumStep = query.integer(7);
        of.lastAttempt = query.integer(8), of.lastStep = query.integer(9);
        of.lastBits = static_cast<std::uint64_t>(query.integer(10));
    }
}

}  // namespace

Result<ChunkFacts> RunReader::Impl::factsWithin(std::int64_t series, const Stretch& stretch) {
    ChunkFacts all;
    LATHE_TRY(visitChunks(series, stretch, Detail::Facts, [&](FoundChunk& chunk) -> Result<void> {
        if (chunk.facts.lastAttempt <= stretch.last) {
            merge(all, chunk.facts);
        } else if (chunk.facts.firstAttempt <= stretch.last) {
            std::vector<Point> points;
            LATHE_TRY(loadPoints(series, chunk, stretch, points));
            merge(all, factsOf(points));
        }
        return {};
    }));
    return all;
}

Result<std::vector<SeriesSummary>> RunReader::series() const {
    std::map<std::int64_t, SeriesSummary> all;
    std::vector<Stretch> line;
    std::map<std::int32_t, SessionFacts> facts;
    LATHE_TRY(m_impl->read([&](Database& db) -> Result<void> {
        LATHE_TRY(m_impl->refreshTails(db));
        LATHE_TRY_ASSIGN(line, m_impl->stretches(db, Line::Surviving));
        for (const Stretch& stretch : line) facts[stretch.session];
        LATHE_TRY_ASSIGN(auto names, db.prepare("SELECT id, name, unit FROM series"));
        while (true) {
            LATHE_TRY_ASSIGN(const bool row, names.step());
            if (!row) break;
            all[names.integer(0)].name = names.text(1);
            all[names.integer(0)].unit = names.text(2);
        }
        return readSummaries(db, facts);
    }));
    for (const Stretch& stretch : line) {
        for (auto& [series, of] : facts[stretch.session]) {
            if (of.lastAttempt <= stretch.last) continue;
            LATHE_TRY_ASSIGN(of, m_impl->factsWithin(series, stretch));
        }
        m_impl->visitTails(m_impl->closedRowsOf, [&](const RowGroup& group, std::size_t from) {
            if (group.session != stretch.session) return;
            for (const RowGroup::Column& column : group.columns) {
                std::vector<Point> points;
                appendPoints(group, from, column.series, stretch, points);
                merge(facts[stretch.session][column.series], factsOf(points));
            }
        });
    }
    std::vector<SeriesSummary> result;
    for (auto& [id, summary] : all) {
        std::vector<ChunkFacts> sessions;
        for (const Stretch& stretch : line) sessions.push_back(facts[stretch.session][id]);
        fill(summary, sessions);
        result.push_back(std::move(summary));
    }
    return result;
}

Result<std::vector<RunReader::Bucket>> RunReader::overview(const std::string& name, Line line, std::size_t wanted) const {
    std::optional<std::int64_t> series;
    std::vector<Stretch> stretches;
    LATHE_TRY(m_impl->read([&](Database& db) -> Result<void> {
        LATHE_TRY_ASSIGN(series, m_impl->seriesId(db, name));
        LATHE_TRY(m_impl->refreshTails(db));
        LATHE_TRY_ASSIGN(stretches, m_impl->stretches(db, line));
        return {};
    }));
    if (!series) return Error{ErrorCode::NotFound, m_impl->file.string() + " has no series " + name, {}, {}};
    wanted = std::max<std::size_t>(wanted, 1);
    std::size_t chunks = 0, points = 0;
    for (const Stretch& stretch : stretches) {
        LATHE_TRY(m_impl->visitChunks(*series, stretch, Detail::Facts, [&](FoundChunk& chunk) -> Result<void> {
            ++chunks;
            points += static_cast<std::size_t>(std::max<std::int64_t>(chunk.facts.n, 0));
            return {};
        }));
    }
    // The coarsest level that still has enough to join.
    const Detail detail = chunks >= wanted ? Detail::Facts : points / kBucketRows >= wanted ? Detail::Levels : Detail::Data;
    std::vector<Bucket> fine;
    for (const Stretch& stretch : stretches) LATHE_TRY(m_impl->appendOverview(*series, stretch, detail, fine));
    return join(fine, wanted);
}

Result<void> RunReader::Impl::appendOverview(std::int64_t series, const Stretch& stretch, Detail detail, std::vector<Bucket>& buckets) {
    const auto begin = static_cast<std::ptrdiff_t>(buckets.size());
    std::unordered_map<std::int64_t, std::int64_t> closed = closedRowsOf;
    const std::size_t size = detail == Detail::Data ? 1 : kBucketRows;
    std::vector<Point> points;
    LATHE_TRY(visitChunks(series, stretch, detail, [&](FoundChunk& chunk) -> Result<void> {
        std::int64_t& end = closed[chunk.group];
        end = std::max(end, chunk.firstRow + static_cast<std::int64_t>(chunk.rows));
        if (chunk.facts.firstAttempt > stretch.last) return {};
        points.clear();
        if (detail == Detail::Data) {
            LATHE_TRY(appendPoints(chunk, stretch, points));
        } else if (chunk.facts.lastAttempt > stretch.last) {
            LATHE_TRY(loadPoints(series, chunk, stretch, points));
        } else if (detail == Detail::Facts) {
            buckets.push_back(bucketOf(chunk));
        } else {
            LATHE_TRY(appendLevel(chunk, buckets));
        }
        appendBuckets(points, size, buckets);
        return {};
    }));
    points.clear();
    visitTails(closed, [&](const RowGroup& group, std::size_t from) { store::appendPoints(group, from, series, stretch, points); });
    appendBuckets(points, size, buckets);
    std::stable_sort(buckets.begin() + begin, buckets.end(), [](const Bucket& a, const Bucket& b) { return a.firstStep < b.firstStep; });
    return {};
}

Result<void> RunReader::Impl::appendLevel(const FoundChunk& chunk, std::vector<Bucket>& buckets) {
    const auto axis = codec.decodeAxisLevel(chunk.axisLevel, chunk.rows);
    const auto level = codec.decodeLevel(chunk.level, chunk.rows);
    if (!axis || !level) return damaged(chunk, "the overview");
    for (std::size_t i = 0; i < level->count.size(); ++i) {
        if (level->count[i] == 0) continue;
        buckets.push_back({chunk.session, static_cast<std::int64_t>(axis->firstStep[i]), static_cast<std::int64_t>(axis->lastStep[i]),
                           std::bit_cast<double>(level->minimum[i]), std::bit_cast<double>(level->maximum[i]),
                           static_cast<std::int64_t>(level->count[i]), static_cast<std::int64_t>(level->nonFinite[i])});
    }
    return {};
}

}  // namespace lathe::store
