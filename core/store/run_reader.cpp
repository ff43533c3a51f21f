#include "base/file_system.h"
#include "base/hash.h"
#include "base/log.h"
#include "store/run_reader_impl.h"
#include "store/schema.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace lathe::store {
namespace {

namespace stdfs = std::filesystem;
constexpr int kReadBusyMs = 2000;

bool isDecided(const Error& error) {
    return error.code == ErrorCode::Version || error.code == ErrorCode::Corrupt || error.code == ErrorCode::Busy;
}

bool hasBytes(const stdfs::path& file) {
    std::error_code problem;
    const auto bytes = stdfs::file_size(file, problem);
    return !problem && bytes > 0;
}

}  // namespace

RunReader::Impl::~Impl() {
    if (!temporary.empty()) static_cast<void>(removeTree(FileSystem::real(), temporary));
}

/// Folders in which nothing can be created: SQLite cannot make the shared memory of a write-ahead log there.
Result<void> RunReader::Impl::choose() {
    opened = file;
    if (::access(file.c_str(), R_OK) != 0) return fileError("open", file.native(), errno);
    const auto works = [this]() -> Result<void> {
        LATHE_TRY_ASSIGN(auto db, connect());
        return checkRunDatabase(db, file);
    };
    auto plain = works();
    if (plain.ok() || isDecided(plain.error())) return plain;
    if (hasBytes(file.string() + "-journal")) {  // somebody died in the middle of a change: SQLite takes it back before anything is read
        const auto whole = Database::open(file, Database::Access::ReadWrite, kReadBusyMs);
        if (whole.ok() && works().ok()) return {};
        if (!copyAside().ok()) return plain;
        return works();
    }
    if (!hasBytes(file.string() + "-wal")) {
        access = Database::Access::Immutable;
        return works();
    }
    if (!copyAside().ok()) return plain;
    return works();
}

/// A killed run on read-only media: its last points are in the write-ahead log, or a change that was not finished is in the
/// journal, and only a writable copy can be read with them.
Result<void> RunReader::Impl::copyAside() {
    std::string pattern = (stdfs::temp_directory_path() / "lathe-read-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) return fileError("create folder", pattern, errno);
    temporary = pattern;
    opened = temporary / "run.sqlite";
    access = Database::Access::ReadWrite;
    std::error_code problem;
    stdfs::copy_file(file, opened, problem);
    for (const char* ending : {"-wal", "-journal"})
        if (!problem && hasBytes(file.string() + ending)) stdfs::copy_file(file.string() + ending, opened.string() + ending, problem);
    for (const char* ending : {"", "-wal", "-journal"})
        if (!problem && stdfs::exists(opened.string() + ending)) stdfs::permissions(opened.string() + ending, stdfs::perms::owner_read | stdfs::perms::owner_write, problem);
    if (problem) return fileError("copy", file.native(), problem.value());
    return {};
}

Result<Database> RunReader::Impl::connect() const { return Database::open(opened, access, kReadBusyMs); }

static Result<void> readIn(Database& db, const std::function<Result<void>(Database&)>& work) {
    LATHE_TRY_ASSIGN(auto transaction, Transaction::begin(db, false));
    LATHE_TRY(work(db));
    return transaction.commit();
}

Result<void> RunReader::Impl::read(const std::function<Result<void>(Database&)>& work) const {
    if (const auto open = kept.lock()) return readIn(*open, work);
    LATHE_TRY_ASSIGN(auto db, connect());
    return readIn(db, work);
}

Result<std::vector<SessionRow>> RunReader::Impl::sessions(Database& db) const {
    std::vector<SessionRow> rows;
    LATHE_TRY_ASSIGN(auto query, db.prepare(
        "SELECT number, parent_session, parent_attempt, verb, started_ns, ended_ns, first_step, last_step, ending, why "
        "FROM sessions ORDER BY number"));
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, query.step());
        if (!row) return rows;
        SessionRow session;
        session.number = static_cast<std::int32_t>(query.integer(0));
        session.parentSession = static_cast<std::int32_t>(query.integer(1));
        session.parentAttempt = query.integer(2);
        session.verb = query.text(3);
        session.startedNs = query.integer(4), session.endedNs = query.integer(5);
        session.firstStep = query.integer(6), session.lastStep = query.integer(7);
        session.end = query.text(8), session.why = query.text(9);
        rows.push_back(std::move(session));
    }
}

Result<std::optional<std::int64_t>> RunReader::Impl::seriesId(Database& db, const std::string& name) const {
    LATHE_TRY_ASSIGN(auto query, db.prepare("SELECT id FROM series WHERE name=?"));
    LATHE_TRY_ASSIGN(const bool row, query.bind(name).step());
    return row ? std::optional(query.integer(0)) : std::nullopt;
}

