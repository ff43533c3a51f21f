// run.sqlite of one run: sessions, series, points, events, checkpoints. The only code that calls sqlite3 together with
// the history index. Schema and blob layouts in FORMAT.md.
//
// Points are kept in chunks of about 4,096, one row each, compressed, with min/max levels; what is not yet a whole chunk
// lies in tail blobs, one a flush for all series together. No point is ever thinned.
// Thread: a RunWriter or RunReader belongs to one thread. One writer a file (the holder of the run's lock); any readers.
#pragma once

#include "base/counters.h"
#include "base/result.h"
#include "live/frame.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace lathe::store {

struct Point {
    std::int32_t session = 0;
    std::int64_t attempt = 0;
    std::int64_t step = 0;
    std::int64_t activeNs = 0;
    std::int64_t wallNs = 0;
    double value = 0;
};

struct SeriesSummary {
    std::string name, unit;
    std::int64_t points = 0;        ///< on the surviving line
    std::int64_t nonFinite = 0;
    std::optional<double> last, minimum, maximum;  ///< of finite values; last may be non-finite
    std::int64_t lastStep = 0, minimumStep = 0, maximumStep = 0;
};

struct SessionRow {
    std::int32_t number = 0;
    std::int32_t parentSession = 0;     ///< 0: none
    std::int64_t parentAttempt = 0;     ///< points of the parent up to and including this attempt belong to this line
    std::string verb;                   ///< as in sessions/N.json
    std::int64_t startedNs = 0, endedNs = 0;
    std::int64_t firstStep = 0, lastStep = 0;
    std::string end;                    ///< state word, empty while it runs
    std::string why;
};

struct EventRow {
    std::int64_t id = 0;                ///< grows with each event of the run
    live::EventFrame event;
};

struct RecordRow {
    std::int64_t id = 0;                ///< grows with each record of the run
    live::RecordFrame record;
};

/// The records of one name.
struct RecordSummary {
    live::FrameType type = live::FrameType::Text;
    std::string name;
    std::int64_t count = 0, firstStep = 0, lastStep = 0;  ///< smallest and largest step
    std::int64_t newestId = 0;
};

/// Where a record stands; what it says is read by its id.
struct RecordPlace {
    std::int64_t id = 0;
    std::int32_t session = 0;
    std::int64_t step = 0, wallNs = 0;
};

struct CheckpointRow {
    std::string folder;                 ///< "s003-000000120"
    std::int32_t session = 0;
    std::int64_t attempt = 0, step = 0, wallNs = 0;
    std::uint64_t bytes = 0;
    bool isBest = false, deleted = false;
    std::string metricsJson;            ///< {"eval/loss": "0.12", …} exact text
};

class RunWriter {
public:
    /// Opens or creates; migrates an older version; Version error for a newer one.
    static Result<std::unique_ptr<RunWriter>> open(const std::filesystem::path& file, bool networkFileSystem = false);
    ~RunWriter();

    Result<void> beginSession(const SessionRow& row);
    /// Writes down how it ended before the last points are stored: little room is enough for that.
    Result<void> bookEnd(const SessionRow& row);
    /// Flushes, closes all chunks, books the end and turns WAL back into one plain file (unless somebody keeps reading).
    Result<void> endSession(const SessionRow& row);

    /// Takes one frame of a ring into memory; doubles (sequence <= taken so far) are ignored, so a frame can be offered
    /// twice. Frames of a ring must come in order: what was spilled before what is newer. A frame that cannot be decoded
    /// is logged and left out; a value whose series was never declared is kept as "unnamed/ring<r>/<id>".
    void take(int ring, std::int32_t session, std::uint64_t sequence, live::FrameType type, std::span<const std::byte> payload);
    /// Points and events taken so far become durable in one transaction; also stores the last sequence of each ring.
    /// After an error the data stay in memory and the next flush tries again. Waits at most a second for other programs.
    Result<void> flush();
    /// Last sequence number of a ring and session that is durable.
    std::uint64_t recordedSequence(int ring, std::int32_t session) const;
    std::size_t pendingBytes() const;  ///< of frames taken and not durable

