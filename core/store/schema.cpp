#include "store/schema.h"

#include <string>

namespace lathe::store {
namespace {

constexpr const char* kTables = R"(
CREATE TABLE sessions(
    number INTEGER PRIMARY KEY, parent_session INTEGER NOT NULL, parent_attempt INTEGER NOT NULL, verb TEXT NOT NULL,
    started_ns INTEGER NOT NULL, ended_ns INTEGER NOT NULL, first_step INTEGER NOT NULL, last_step INTEGER NOT NULL,
    ending TEXT NOT NULL, why TEXT NOT NULL) STRICT;
CREATE TABLE series(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, unit TEXT NOT NULL) STRICT;
CREATE TABLE ring_series(
    session INTEGER NOT NULL, ring INTEGER NOT NULL, id INTEGER NOT NULL, series INTEGER NOT NULL,
    PRIMARY KEY(session, ring, id)) STRICT, WITHOUT ROWID;
CREATE TABLE rings(
    session INTEGER NOT NULL, ring INTEGER NOT NULL, recorded INTEGER NOT NULL,
    PRIMARY KEY(session, ring)) STRICT, WITHOUT ROWID;
CREATE TABLE axes(
    id INTEGER PRIMARY KEY, session INTEGER NOT NULL, row_group INTEGER NOT NULL, first_row INTEGER NOT NULL,
    n INTEGER NOT NULL, first_attempt INTEGER NOT NULL, last_attempt INTEGER NOT NULL, first_step INTEGER NOT NULL,
    last_step INTEGER NOT NULL, tail INTEGER NOT NULL, checksum INTEGER NOT NULL) STRICT;
CREATE INDEX axes_by_group ON axes(row_group, first_row);
CREATE TABLE chunks(
    series INTEGER NOT NULL, session INTEGER NOT NULL, last_attempt INTEGER NOT NULL, axis INTEGER NOT NULL,
    blob INTEGER NOT NULL, first_attempt INTEGER NOT NULL, first_step INTEGER NOT NULL, last_step INTEGER NOT NULL,
    n INTEGER NOT NULL, non_finite INTEGER NOT NULL, minimum REAL, maximum REAL, minimum_step INTEGER NOT NULL,
    maximum_step INTEGER NOT NULL, first_bits INTEGER NOT NULL, last_bits INTEGER NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY(series, session, last_attempt, axis)) STRICT, WITHOUT ROWID;
CREATE TABLE axis_levels(id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
CREATE TABLE axis_data(id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
CREATE TABLE chunk_levels(id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
CREATE TABLE chunk_data(id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
CREATE TABLE summaries(
    series INTEGER NOT NULL, session INTEGER NOT NULL, n INTEGER NOT NULL, non_finite INTEGER NOT NULL,
    minimum REAL, maximum REAL, minimum_step INTEGER NOT NULL, maximum_step INTEGER NOT NULL,
    last_attempt INTEGER NOT NULL, last_step INTEGER NOT NULL, last_bits INTEGER NOT NULL,
    PRIMARY KEY(series, session)) STRICT, WITHOUT ROWID;
CREATE TABLE tails(id INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, data BLOB NOT NULL) STRICT;
CREATE TABLE events(
    id INTEGER PRIMARY KEY, session INTEGER NOT NULL, attempt INTEGER NOT NULL, step INTEGER NOT NULL,
    wall_ns INTEGER NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, json TEXT NOT NULL) STRICT;
CREATE TABLE checkpoints(
    folder TEXT PRIMARY KEY, session INTEGER NOT NULL, attempt INTEGER NOT NULL, step INTEGER NOT NULL,
    wall_ns INTEGER NOT NULL, bytes INTEGER NOT NULL, is_best INTEGER NOT NULL, deleted INTEGER NOT NULL,
    metrics TEXT NOT NULL) STRICT, WITHOUT ROWID;
)";

constexpr const char* kRecords = R"(
CREATE TABLE records(
    id INTEGER PRIMARY KEY, session INTEGER NOT NULL, attempt INTEGER NOT NULL, step INTEGER NOT NULL, wall_ns INTEGER NOT NULL,
    type INTEGER NOT NULL, name TEXT NOT NULL, form TEXT NOT NULL, content BLOB NOT NULL, blob TEXT NOT NULL) STRICT;
CREATE INDEX records_by_name ON records(type, name, id);
)";

constexpr Migration kMigrations[] = {{0, kTables}, {1, kRecords}};

Error notOurs(const std::filesystem::path& file) {
    return {ErrorCode::Corrupt, file.string() + " is not a run database of Lathe; move it away to start a new one", {}, {}};
}

Error newer(const std::filesystem::path& file, std::int64_t version, int newest) {
    return {ErrorCode::Version,
            file.string() + " has version " + std::to_string(version) + ", written by a newer Lathe; this one reads up to version " +
                std::to_string(newest) + ". Use the newer program", {}, {}};
}

struct Identity {
    std::int64_t application = 0, version = 0, tables = 0;
};

Result<Identity> identityOf(Database& db) {
    LATHE_TRY_ASSIGN(const auto application, db.integer("PRAGMA application_id"));
    LATHE_TRY_ASSIGN(const auto version, db.integer("PRAGMA user_version"));
    LATHE_TRY_ASSIGN(const auto tables, db.integer("SELECT count(*) FROM sqlite_schema"));
    return Identity{application.value_or(0), version.value_or(0), tables.value_or(0)};
}

}  // namespace

Result<void> migrate(Database& db, const std::filesystem::path& file, std::span<const Migration> migrations, int target) {
    LATHE_TRY_ASSIGN(const Identity before, identityOf(db));
    const bool fresh = before.tables == 0 && before.application == 0 && before.version == 0;
    if (!fresh && before.application != kRunApplicationId) return notOurs(file);
    if (before.version > target) return newer(file, before.version, target);
    if (before.version == target) return {};
    // Takes effect only while the file is still empty.
    if (fresh) LATHE_TRY(db.run("PRAGMA page_size=8192"));
    for (const Migration& step : migrations) {
        LATHE_TRY_ASSIGN(auto transaction, Transaction::begin(db, true));
        LATHE_TRY_ASSIGN(const auto now, db.integer("PRAGMA user_version"));
        if (now.value_or(0) != step.from) continue;  // done before, perhaps by another program meanwhile
        LATHE_TRY(db.run(step.sql));
        LATHE_TRY(db.run(("PRAGMA application_id=" + std::to_string(kRunApplicationId)).c_str()));
        LATHE_TRY(db.run(("PRAGMA user_version=" + std::to_string(step.from + 1)).c_str()));
        LATHE_TRY(transaction.commit());
    }
    LATHE_TRY_ASSIGN(const auto after, db.integer("PRAGMA user_version"));
    if (after.value_or(0) != target) return notOurs(file);
    return {};
}

Result<void> prepareRunDatabase(Database& db, const std::filesystem::path& file) {
    return migrate(db, file, kMigrations, kRunVersion);
}

Result<void> checkRunDatabase(Database& db, const std::filesystem::path& file, int newest) {
    LATHE_TRY_ASSIGN(const Identity identity, identityOf(db));
    if (identity.application != kRunApplicationId || identity.version < 1) return notOurs(file);
    if (identity.version > newest) return newer(file, identity.version, newest);
    return {};
}

}  // namespace lathe::store