Result<std::vector<RunReader::Impl::Stretch>> RunReader::Impl::stretches(Database& db, Line line) const {
    LATHE_TRY_ASSIGN(const auto rows, sessions(db));
    std::vector<Stretch> result;
    if (line == Line::Surviving) {
        for (const LinePart& part : survivingLine(rows)) result.push_back({part.session, Stretch{}.after, part.lastAttempt});
        std::reverse(result.begin(), result.end());
        return result;
    }
    std::set<std::int32_t> numbers;
    for (const SessionRow& row : rows) numbers.insert(row.number);
    LATHE_TRY_ASSIGN(auto query, db.prepare("SELECT DISTINCT session FROM summaries"));
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, query.step());
        if (!row) break;
        numbers.insert(static_cast<std::int32_t>(query.integer(0)));
    }
    for (const auto& [id, groups] : tails)
        for (const RowGroup& group : groups) numbers.insert(group.session);
    for (const std::int32_t number : numbers) result.push_back({number});
    return result;
}

Result<void> RunReader::Impl::refreshTails(Database& db) {
    LATHE_TRY_ASSIGN(const auto oldest, db.integer("SELECT min(id) FROM tails"));
    LATHE_TRY_ASSIGN(const auto newest, db.integer("SELECT max(id) FROM tails"));
    if (newest.value_or(0) == 0) tails.clear();
    else tails.erase(tails.begin(), tails.lower_bound(*oldest));
    LATHE_TRY_ASSIGN(auto query, db.prepare("SELECT id, checksum, data FROM tails WHERE id>? ORDER BY id"));
    query.bind(tails.empty() ? std::int64_t{-1} : tails.rbegin()->first);
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, query.step());
        if (!row) break;
        const Bytes blob = query.blob(2);
        auto groups = hash64(blob) == static_cast<std::uint64_t>(query.integer(1)) ? decodeTail(codec, blob) : std::nullopt;
        // The rest of the run can be read all the same; verify() names the place.
        if (!groups) log::error("Tail " + std::to_string(query.integer(0)) + " in " + file.string() + " is damaged and left out");
        tails[query.integer(0)] = groups ? std::move(*groups) : std::vector<RowGroup>();
    }
    closedRowsOf.clear();
    for (const auto& [id, groups] : tails) {
        for (const RowGroup& group : groups) {
            if (closedRowsOf.contains(group.id)) continue;
            LATHE_TRY_ASSIGN(closedRowsOf[group.id], closedRows(db, group.id));
        }
    }
    return {};
}

void RunReader::Impl::visitTails(const std::unordered_map<std::int64_t, std::int64_t>& closed,
                                 const std::function<void(const RowGroup&, std::size_t)>& visit) const {
    std::unordered_map<std::int64_t, std::int64_t> done = closed;
    for (const auto& [id, groups] : tails) {
        for (const RowGroup& group : groups) {
            std::int64_t& end = done[group.id];
            if (group.endRow() <= end) continue;
            visit(group, static_cast<std::size_t>(std::max<std::int64_t>(end - group.firstRow, 0)));
            end = group.endRow();
        }
    }
}

