#include "store/run_store.h"

#include "base/log.h"
#include "store/chunk_writer.h"
#include "store/intake.h"
#include "store/schema.h"
#include "store/sqlite.h"

#include <bit>
#include <chrono>
#include <map>
#include <thread>

namespace lathe::store {
namespace {

constexpr int kOpenBusyMs = 5000;
constexpr int kFlushBusyMs = 1000;  // the recorder must go on draining rings
constexpr std::chrono::milliseconds kLeaveWal{2000}, kLeaveWalStep{10};

}  // namespace

struct RunWriter::Impl {
    std::filesystem::path file;
    bool networkFileSystem = false;
    std::optional<Database> db;  ///< nothing after a failure that the connection may not have survived
    Codec codec;
    Intake intake;
    Numbers numbers;
    std::vector<TailNote> tails;
    std::map<std::string, std::string> stagedFacts;
    bool isGivenUp = false;

    Result<void> connect();
    Result<void> load();
    void enterWal();
    void leaveWal(std::chrono::milliseconds patience);
    /// Runs `work` in a transaction of its own; after a failure that may lie in the connection, drops the connection.
    template <typename Work>
    Result<void> transact(Work work);
    Result<void> flush();
    Result<void> storeNews();
    Result<void> storeDigests();
    Result<void> putSession(const SessionRow& row);
};

Result<void> RunWriter::Impl::connect() {
    if (db) return {};
    std::error_code problem;
    if (std::filesystem::file_size(file, problem) == 0 || problem)
        return Error{ErrorCode::NotFound, shownPath(file.native()) + " is gone while a session records into it; put it back", {}, {}};
    LATHE_TRY_ASSIGN(auto opened, Database::open(file, Database::Access::ReadWrite, kFlushBusyMs));
    LATHE_TRY(checkRunDatabase(opened, file));
    db.emplace(std::move(opened));
    return {};
}

Result<void> RunWriter::Impl::load() {
    LATHE_TRY_ASSIGN(auto series, db->prepare("SELECT id, name FROM series"));
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, series.step());
        if (!row) break;
        intake.knowSeries(series.integer(0), series.text(1));
    }
    LATHE_TRY_ASSIGN(auto rings, db->prepare("SELECT session, ring, recorded FROM rings"));
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, rings.step());
        if (!row) break;
        intake.knowRing({static_cast<std::int32_t>(rings.integer(0)), static_cast<int>(rings.integer(1))},
                        static_cast<std::uint64_t>(rings.integer(2)));
    }
    LATHE_TRY_ASSIGN(auto names, db->prepare("SELECT session, ring, id, series FROM ring_series"));
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, names.step());
        if (!row) break;
        intake.knowName({static_cast<std::int32_t>(names.integer(0)), static_cast<int>(names.integer(1))},
                        static_cast<std::uint16_t>(names.integer(2)), names.integer(3));
    }
    LATHE_TRY_ASSIGN(FoundState found, findPoints(*db, codec));
    numbers = found.numbers;
    tails = std::move(found.tails);
    for (RowGroup& group : found.groups) intake.knowGroup(std::move(group));
    intake.setNextGroup(numbers.group + 1);
    return {};
}

void RunWriter::Impl::enterWal() {
    if (networkFileSystem) return;
    // Where it is refused (a reader just now, a file system without shared memory) the rollback journal does as well.
    if (auto mode = db->text("PRAGMA journal_mode=WAL"); !mode.ok())
        log::warning("No write-ahead log for " + shownPath(file.native()) + ": " + mode.error().text());
}

void RunWriter::Impl::leaveWal(std::chrono::milliseconds patience) {
    if (!db) return;
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (true) {
        const auto mode = db->text("PRAGMA journal_mode=DELETE");
        if (mode.ok() && *mode != "wal") return;
        if (std::chrono::steady_clock::now() >= deadline) break;
        std::this_thread::sleep_for(kLeaveWalStep);  // a reader is connected for one slice of its work
    }
    log::info(shownPath(file.native()) + " stays with its write-ahead log while others read it");
}

template <typename Work>
Result<void> RunWriter::Impl::transact(Work work) {
    LATHE_TRY(connect());
    const auto done = [&]() -> Result<void> {
        LATHE_TRY_ASSIGN(auto transaction, Transaction::begin(*db, true));
        LATHE_TRY(work());
        return transaction.commit();
    }();
    if (!done.ok() && done.error().code != ErrorCode::Busy && done.error().code != ErrorCode::NoSpace) db.reset();
    return done;
}

