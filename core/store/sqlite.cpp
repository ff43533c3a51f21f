#include "store/sqlite.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>
#include <utility>

namespace lathe::store {
namespace {

constexpr int kLongestValue = 256 << 20;

ErrorCode codeOf(int rc) {
    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return ErrorCode::Busy;
    case SQLITE_FULL: return ErrorCode::NoSpace;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH: return ErrorCode::Permission;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return ErrorCode::Corrupt;
    case SQLITE_NOMEM: return ErrorCode::OutOfMemory;
    case SQLITE_ERROR:  // a table or column that should be there is not
    case SQLITE_SCHEMA: return ErrorCode::Corrupt;
    default: return ErrorCode::Io;
    }
}

Error sqliteError(sqlite3* db, int rc) {
    const char* path = db != nullptr ? sqlite3_db_filename(db, "main") : nullptr;
    const std::string where = path != nullptr && *path != '\0' ? path : "the database in memory";
    const char* why = db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
    std::string advice;
    if ((rc & 0xff) == SQLITE_FULL) advice = "; free space on that disk";
    if ((rc & 0xff) == SQLITE_BUSY) advice = "; another program holds it";
    if ((rc & 0xff) == SQLITE_NOTADB || (rc & 0xff) == SQLITE_CORRUPT) advice = "; it is damaged: move it elsewhere to go on with a new one";
    return {codeOf(rc), "Cannot use " + shownPath(where) + ": " + why + advice, {}, {}};
}

void harden(sqlite3* db) {
    sqlite3_extended_result_codes(db, 1);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, kLongestValue);
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 64 << 10);
    sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 32);
    sqlite3_limit(db, SQLITE_LIMIT_VARIABLE_NUMBER, 64);
    sqlite3_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, 8);
    sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
}

/// SQLite's own way to files, but names are taken as they are: a name through a descriptor of the folder must stay one,
/// so that journals are found and removed also after the folder was moved.
const char* asNamed() {
    static const bool registered = [] {
        static sqlite3_vfs vfs = *sqlite3_vfs_find(nullptr);
        vfs.zName = "lathe-as-named";
        vfs.pNext = nullptr;
        vfs.xFullPathname = [](sqlite3_vfs*, const char* name, int size, char* full) {
            return sqlite3_snprintf(size, full, "%s", name) != nullptr && std::strlen(name) < static_cast<std::size_t>(size) ? SQLITE_OK : SQLITE_CANTOPEN;
        };
        return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
    }();
    return registered ? "lathe-as-named" : nullptr;
}

}  // namespace

sqlite3_stmt* IdleStatements::take(std::string_view sql) {
    const auto found = m_byText.find(sql);
    if (found == m_byText.end() || found->second.empty()) return nullptr;
    sqlite3_stmt* statement = found->second.back();
    found->second.pop_back();
    --m_count;
    return statement;
}

void IdleStatements::put(sqlite3_stmt* statement) {
    constexpr std::size_t kMost = 64;
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    const char* sql = sqlite3_sql(statement);
    if (m_closed || m_count >= kMost || sql == nullptr) {
        sqlite3_finalize(statement);
        return;
    }
    m_byText[sql].push_back(statement);
    ++m_count;
}

void IdleStatements::close() {
    m_closed = true;
    for (auto& [sql, statements] : m_byText)
        for (sqlite3_stmt* statement : statements) sqlite3_finalize(statement);
    m_byText.clear();
}

Statement::Statement(Statement&& other) noexcept
    : m_db(other.m_db), m_handle(std::exchange(other.m_handle, nullptr)), m_idle(std::move(other.m_idle)), m_bindProblem(other.m_bindProblem) {}

Statement::~Statement() {
    if (m_handle != nullptr) m_idle->put(m_handle);
}

void Statement::reset() {
    sqlite3_reset(m_handle);
    m_bindProblem = SQLITE_OK;
}

void Statement::bindOne(int index, std::int64_t value) {
    if (const int rc = sqlite3_bind_int64(m_handle, index, value); rc != SQLITE_OK) m_bindProblem = rc;
}

void Statement::bindOne(int index, std::optional<double> value) {
    const int rc = value ? sqlite3_bind_double(m_handle, index, *value) : sqlite3_bind_null(m_handle, index);
    if (rc != SQLITE_OK) m_bindProblem = rc;
}

void Statement::bindOne(int index, std::string_view value) {
    const char* text = value.empty() ? "" : value.data();
    const int rc = sqlite3_bind_text64(m_handle, index, text, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    if (rc != SQLITE_OK) m_bindProblem = rc;
}

void Statement::bindOne(int index, std::span<const std::byte> value) {
    const int rc = value.empty() ? sqlite3_bind_zeroblob(m_handle, index, 0)
                                 : sqlite3_bind_blob64(m_handle, index, value.data(), value.size(), SQLITE_STATIC);
    if (rc != SQLITE_OK) m_bindProblem = rc;
}

Result<bool> Statement::step() {
    const int rc = m_bindProblem != SQLITE_OK ? m_bindProblem : sqlite3_step(m_handle);
    if (rc == SQLITE_ROW) return true;
    if (rc == SQLITE_DONE) {
        sqlite3_reset(m_handle);
        return false;
    }
    Error error = sqliteError(m_db, rc);
    sqlite3_reset(m_handle);
    return error;
}

Result<void> Statement::run() {
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, step());
        if (!row) return {};
    }
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(m_handle, column); }
double Statement::real(int column) const { return sqlite3_column_double(m_handle, column); }