RunReader::RunReader(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
RunReader::~RunReader() = default;

std::shared_ptr<void> RunReader::keepOpen() const {
    auto db = m_impl->connect();
    if (!db) return {};  // each call will say why
    auto open = std::make_shared<Database>(std::move(*db));
    m_impl->kept = open;
    return open;
}

Result<std::unique_ptr<RunReader>> RunReader::open(const std::filesystem::path& file) {
    auto impl = std::make_unique<Impl>();
    impl->file = file;
    LATHE_TRY(impl->choose());
    return std::make_unique<RunReader>(std::move(impl));
}

Result<std::vector<SessionRow>> RunReader::sessions() const {
    std::vector<SessionRow> rows;
    LATHE_TRY(m_impl->read([&](Database& db) -> Result<void> {
        LATHE_TRY_ASSIGN(rows, m_impl->sessions(db));
        return {};
    }));
    return rows;
}

Result<std::vector<EventRow>> RunReader::events(std::int64_t afterId, std::size_t limit) const {
    std::vector<EventRow> rows;
    LATHE_TRY(m_impl->read([&](Database& db) -> Result<void> {
        LATHE_TRY_ASSIGN(auto query, db.prepare(
            "SELECT id, session, attempt, step, wall_ns, kind, text, json FROM events WHERE id>? ORDER BY id LIMIT ?"));
        query.bind(afterId, static_cast<std::int64_t>(limit));
        while (true) {
            LATHE_TRY_ASSIGN(const bool row, query.step());
            if (!row) return {};
            rows.push_back({query.integer(0), {static_cast<std::int32_t>(query.integer(1)), query.integer(2), query.integer(3),
                                               query.integer(4), query.text(5), query.text(6), query.text(7)}});
        }
    }));
    return rows;
}

Result<std::vector<CheckpointRow>> RunReader::checkpoints() const {
    std::vector<CheckpointRow> rows;
    LATHE_TRY(m_impl->read([&](Database& db) -> Result<void> {
        LATHE_TRY_ASSIGN(auto query, db.prepare("SELECT folder, session, attempt, step, wall_ns, bytes, is_best, deleted, metrics "
                                                "FROM checkpoints ORDER BY session, attempt, folder"));
        while (true) {
            LATHE_TRY_ASSIGN(const bool row, query.step());
            if (!row) return {};
            rows.push_back({query.text(0), static_cast<std::int32_t>(query.integer(1)), query.integer(2), query.integer(3),
                            query.integer(4), static_cast<std::uint64_t>(query.integer(5)), query.integer(6) != 0,
                            query.integer(7) != 0, query.text(8)});
        }
    }));
    return rows;
}

Result<std::vector<RunReader::RingName>> RunReader::ringNames(std::int32_t session) const {
    std::vector<RingName> names;
    LATHE_TRY(m_impl->read([&](Database& db) -> Result<void> {
        LATHE_TRY_ASSIGN(auto query, db.prepare("SELECT r.ring, r.id, s.name, s.unit FROM ring_series r JOIN series s ON s.id=r.series "
                                                "WHERE r.session=? ORDER BY r.ring, r.id"));
        query.bind(std::int64_t{session});
        while (true) {
            LATHE_TRY_ASSIGN(const bool row, query.step());
            if (!row) return {};
            names.push_back({static_cast<int>(query.integer(0)), static_cast<std::uint16_t>(query.integer(1)), query.text(2), query.text(3)});
        }
    }));
    return names;
}

Result<std::vector<live::DigestFrame>> RunReader::digests(std::int32_t session, std::int64_t afterAttempt, std::size_t limit) const {
    std::vector<live::DigestFrame> rows;
    LATHE_TRY(m_impl->read([&](Database& db) -> Result<void> {
        LATHE_TRY_ASSIGN(const auto table, db.integer("SELECT count(*) FROM sqlite_schema WHERE name='digests'"));
        if (table.value_or(0) == 0) return {};
        LATHE_TRY_ASSIGN(auto query, db.prepare("SELECT attempt, samples, loss_bits, norm_bits FROM digests WHERE session=? AND attempt>? ORDER BY attempt LIMIT ?"));
        query.bind(session, afterAttempt, static_cast<std::int64_t>(limit));
        while (true) {
            LATHE_TRY_ASSIGN(const bool row, query.step());
            if (!row || query.integer(0) != afterAttempt + static_cast<std::int64_t>(rows.size()) + 1) return {};
            rows.push_back({session, query.integer(0), std::bit_cast<std::uint64_t>(query.integer(1)), std::bit_cast<double>(query.integer(2)),
                            std::bit_cast<double>(query.integer(3))});
        }
    }));
    return rows;
}

Result<std::optional<std::string>> RunReader::fact(const std::string& name) const {
    std::optional<std::string> value;
    LATHE_TRY(m_impl->read([&](Database& db) -> Result<void> {
        LATHE_TRY_ASSIGN(const auto table, db.integer("SELECT count(*) FROM sqlite_schema WHERE name='facts'"));
        if (table.value_or(0) == 0) return {};
        LATHE_TRY_ASSIGN(auto query, db.prepare("SELECT value FROM facts WHERE name=?"));
        LATHE_TRY_ASSIGN(const bool row, query.bind(name).step());
        if (row) value = query.text(0);
        return {};
    }));
    return value;
}

std::uint64_t RunReader::recordedSequence(int ring, std::int32_t session) const {
    std::uint64_t recorded = 0;
    const auto done = m_impl->read([&](Database& db) -> Result<void> {
        LATHE_TRY_ASSIGN(auto query, db.prepare("SELECT recorded FROM rings WHERE session=? AND ring=?"));
        LATHE_TRY_ASSIGN(const bool row, query.bind(session, ring).step());
        if (row) recorded = static_cast<std::uint64_t>(query.integer(0));
        return {};
    });
    if (!done.ok()) log::warning(done.error().text());
    return recorded;
}

}  // namespace lathe::store
