// Reading what a program logged beside its curves.
#include "store/run_reader_impl.h"

namespace lathe::store {

static constexpr std::int64_t kFirstWithRecords = 2;

static Result<bool> hasRecords(Database& db) {
    LATHE_TRY_ASSIGN(const auto version, db.integer("PRAGMA user_version"));
    return version.value_or(0) >= kFirstWithRecords;
}

static live::FrameType typeOf(std::int64_t number) {
    const auto type = static_cast<live::FrameType>(number);
    return live::isRecord(type) ? type : live::FrameType::Text;
}

template <typename... Values>
Result<std::vector<RecordRow>> RunReader::Impl::records(const char* where, const Values&... values) const {
    std::vector<RecordRow> rows;
    LATHE_TRY(read([&](Database& db) -> Result<void> {
        LATHE_TRY_ASSIGN(const bool there, hasRecords(db));
        if (!there) return {};
        LATHE_TRY_ASSIGN(auto query, db.prepare("SELECT id, session, attempt, step, wall_ns, type, name, form, content, blob FROM records " + std::string(where)));
        query.bind(values...);
        while (true) {
            LATHE_TRY_ASSIGN(const bool row, query.step());
            if (!row) return {};
            const Bytes content = query.blob(8);
            rows.push_back({query.integer(0), {typeOf(query.integer(5)), static_cast<std::int32_t>(query.integer(1)), query.integer(2), query.integer(3),
                                               query.integer(4), query.text(6), query.text(7),
                                               std::string(reinterpret_cast<const char*>(content.data()), content.size()), query.text(9)}});
        }
    }));
    return rows;
}

Result<std::vector<RecordSummary>> RunReader::recordNames() const {
    std::vector<RecordSummary> names;
    LATHE_TRY(m_impl->read([&](Database& db) -> Result<void> {
        LATHE_TRY_ASSIGN(const bool there, hasRecords(db));
        if (!there) return {};
        LATHE_TRY_ASSIGN(auto query, db.prepare("SELECT type, name, count(*), min(step), max(step), max(id) FROM records GROUP BY type, name"));
        while (true) {
            LATHE_TRY_ASSIGN(const bool row, query.step());
            if (!row) return {};
            names.push_back({typeOf(query.integer(0)), query.text(1), query.integer(2), query.integer(3), query.integer(4), query.integer(5)});
        }
    }));
    return names;
}

Result<std::vector<RecordRow>> RunReader::records(live::FrameType type, const std::string& name, std::int64_t afterId, std::size_t limit) const {
    return m_impl->records("WHERE type=? AND name=? AND id>? ORDER BY id LIMIT ?", static_cast<std::int64_t>(type), name, afterId, static_cast<std::int64_t>(limit));
}

Result<std::vector<RecordRow>> RunReader::newestRecords(live::FrameType type) const {
    return m_impl->records("WHERE id IN (SELECT max(id) FROM records WHERE type=? GROUP BY name) ORDER BY name", static_cast<std::int64_t>(type));
}

}  // namespace lathe::store