Result<void> RunWriter::Impl::storeNews() {
    LATHE_TRY_ASSIGN(auto series, db->prepare("INSERT INTO series VALUES(?,?,?)"));
    for (const auto& fresh : intake.newSeries) LATHE_TRY(series.bind(fresh.id, fresh.name, fresh.unit).run());
    LATHE_TRY_ASSIGN(auto names, db->prepare("INSERT OR REPLACE INTO ring_series VALUES(?,?,?,?)"));
    for (const auto& fresh : intake.newNames)
        LATHE_TRY(names.bind(fresh.ring.session, fresh.ring.ring, std::int64_t{fresh.id}, fresh.series).run());
    LATHE_TRY_ASSIGN(auto events, db->prepare("INSERT INTO events VALUES(NULL,?,?,?,?,?,?,?)"));
    for (const live::EventFrame& event : intake.events)
        LATHE_TRY(events.bind(event.session, event.attempt, event.step, event.wallNs, event.kind, event.text, event.json).run());
    LATHE_TRY_ASSIGN(auto records, db->prepare("INSERT INTO records VALUES(NULL,?,?,?,?,?,?,?,?,?)"));
    for (const live::RecordFrame& record : intake.records)
        LATHE_TRY(records.bind(record.session, record.attempt, record.step, record.wallNs, static_cast<std::int64_t>(record.type), record.name,
                               record.form, std::as_bytes(std::span(record.content)), record.blob).run());
    LATHE_TRY_ASSIGN(auto rings, db->prepare("INSERT OR REPLACE INTO rings VALUES(?,?,?)"));
    for (const auto& [key, ring] : intake.rings)
        if (ring.taken != ring.recorded) LATHE_TRY(rings.bind(key.session, key.ring, ring.taken).run());
    LATHE_TRY(storeDigests());
    if (stagedFacts.empty()) return {};
    LATHE_TRY(db->run("CREATE TABLE IF NOT EXISTS facts(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID"));
    LATHE_TRY_ASSIGN(auto facts, db->prepare("INSERT OR REPLACE INTO facts VALUES(?,?)"));
    for (const auto& [name, value] : stagedFacts) LATHE_TRY(facts.bind(name, value).run());
    return {};
}

Result<void> RunWriter::Impl::storeDigests() {
    if (intake.digests.empty()) return {};
    LATHE_TRY(db->run("CREATE TABLE IF NOT EXISTS digests(session INTEGER NOT NULL, attempt INTEGER NOT NULL, samples INTEGER NOT NULL, "
                      "loss_bits INTEGER NOT NULL, norm_bits INTEGER NOT NULL, PRIMARY KEY(session, attempt)) STRICT, WITHOUT ROWID"));
    LATHE_TRY_ASSIGN(auto put, db->prepare("INSERT OR REPLACE INTO digests VALUES(?,?,?,?,?)"));
    for (const live::DigestFrame& digest : intake.digests)
        LATHE_TRY(put.bind(digest.session, digest.attempt, std::bit_cast<std::int64_t>(digest.samples), std::bit_cast<std::int64_t>(digest.loss),
                           std::bit_cast<std::int64_t>(digest.gradNorm)).run());
    return {};
}

Result<void> RunWriter::Impl::flush() {
    if (!intake.hasNews() && stagedFacts.empty()) return {};
    StoredState state;
    LATHE_TRY(transact([&]() -> Result<void> {
        LATHE_TRY(storeNews());
        LATHE_TRY_ASSIGN(state, storePoints(*db, codec, intake.groups, numbers, tails));
        return {};
    }));
    numbers = state.numbers;
    tails = std::move(state.tails);
    intake.committed(state.closed);
    stagedFacts.clear();
    return {};
}

Result<void> RunWriter::Impl::putSession(const SessionRow& row) {
    return transact([&]() -> Result<void> {
        LATHE_TRY_ASSIGN(auto put, db->prepare("INSERT OR REPLACE INTO sessions VALUES(?,?,?,?,?,?,?,?,?,?)"));
        return put.bind(row.number, row.parentSession, row.parentAttempt, row.verb, row.startedNs, row.endedNs, row.firstStep,
                        row.lastStep, row.end, row.why).run();
    });
}

RunWriter::RunWriter(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}

RunWriter::~RunWriter() {
    if (!m_impl->isGivenUp) {
        if (auto flushed = m_impl->flush(); !flushed.ok()) log::error("Points are lost: " + flushed.error().text());
    }
    m_impl->leaveWal(kLeaveWalStep * 20);
}

