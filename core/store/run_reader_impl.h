// Inside of RunReader: short connections, tails kept between calls, chunks read in slices.
#pragma once

#include "store/chunk_writer.h"
#include "store/codec.h"
#include "store/row_group.h"
#include "store/run_store.h"
#include "store/sqlite.h"

#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>

namespace lathe::store {

/// One closed chunk with what is needed to know whether to decode it.
struct FoundChunk {
    ChunkFacts facts;
    std::int64_t axis = 0, group = 0, firstRow = 0;
    std::size_t rows = 0;
    std::uint64_t axisChecksum = 0, checksum = 0;
    std::int32_t session = 0;
    Bytes axisLevel, axisData, level, data;  ///< as far as asked for
};

struct RunReader::Impl {
    /// A stretch of one session: attempts after `after`, up to and including `last`.
    struct Stretch {
        std::int32_t session = 0;
        std::int64_t after = std::numeric_limits<std::int64_t>::min();
        std::int64_t last = std::numeric_limits<std::int64_t>::max();
    };
    enum class Detail { Facts, Levels, Data };

    ~Impl();
    std::filesystem::path file;     ///< as asked for
    std::filesystem::path opened;   ///< the file itself, or a copy in `temporary`
    std::filesystem::path temporary;
    Database::Access access = Database::Access::ReadOnly;
    Codec codec;
    std::map<std::int64_t, std::vector<RowGroup>> tails;            ///< by id; a tail never changes
    std::unordered_map<std::int64_t, std::int64_t> closedRowsOf;    ///< of groups in `tails`, when they were last refreshed

    Result<void> choose();
    Result<void> copyAside();
    Result<Database> connect() const;
    mutable std::weak_ptr<Database> kept;   ///< of keepOpen()
    /// One connection, one short read transaction. No connection outlives a call: an open one would keep the writer
    /// from turning its write-ahead log back into one plain file.
    Result<void> read(const std::function<Result<void>(Database&)>& work) const;

    Result<std::vector<SessionRow>> sessions(Database& db) const;
    /// Rows of `records` that fulfil `where` (SQL); none in a database older than that table.
    template <typename... Values>
    Result<std::vector<RecordRow>> records(const char* where, const Values&... values) const;
    Result<std::optional<std::int64_t>> seriesId(Database& db, const std::string& name) const;
    /// Oldest first.
    Result<std::vector<Stretch>> stretches(Database& db, Line line) const;
    Result<void> refreshTails(Database& db);
    /// Rows of tails that are in no closed chunk: `visit(group, firstNewRow)`.
    void visitTails(const std::unordered_map<std::int64_t, std::int64_t>& closed,
                    const std::function<void(const RowGroup&, std::size_t)>& visit) const;
    /// The chunks of a series in a stretch, in slices of short duration, outside any transaction of the caller.
    Result<void> visitChunks(std::int64_t series, const Stretch& stretch, Detail detail,
                             const std::function<Result<void>(FoundChunk&)>& visit) const;
    /// Appends the points of a chunk within the stretch.
    Result<void> appendPoints(const FoundChunk& chunk, const Stretch& stretch, std::vector<Point>& points);
    /// The same for a chunk found without its data.
    Result<void> loadPoints(std::int64_t series, const FoundChunk& chunk, const Stretch& stretch, std::vector<Point>& points);
    Result<std::vector<Point>> pointsOf(std::int64_t series, const std::vector<Stretch>& stretches);
    Result<void> appendOverview(std::int64_t series, const Stretch& stretch, Detail detail, std::vector<Bucket>& buckets);
    Result<void> appendLevel(const FoundChunk& chunk, std::vector<Bucket>& buckets);
    Result<void> verifyChunk(const FoundChunk& chunk, const std::string& name);
    /// Facts of the closed chunks within a stretch whose session is only partly on the line.
    Result<ChunkFacts> factsWithin(std::int64_t series, const Stretch& stretch);
    Error damaged(const FoundChunk& chunk, std::string_view what) const;
};

/// Appends the values of `series` in rows [from, …) of a group that lie within the stretch.
void appendPoints(const RowGroup& group, std::size_t from, std::int64_t series, const RunReader::Impl::Stretch& stretch,
                  std::vector<Point>& points);

}  // namespace lathe::store
