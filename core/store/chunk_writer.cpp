#include "store/chunk_writer.h"

#include "base/hash.h"
#include "base/log.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace lathe::store {
namespace {

constexpr std::size_t kMostTails = 256;               // then they are put together into one
constexpr std::size_t kTailNumbers = 2u << 20;        // decoded size at which a tail is split
constexpr std::string_view kSummarySql =
    "SELECT n, non_finite, minimum, maximum, minimum_step, maximum_step, last_attempt, last_step, last_bits "
    "FROM summaries WHERE series=? AND session=?";

class PointStore {
public:
    PointStore(Database& db, Codec& codec, StoredState& state) : m_db(db), m_codec(codec), m_state(state) {}

    Result<void> closeChunks(const RowGroup& group, std::size_t& closed) {
        const std::size_t rows = group.axis.rows();
        while (rows - closed >= kChunkRows || (group.sealed && closed < rows)) {
            const std::size_t end = std::min(closed + kChunkRows, rows);
            LATHE_TRY(closeChunk(closed == 0 && end == rows ? group : slice(group, closed, end)));
            closed = end;
        }
        return {};
    }

    Result<void> writeTails(const std::vector<RowGroup>& parts) {
        std::size_t from = 0, numbers = 0;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            numbers += parts[i].axis.rows() * (parts[i].columns.size() + 4);
            if (numbers < kTailNumbers && i + 1 < parts.size()) continue;
            LATHE_TRY(writeTail(std::span(parts).subspan(from, i + 1 - from)));
            from = i + 1;
            numbers = 0;
        }
        return {};
    }

private:
    Result<void> closeChunk(const RowGroup& rows) {
        const std::int64_t axis = ++m_state.numbers.axis;
        const Bytes level = m_codec.encode(levelOf(rows.axis)), data = m_codec.encode(rows.axis);
        const auto [firstAttempt, lastAttempt] = std::minmax_element(rows.axis.attempt.begin(), rows.axis.attempt.end(), isLess);
        LATHE_TRY(statement(m_axis, "INSERT INTO axes VALUES(?,?,?,?,?,?,?,?,?,?,?)"));
        LATHE_TRY(m_axis->bind(axis, rows.session, rows.id, rows.firstRow, static_cast<std::int64_t>(rows.axis.rows()),
                               *firstAttempt, *lastAttempt, rows.axis.step.front(), rows.axis.step.back(),
                               m_state.numbers.tail, hash64(data, hash64(level))).run());
        LATHE_TRY(insertBlob(m_axisLevel, "INSERT INTO axis_levels VALUES(?,?)", axis, level));
        LATHE_TRY(insertBlob(m_axisData, "INSERT INTO axis_data VALUES(?,?)", axis, data));
        for (const RowGroup::Column& column : rows.columns)
            if (!column.values.bits.empty()) LATHE_TRY(closeColumn(rows, axis, column));
        return {};
    }

