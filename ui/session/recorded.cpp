#include "session/recorded.h"

#include "launch/run/session_row.h"

#include <algorithm>
#include <limits>

namespace lathe::session {

namespace {

constexpr std::size_t kEventsAtOnce = 10000;

/// Dense series first: they know best how much active time a session took.
std::vector<std::string> namesInOrder(const std::vector<store::SeriesSummary>& series) {
    std::vector<std::string> names;
    for (const store::SeriesSummary& each : series) names.push_back(each.name);
    std::stable_partition(names.begin(), names.end(), [](const std::string& name) { return name.starts_with("train/"); });
    return names;
}

/// Sessions that the database does not have yet, from their plans.
void addPlanned(const rundir::RunFolder& run, std::int32_t session, std::vector<store::SessionRow>& rows) {
    const bool there = std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.number == session; });
    if (session <= 0 || there) return;
    const auto plan = rundir::readSession(run, session);
    if (!plan.ok()) return;
    rows.push_back(launch::rowOf(*plan));
}

}  // namespace

Result<Recorded> readRecorded(const rundir::RunFolder& run, const Known& known, std::int32_t liveSession, int rings) {
    Recorded found;
    found.recorded.assign(std::size_t(rings), 0);
    std::error_code ignored;
    if (!std::filesystem::exists(run.database(), ignored)) {
        addPlanned(run, liveSession, found.sessions);
        return found;
    }
    LATHE_TRY_ASSIGN(auto reader, store::RunReader::open(run.database()));
    const auto open = reader->keepOpen();
    // First how far it goes: what is read later can only hold more, and doubles are told by their attempt.
    for (int ring = 0; ring < rings; ++ring) found.recorded[std::size_t(ring)] = reader->recordedSequence(ring, liveSession);
    LATHE_TRY_ASSIGN(found.sessions, reader->sessions());
    addPlanned(run, liveSession, found.sessions);
    LATHE_TRY_ASSIGN(const auto series, reader->series());
    for (const store::SeriesSummary& each : series) found.units[each.name] = each.unit;
    for (const std::string& name : namesInOrder(series)) {
        const auto newest = known.newest.find(name);
        const auto [session, attempt] = newest == known.newest.end() ? std::pair<std::int32_t, std::int64_t>{0, -1} : newest->second;
        LATHE_TRY_ASSIGN(auto points, reader->points(name, store::RunReader::Line::All, session, attempt));
        if (!points.empty()) found.points.emplace_back(name, std::move(points));
    }
    std::int64_t after = known.event;
    while (true) {
        LATHE_TRY_ASSIGN(auto events, reader->events(after, kEventsAtOnce));
        const std::size_t n = events.size();
        if (n) after = events.back().id;
        std::move(events.begin(), events.end(), std::back_inserter(found.events));
        if (n < kEventsAtOnce) break;
    }
    LATHE_TRY_ASSIGN(found.ringNames, reader->ringNames(liveSession));
    return found;
}

void addTo(RunData& data, Recorded& recorded) {
    data.setSessions(std::move(recorded.sessions));
    for (const auto& [name, unit] : recorded.units) data.setUnit(name, unit);
    for (const auto& [name, points] : recorded.points) data.appendAll(name, points);
}

Result<History> readHistory(const rundir::RunFolder& run) {
    History history;
    history.mark = markOf(run);
    LATHE_TRY_ASSIGN(Recorded recorded, readRecorded(run, {}, 0, 0));
    addTo(history.data, recorded);
    history.events = std::move(recorded.events);
    return history;
}

}  // namespace lathe::session