Result<std::unique_ptr<RunWriter>> RunWriter::open(const std::filesystem::path& file, bool networkFileSystem) {
    auto impl = std::make_unique<Impl>();
    impl->file = file;
    impl->networkFileSystem = networkFileSystem;
    LATHE_TRY_ASSIGN(auto db, Database::open(file, Database::Access::ReadWrite, kOpenBusyMs));
    LATHE_TRY(prepareRunDatabase(db, file));
    impl->db.emplace(std::move(db));
    LATHE_TRY(impl->load());
    impl->db->setBusyMs(kFlushBusyMs);
    return std::make_unique<RunWriter>(std::move(impl));
}

Result<void> RunWriter::beginSession(const SessionRow& row) {
    LATHE_TRY(m_impl->connect());
    m_impl->enterWal();
    m_impl->intake.seal(row.number, true);
    return m_impl->putSession(row);
}

Result<void> RunWriter::bookEnd(const SessionRow& row) { return m_impl->putSession(row); }

Result<void> RunWriter::endSession(const SessionRow& row) {
    m_impl->intake.seal(row.number, false);
    LATHE_TRY(m_impl->flush());
    LATHE_TRY(m_impl->putSession(row));
    m_impl->leaveWal(kLeaveWal);
    return {};
}

void RunWriter::take(int ring, std::int32_t session, std::uint64_t sequence, live::FrameType type, std::span<const std::byte> payload) {
    m_impl->intake.take({session, ring}, sequence, type, payload);
}

Result<void> RunWriter::flush() { return m_impl->flush(); }

std::uint64_t RunWriter::recordedSequence(int ring, std::int32_t session) const {
    const auto it = m_impl->intake.rings.find({session, ring});
    return it == m_impl->intake.rings.end() ? 0 : it->second.recorded;
}

std::size_t RunWriter::pendingBytes() const { return m_impl->intake.pendingBytes; }

Result<void> RunWriter::addCheckpoint(const CheckpointRow& row) {
    return m_impl->transact([&]() -> Result<void> {
        LATHE_TRY_ASSIGN(auto put, m_impl->db->prepare("INSERT OR REPLACE INTO checkpoints VALUES(?,?,?,?,?,?,?,?,?)"));
        return put.bind(row.folder, row.session, row.attempt, row.step, row.wallNs, row.bytes, row.isBest, row.deleted,
                        row.metricsJson).run();
    });
}

Result<void> RunWriter::markCheckpointDeleted(const std::string& folder, bool deleted) {
    return m_impl->transact([&]() -> Result<void> {
        LATHE_TRY_ASSIGN(auto mark, m_impl->db->prepare("UPDATE checkpoints SET deleted=? WHERE folder=?"));
        return mark.bind(deleted, folder).run();
    });
}

Result<void> RunWriter::markDeletedBut(const std::set<std::string>& there) {
    LATHE_TRY(m_impl->connect());
    std::vector<std::pair<std::string, bool>> wrong;   ///< and how it should be
    {
        LATHE_TRY_ASSIGN(auto known, m_impl->db->prepare("SELECT folder, deleted FROM checkpoints"));
        while (true) {
            LATHE_TRY_ASSIGN(const bool row, known.step());
            if (!row) break;
            std::string folder = known.text(0);
            const bool isGone = !there.contains(folder);
            if (isGone != (known.integer(1) != 0)) wrong.emplace_back(std::move(folder), isGone);
        }
    }
    if (wrong.empty()) return {};   // nothing to wait for
    return m_impl->transact([&]() -> Result<void> {
        LATHE_TRY_ASSIGN(auto mark, m_impl->db->prepare("UPDATE checkpoints SET deleted=? WHERE folder=?"));
        for (const auto& [folder, isGone] : wrong) LATHE_TRY(mark.bind(isGone ? 1 : 0, folder).run());
        return {};
    });
}

Result<void> RunWriter::markBest(const std::string& folder) {
    return m_impl->transact([&]() -> Result<void> {
        LATHE_TRY_ASSIGN(auto mark, m_impl->db->prepare("UPDATE checkpoints SET is_best=(folder=?)"));
        return mark.bind(folder).run();
    });
}

void RunWriter::stageFact(const std::string& name, const std::string& value) { m_impl->stagedFacts[name] = value; }

void RunWriter::closeRows() { m_impl->intake.seal(0, true); }

void RunWriter::giveUp() { m_impl->isGivenUp = true; }

}  // namespace lathe::store
