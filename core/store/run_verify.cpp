#include "base/hash.h"
#include "store/run_reader_impl.h"

namespace lathe::store {

Result<void> RunReader::Impl::verifyChunk(const FoundChunk& chunk, const std::string& name) {
    const std::string place = "a chunk of " + name;
    if (hash64(chunk.axisData, hash64(chunk.axisLevel)) != chunk.axisChecksum) return damaged(chunk, "the axis of " + place);
    if (hash64(chunk.data, hash64(chunk.level)) != chunk.checksum) return damaged(chunk, place);
    const auto axis = codec.decodeAxis(chunk.axisData, chunk.rows);
    const auto values = codec.decodeValues(chunk.data, chunk.rows);
    if (!axis || !values) return damaged(chunk, place);
    if (codec.decodeAxisLevel(chunk.axisLevel, chunk.rows) != levelOf(*axis) || codec.decodeLevel(chunk.level, chunk.rows) != levelOf(*values))
        return damaged(chunk, "the overview of " + place);
    if (factsOf(*axis, *values) != chunk.facts) return damaged(chunk, "the header of " + place);
    return {};
}

Result<void> RunReader::verify() const {
    std::vector<std::pair<std::int64_t, std::string>> names;
    std::vector<Impl::Stretch> stretches;
    LATHE_TRY(m_impl->read([&](Database& db) -> Result<void> {
        LATHE_TRY_ASSIGN(const std::string problem, db.text("PRAGMA quick_check(1)"));
        if (problem != "ok") return Error{ErrorCode::Corrupt, m_impl->file.string() + " is damaged: " + problem, {}, {}};
        LATHE_TRY_ASSIGN(auto tails, db.prepare("SELECT id, checksum, data FROM tails ORDER BY id"));
        while (true) {
            LATHE_TRY_ASSIGN(const bool row, tails.step());
            if (!row) break;
            const Bytes blob = tails.blob(2);
            if (hash64(blob) != static_cast<std::uint64_t>(tails.integer(1)) || !decodeTail(m_impl->codec, blob))
                return Error{ErrorCode::Corrupt, m_impl->file.string() + ": tail " + std::to_string(tails.integer(0)) + " is damaged", {}, {}};
        }
        LATHE_TRY(m_impl->refreshTails(db));
        LATHE_TRY_ASSIGN(stretches, m_impl->stretches(db, Line::All));
        LATHE_TRY_ASSIGN(auto series, db.prepare("SELECT id, name FROM series ORDER BY id"));
        while (true) {
            LATHE_TRY_ASSIGN(const bool row, series.step());
            if (!row) return {};
            names.emplace_back(series.integer(0), series.text(1));
        }
    }));
    for (const auto& [series, name] : names) {
        for (const Impl::Stretch& stretch : stretches)
            LATHE_TRY(m_impl->visitChunks(series, stretch, Impl::Detail::Data,
                                          [&](FoundChunk& chunk) { return m_impl->verifyChunk(chunk, name); }));
    }
    return {};
}

}  // namespace lathe::store