    Result<void> closeColumn(const RowGroup& rows, std::int64_t axis, const RowGroup::Column& column) {
        const ChunkFacts facts = factsOf(rows.axis, column.values);
        const std::int64_t chunk = ++m_state.numbers.chunk;
        const Bytes level = m_codec.encode(levelOf(column.values)), data = m_codec.encode(column.values);
        LATHE_TRY(statement(m_chunk, "INSERT INTO chunks VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
        LATHE_TRY(m_chunk->bind(column.series, rows.session, facts.lastAttempt, axis, chunk, facts.firstAttempt, facts.firstStep,
                                facts.lastStep, facts.n, facts.nonFinite, facts.minimum, facts.maximum, facts.minimumStep,
                                facts.maximumStep, facts.firstBits, facts.lastBits, hash64(data, hash64(level))).run());
        LATHE_TRY(insertBlob(m_chunkLevel, "INSERT INTO chunk_levels VALUES(?,?)", chunk, level));
        LATHE_TRY(insertBlob(m_chunkData, "INSERT INTO chunk_data VALUES(?,?)", chunk, data));
        return summarise(column.series, rows.session, facts);
    }

    Result<void> summarise(std::int64_t series, std::int32_t session, const ChunkFacts& facts) {
        LATHE_TRY(statement(m_oldSummary, kSummarySql));
        ChunkFacts all;
        LATHE_TRY_ASSIGN(const bool known, m_oldSummary->bind(series, session).step());
        if (known) {
            all.n = m_oldSummary->integer(0), all.nonFinite = m_oldSummary->integer(1);
            all.minimum = m_oldSummary->optionalReal(2), all.maximum = m_oldSummary->optionalReal(3);
            all.minimumStep = m_oldSummary->integer(4), all.maximumStep = m_oldSummary->integer(5);
            all.lastAttempt = m_oldSummary->integer(6), all.lastStep = m_oldSummary->integer(7);
            all.lastBits = static_cast<std::uint64_t>(m_oldSummary->integer(8));
        }
        merge(all, facts);
        LATHE_TRY(statement(m_newSummary, "INSERT OR REPLACE INTO summaries VALUES(?,?,?,?,?,?,?,?,?,?,?)"));
        return m_newSummary->bind(series, session, all.n, all.nonFinite, all.minimum, all.maximum, all.minimumStep,
                                  all.maximumStep, all.lastAttempt, all.lastStep, all.lastBits).run();
    }

    Result<void> writeTail(std::span<const RowGroup> parts) {
        const Bytes blob = encodeTail(m_codec, parts);
        TailNote note;
        note.id = ++m_state.numbers.tail;
        for (const RowGroup& part : parts) note.ends.emplace_back(part.id, part.endRow());
        LATHE_TRY_ASSIGN(auto insert, m_db.prepare("INSERT INTO tails VALUES(?,?,?)"));
        LATHE_TRY(insert.bind(note.id, hash64(blob), blob).run());
        m_state.tails.push_back(std::move(note));
        return {};
    }

    static bool isLess(std::uint64_t a, std::uint64_t b) { return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b); }

    Result<void> statement(std::optional<Statement>& slot, std::string_view sql) {
        if (slot) return {};
        LATHE_TRY_ASSIGN(auto prepared, m_db.prepare(sql));
        slot.emplace(std::move(prepared));
        return {};
    }
    Result<void> insertBlob(std::optional<Statement>& slot, std::string_view sql, std::int64_t id, const Bytes& blob) {
        LATHE_TRY(statement(slot, sql));
        return slot->bind(id, blob).run();
    }

    Database& m_db;
    Codec& m_codec;
    StoredState& m_state;
    std::optional<Statement> m_axis, m_axisLevel, m_axisData, m_chunk, m_chunkLevel, m_chunkData, m_oldSummary, m_newSummary;
};

Result<void> dropTails(Database& db, std::vector<TailNote>& tails, const std::unordered_map<std::int64_t, std::int64_t>& firstOpen, bool all) {
    LATHE_TRY_ASSIGN(auto remove, db.prepare("DELETE FROM tails WHERE id=?"));
    std::vector<TailNote> kept;
    for (TailNote& tail : tails) {
        const bool needed = !all && std::any_of(tail.ends.begin(), tail.ends.end(), [&](const auto& end) {
            const auto open = firstOpen.find(end.first);
            return open != firstOpen.end() && end.second > open->second;
        });
        if (needed) kept.push_back(std::move(tail));
        else LATHE_TRY(remove.bind(tail.id).run());
    }
    tails = std::move(kept);
    return {};
}

}  // namespace

Result<std::int64_t> closedRows(Database& db, std::int64_t group) {
    LATHE_TRY_ASSIGN(auto query, db.prepare("SELECT first_row + n FROM axes WHERE row_group=? ORDER BY first_row DESC LIMIT 1"));
    LATHE_TRY_ASSIGN(const bool row, query.bind(group).step());
    return row ? query.integer(0) : std::int64_t{0};
}