std::optional<double> Statement::optionalReal(int column) const {
    if (sqlite3_column_type(m_handle, column) == SQLITE_NULL) return std::nullopt;
    return real(column);
}

std::string Statement::text(int column) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(m_handle, column));
    return text == nullptr ? std::string() : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(m_handle, column)));
}

Bytes Statement::blob(int column) const {
    const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(m_handle, column));
    return data == nullptr ? Bytes() : Bytes(data, data + sqlite3_column_bytes(m_handle, column));
}

Result<Database> Database::open(const std::filesystem::path& file, Access access, int busyMs) {
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE;
    std::string name = "file:";
    for (const char c : std::filesystem::absolute(file).string()) {  // what would end or change the name is escaped
        if (c == '%' || c == '?' || c == '#') {
            char escaped[4];
            std::snprintf(escaped, sizeof escaped, "%%%02X", static_cast<unsigned>(c));
            name += escaped;
        } else {
            name += c;
        }
    }
    if (access == Access::ReadOnly) flags |= SQLITE_OPEN_READONLY;
    if (access == Access::Immutable) flags |= SQLITE_OPEN_READONLY, name += "?immutable=1";
    if (access == Access::Memory) flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, name = ":memory:";
    if (access == Access::ReadWrite) {
        flags |= SQLITE_OPEN_READWRITE;
        // SQLite would create it with the umask's mode. A file that exists is not opened here: closing it again would
        // drop the locks of this process on it.
        const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd >= 0) ::close(fd);
        else if (errno != EEXIST) return fileError("create", file.native(), errno);
    }
    sqlite3* handle = nullptr;
    const int rc = sqlite3_open_v2(name.c_str(), &handle, flags, file.native().starts_with(kDescriptors) ? asNamed() : nullptr);
    Database db(handle);
    if (rc != SQLITE_OK) {
        Error error = sqliteError(nullptr, rc);
        error.sentence = "Cannot open " + file.string() + ": " + sqlite3_errstr(rc);
        return error;
    }
    if (access == Access::ReadWrite && sqlite3_db_readonly(handle, "main") == 1)  // SQLite makes do with less than asked for
        return fileError("write", file.native(), EROFS);
    harden(handle);
    sqlite3_busy_timeout(handle, busyMs);
    LATHE_TRY(db.run("PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA foreign_keys=OFF; PRAGMA synchronous=FULL"));
    return db;
}

Database::Database(Database&& other) noexcept : m_handle(std::exchange(other.m_handle, nullptr)), m_idle(std::move(other.m_idle)) {}
Database& Database::operator=(Database&& other) noexcept {
    if (this != &other) {
        close();
        m_handle = std::exchange(other.m_handle, nullptr);
        m_idle = std::move(other.m_idle);
    }
    return *this;
}
Database::~Database() { close(); }

void Database::close() {
    if (m_idle) m_idle->close();
    sqlite3_close_v2(m_handle);
}

Result<Statement> Database::prepare(std::string_view sql) {
    if (sqlite3_stmt* idle = m_idle->take(sql); idle != nullptr) return Statement(m_handle, idle, m_idle);
    sqlite3_stmt* statement = nullptr;
    const int rc = sqlite3_prepare_v2(m_handle, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
    if (rc != SQLITE_OK) return sqliteError(m_handle, rc);
    return Statement(m_handle, statement, m_idle);
}

Result<void> Database::run(const char* sql) {
    const int rc = sqlite3_exec(m_handle, sql, nullptr, nullptr, nullptr);
    if (rc != SQLITE_OK) return sqliteError(m_handle, rc);
    return {};
}

Result<std::optional<std::int64_t>> Database::integer(std::string_view sql) {
    LATHE_TRY_ASSIGN(auto query, prepare(sql));
    LATHE_TRY_ASSIGN(const bool row, query.step());
    if (!row) return std::optional<std::int64_t>();
    return std::optional<std::int64_t>(query.integer(0));
}

Result<std::string> Database::text(std::string_view sql) {
    LATHE_TRY_ASSIGN(auto query, prepare(sql));
    LATHE_TRY_ASSIGN(const bool row, query.step());
    return row ? query.text(0) : std::string();
}

void Database::setBusyMs(int busyMs) { sqlite3_busy_timeout(m_handle, busyMs); }

void Database::rollBack() {
    if (m_handle != nullptr && sqlite3_get_autocommit(m_handle) == 0)
        sqlite3_exec(m_handle, "ROLLBACK", nullptr, nullptr, nullptr);
}

Result<Transaction> Transaction::begin(Database& db, bool immediate) {
    LATHE_TRY(db.run(immediate ? "BEGIN IMMEDIATE" : "BEGIN"));
    return Transaction(db);
}

Result<void> Transaction::commit() {
    LATHE_TRY(m_db->run("COMMIT"));
    m_db = nullptr;
    return {};
}

}  // namespace lathe::store
