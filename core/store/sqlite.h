// The thin layer over sqlite3 for run.sqlite and the history index: connections hardened against hostile files,
// statements whose failures are Results.
// Thread: a connection and its statements belong to one thread at a time.
#pragma once

#include "base/bytes.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace lathe::store {

/// Statements of a connection that nobody uses now, by their text: preparing one costs more than most of them take.
class IdleStatements {
public:
    ~IdleStatements() { close(); }
    /// Null when none of that text is idle.
    sqlite3_stmt* take(std::string_view sql);
    void put(sqlite3_stmt* statement);
    /// From here on what is put is finalized.
    void close();

private:
    std::map<std::string, std::vector<sqlite3_stmt*>, std::less<>> m_byText;
    std::size_t m_count = 0;
    bool m_closed = false;
};

/// One prepared statement. Text is copied when bound; blobs must live until the row was stepped.
class Statement {
public:
    Statement(sqlite3* db, sqlite3_stmt* handle, std::shared_ptr<IdleStatements> idle) : m_db(db), m_handle(handle), m_idle(std::move(idle)) {}
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;
    ~Statement();

    /// Binds all parameters in order, from the first.
    template <typename... Values>
    Statement& bind(const Values&... values) {
        reset();
        int index = 0;
        (bindOne(++index, values), ...);
        return *this;
    }
    /// True: a row is there. After the last row, or after an error, the statement is reset.
    Result<bool> step();
    /// Steps to the end, for statements without rows.
    Result<void> run();

    std::int64_t integer(int column) const;
    double real(int column) const;
    std::optional<double> optionalReal(int column) const;
    std::string text(int column) const;
    Bytes blob(int column) const;

private:
    void reset();
    void bindOne(int index, std::int64_t value);
    void bindOne(int index, std::int32_t value) { bindOne(index, std::int64_t{value}); }
    void bindOne(int index, std::uint64_t value) { bindOne(index, static_cast<std::int64_t>(value)); }
    void bindOne(int index, bool value) { bindOne(index, std::int64_t{value}); }
    void bindOne(int index, std::optional<double> value);
    void bindOne(int index, std::string_view value);
    void bindOne(int index, const std::string& value) { bindOne(index, std::string_view(value)); }
    void bindOne(int index, std::span<const std::byte> value);
    void bindOne(int index, const Bytes& value) { bindOne(index, std::span<const std::byte>(value)); }

    sqlite3* m_db;
    sqlite3_stmt* m_handle;
    std::shared_ptr<IdleStatements> m_idle;
    int m_bindProblem = 0;
};

class Database {
public:
    enum class Access {
        ReadOnly,
        ReadWrite,  ///< creates the file (0600) when it is not there
        Memory,     ///< nothing on disk; the path only names it in messages
        Immutable   ///< read-only, without locks: only for files that nothing can change
    };
    static Result<Database> open(const std::filesystem::path& file, Access access, int busyMs);
    Database(Database&& other) noexcept;
    Database& operator=(Database&& other) noexcept;
    ~Database();

    Result<Statement> prepare(std::string_view sql);
    /// Runs one or several statements without parameters.
    Result<void> run(const char* sql);
    /// First column of the first row of a query; nothing when there is no row.
    Result<std::optional<std::int64_t>> integer(std::string_view sql);
    Result<std::string> text(std::string_view sql);
    void setBusyMs(int busyMs);
    /// Rolls back what is open; harmless when nothing is.
    void rollBack();
    sqlite3* handle() const { return m_handle; }

private:
    explicit Database(sqlite3* handle) : m_handle(handle), m_idle(std::make_shared<IdleStatements>()) {}
    void close();
    sqlite3* m_handle = nullptr;
    std::shared_ptr<IdleStatements> m_idle;
};

/// Rolls back at the end of its scope unless `commit` succeeded.
class Transaction {
public:
    /// Immediate: takes the write lock at once, so that later statements cannot fail for it.
    static Result<Transaction> begin(Database& db, bool immediate);
    Transaction(Transaction&& other) noexcept : m_db(other.m_db) { other.m_db = nullptr; }
    Transaction& operator=(Transaction&&) = delete;
    ~Transaction() {
        if (m_db != nullptr) m_db->rollBack();
    }
    Result<void> commit();

private:
    explicit Transaction(Database& db) : m_db(&db) {}
    Database* m_db;
};

}  // namespace lathe::store