Result<StoredState> storePoints(Database& db, Codec& codec, const std::vector<std::unique_ptr<RowGroup>>& groups,
                                const Numbers& numbers, const std::vector<TailNote>& tails) {
    StoredState state{numbers, tails, std::vector<std::size_t>(groups.size())};
    PointStore store(db, codec, state);
    std::unordered_map<std::int64_t, std::int64_t> firstOpen;  // of groups that stay open
    bool anyClosed = false;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        LATHE_TRY(store.closeChunks(*groups[i], state.closed[i]));
        anyClosed = anyClosed || state.closed[i] > 0;
        if (state.closed[i] < groups[i]->axis.rows()) firstOpen[groups[i]->id] = groups[i]->firstRow + static_cast<std::int64_t>(state.closed[i]);
    }
    const bool putTogether = state.tails.size() >= kMostTails;
    if (anyClosed || putTogether) LATHE_TRY(dropTails(db, state.tails, firstOpen, putTogether));
    std::vector<RowGroup> parts;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const std::size_t rows = groups[i]->axis.rows();
        const std::size_t from = putTogether ? state.closed[i] : std::max(state.closed[i], groups[i]->durableRows);
        if (from < rows) parts.push_back(slice(*groups[i], from, rows));
    }
    LATHE_TRY(store.writeTails(parts));
    return state;
}

Result<FoundState> findPoints(Database& db, Codec& codec) {
    FoundState found;
    LATHE_TRY_ASSIGN(const auto axis, db.integer("SELECT max(id) FROM axes"));
    LATHE_TRY_ASSIGN(const auto chunk, db.integer("SELECT max(id) FROM chunk_data"));
    LATHE_TRY_ASSIGN(const auto axisTail, db.integer("SELECT tail FROM axes ORDER BY id DESC LIMIT 1"));
    LATHE_TRY_ASSIGN(const auto tail, db.integer("SELECT max(id) FROM tails"));
    LATHE_TRY_ASSIGN(const auto group, db.integer("SELECT max(row_group) FROM axes"));
    found.numbers = {axis.value_or(0), chunk.value_or(0), std::max(axisTail.value_or(0), tail.value_or(0)), group.value_or(0)};
    std::unordered_map<std::int64_t, std::size_t> newest;  // place of each group's newest stretch in found.groups
    std::unordered_map<std::int64_t, std::int64_t> ends;
    LATHE_TRY_ASSIGN(auto query, db.prepare("SELECT id, checksum, data FROM tails ORDER BY id"));
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, query.step());
        if (!row) return found;
        const Bytes blob = query.blob(2);
        const std::int64_t id = query.integer(0);
        auto parts = hash64(blob) == static_cast<std::uint64_t>(query.integer(1)) ? decodeTail(codec, blob) : std::nullopt;
        if (!parts) {
            log::error("Tail " + std::to_string(id) + " of a run database is damaged and left where it is");
            continue;
        }
        TailNote note{id, {}};
        for (RowGroup& part : *parts) {
            note.ends.emplace_back(part.id, part.endRow());
            found.numbers.group = std::max(found.numbers.group, part.id);
            if (!ends.contains(part.id)) {
                LATHE_TRY_ASSIGN(ends[part.id], closedRows(db, part.id));
            }
            const std::int64_t done = ends[part.id] - part.firstRow;
            if (done >= static_cast<std::int64_t>(part.axis.rows())) continue;
            if (done > 0) part.forgetFront(static_cast<std::size_t>(done));
            ends[part.id] = part.endRow();
            const auto before = newest.find(part.id);
            if (before != newest.end() && found.groups[before->second].endRow() == part.firstRow &&
                found.groups[before->second].columns.size() == part.columns.size()) {
                append(found.groups[before->second], part);
                continue;
            }
            newest[part.id] = found.groups.size();
            part.sealed = true;
            found.groups.push_back(std::move(part));
        }
        found.tails.push_back(std::move(note));
    }
}

}  // namespace lathe::store
