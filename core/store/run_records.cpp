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

Result<std::vector<RecordSummary>> RunReader::recordNames(std::int64_t afterId) const {
    std::vector<RecordSummary> names;
    LATHE_TRY(m_impl->read([&](Database& db) -> Result<void> {
        LATHE_TRY_ASSIGN(const bool there, hasRecords(db));
        if (!there) return {};
        LATHE_TRY_ASSIGN(auto query, db.prepare("SELECT type, name, count(*), min(step), max(step), max(id) FROM records NOT INDEXED WHERE id>? GROUP BY type, name"));
        query.bind(afterId);
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

Result<std::vector<RecordPlace>> RunReader::recordPlaces(live::FrameType type, const std::string& name, std::int64_t afterId, std::size_t limit) const {
    std::vector<RecordPlace> places;
    LATHE_TRY(m_impl->read([&](Database& db) -> Result<void> {
        LATHE_TRY_ASSIGN(const bool there, hasRecords(db));
        if (!there) return {};
        LATHE_TRY_ASSIGN(auto query, db.prepare("SELECT id, session, step, wall_ns FROM records WHERE type=? AND name=? AND id>? ORDER BY id LIMIT ?"));
        query.bind(static_cast<std::int64_t>(type), name, afterId, static_cast<std::int64_t>(limit));
        while (true) {
            LATHE_TRY_ASSIGN(const bool row, query.step());
            if (!row) return {};
            places.push_back({query.integer(0), static_cast<std::int32_t>(query.integer(1)), query.integer(2), query.integer(3)});
        }
    }));
    return places;
}

Result<std::optional<RecordRow>> RunReader::record(std::int64_t id) const {
    LATHE_TRY_ASSIGN(auto rows, m_impl->records("WHERE id=?", id));
    if (rows.empty()) return std::optional<RecordRow>();
    return std::optional<RecordRow>(std::move(rows.front()));
}

Result<std::vector<RecordRow>> RunReader::newestRecords(live::FrameType type) const {
    return m_impl->records("WHERE id IN (SELECT max(id) FROM records WHERE type=? GROUP BY name) ORDER BY name", static_cast<std::int64_t>(type));
}

}  // namespace lathe::store