    Result<void> addCheckpoint(const CheckpointRow& row);
    /// `deleted` false: it was brought back.
    Result<void> markCheckpointDeleted(const std::string& folder, bool deleted = true);
    /// Of all: those whose folders are not among these. What could not be marked since another program held the file is by the
    /// next call.
    Result<void> markDeletedBut(const std::set<std::string>& there);
    Result<void> markBest(const std::string& folder);
    /// A small fact by name, stored by the next flush together with what was taken until then: all of it or nothing.
    void stageFact(const std::string& name, const std::string& value);
    /// The next flush closes all rows that are open, as shorter chunks; bounds memory where very many series are alive.
    void closeRows();
    /// What was taken and is not durable is given up: nothing but bookEnd() writes any more. (Else the end of this object
    /// tries once more to keep it.)
    void giveUp();

    struct Impl;
    explicit RunWriter(std::unique_ptr<Impl> impl);

private:
    std::unique_ptr<Impl> m_impl;
};

class RunReader {
public:
    /// Read-only; works while a writer is active and on read-only media. Holds nothing open between calls, but for the life
    /// of what keepOpen() gave.
    static Result<std::unique_ptr<RunReader>> open(const std::filesystem::path& file);
    ~RunReader();
    /// For many calls in a row (thousands of series): one connection serves them. Short: meanwhile the writer cannot turn
    /// its write-ahead log back into one plain file.
    std::shared_ptr<void> keepOpen() const;

    Result<std::vector<SessionRow>> sessions() const;
    Result<std::vector<SeriesSummary>> series() const;
    enum class Line { Surviving, All };
    /// Every point of a series, in order of (session, attempt); of the surviving line, or of all branches.
    /// `afterSession`/`afterAttempt`: only those of later sessions, and of later attempts in that session.
    /// (Where a series has several points an attempt, ask from one attempt earlier and tell them apart by wallNs.)
    Result<std::vector<Point>> points(const std::string& name, Line line, std::int32_t afterSession = 0, std::int64_t afterAttempt = -1) const;
    /// What a chart needs first: (step, min, max) over buckets, at most about `buckets` of them, from the stored levels.
    /// Minimum and maximum are of finite values, NaN where a bucket has none.
    struct Bucket {
        std::int32_t session = 0;
        std::int64_t firstStep = 0, lastStep = 0;
        double minimum = 0, maximum = 0;
        std::int64_t count = 0, nonFinite = 0;
    };
    Result<std::vector<Bucket>> overview(const std::string& name, Line line, std::size_t buckets) const;
    Result<std::vector<EventRow>> events(std::int64_t afterId = 0, std::size_t limit = 10000) const;
    /// What a program logged beside its curves: one entry a type and name. `afterId`: only what came after that record.
    Result<std::vector<RecordSummary>> recordNames(std::int64_t afterId = 0) const;
    /// The records of a type and name, oldest first.
    Result<std::vector<RecordRow>> records(live::FrameType type, const std::string& name, std::int64_t afterId = 0, std::size_t limit = 1000) const;
    /// The same without what they say: costs the same for texts and for large tables.
    Result<std::vector<RecordPlace>> recordPlaces(live::FrameType type, const std::string& name, std::int64_t afterId = 0, std::size_t limit = 10000) const;
    Result<std::optional<RecordRow>> record(std::int64_t id) const;
    /// The newest record of each name of a type.
    Result<std::vector<RecordRow>> newestRecords(live::FrameType type) const;
    Result<std::vector<CheckpointRow>> checkpoints() const;
    /// Of the updates of a session after an attempt, the first `limit` that have one, without gaps.
    Result<std::vector<live::DigestFrame>> digests(std::int32_t session, std::int64_t afterAttempt, std::size_t limit) const;
    Result<std::optional<std::string>> fact(const std::string& name) const;  ///< see RunWriter::stageFact
    std::uint64_t recordedSequence(int ring, std::int32_t session) const;
    /// What the series ids in a session's rings mean, for readers that come when a declaration was overwritten already.
    struct RingName {
        int ring = 0;
        std::uint16_t id = 0;
        std::string name, unit;
    };
    Result<std::vector<RingName>> ringNames(std::int32_t session) const;
    /// quick_check plus the checksum of every chunk; the sentence names the first bad place.
    Result<void> verify() const;

    struct Impl;
    explicit RunReader(std::unique_ptr<Impl> impl);

private:
    std::unique_ptr<Impl> m_impl;
};

/// Sessions of the surviving line, newest first, with the last attempt of each that belongs to it.
struct LinePart {
    std::int32_t session = 0;
    std::int64_t lastAttempt = 0;  ///< inclusive; int64 max for the newest session
};
std::vector<LinePart> survivingLine(const std::vector<SessionRow>& sessions);

}  // namespace lathe::store
