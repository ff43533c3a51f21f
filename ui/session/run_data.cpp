#include "session/run_data.h"

#include <algorithm>
#include <limits>

namespace lathe::session {

namespace {

/// Points of a series up to and including `attempt`.
std::size_t pointsUpTo(const Series& series, std::int64_t attempt) {
    if (attempt == std::numeric_limits<std::int64_t>::max()) return series.size();
    return std::min(series.size(), series.grid()->attempts.lowerBound(double(attempt) + 0.5));
}

bool startsBranch(const store::SessionRow& row) { return row.verb == "roll-back"; }

}  // namespace

void RunData::setSessions(std::vector<store::SessionRow> sessions) {
    for (store::SessionRow& row : sessions) {
        const auto same = std::find_if(m_sessions.begin(), m_sessions.end(), [&](const auto& known) { return known.number == row.number; });
        if (same != m_sessions.end()) *same = std::move(row);
        else m_sessions.push_back(std::move(row));
    }
    std::sort(m_sessions.begin(), m_sessions.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
    m_line = store::survivingLine(m_sessions);
    ++m_shape;
}

const store::SessionRow* RunData::row(std::int32_t session) const {
    const auto it = std::find_if(m_sessions.begin(), m_sessions.end(), [&](const auto& known) { return known.number == session; });
    return it == m_sessions.end() ? nullptr : &*it;
}

int RunData::branchOf(std::int32_t session) const {
    std::map<std::int32_t, int> branch;
    int newest = 0;
    for (const store::SessionRow& each : m_sessions) {
        const auto parent = branch.find(each.parentSession);
        branch[each.number] = startsBranch(each) ? ++newest : parent == branch.end() ? 0 : parent->second;
    }
    return branch[session];
}

std::int64_t RunData::lastAttemptOnLine(std::int32_t session) const {
    const auto it = std::find_if(m_line.begin(), m_line.end(), [&](const auto& part) { return part.session == session; });
    return it == m_line.end() ? -1 : it->lastAttempt;
}

bool RunData::onSurvivingLine(std::int32_t session, std::int64_t attempt) const { return attempt <= lastAttemptOnLine(session); }

double RunData::secondsBefore(std::int32_t session) const {
    if (const auto known = m_secondsBefore.find(session); known != m_secondsBefore.end()) return known->second;
    double seconds = 0;
    const store::SessionRow* own = row(session);
    if (const auto grids = own ? m_grids.find(own->parentSession) : m_grids.end(); grids != m_grids.end())
        for (const auto& grid : grids->second) {
            const std::size_t n = std::min(grid->size(), grid->attempts.lowerBound(double(own->parentAttempt) + 0.5));
            if (n) seconds = std::max(seconds, grid->seconds.at(n - 1));
        }
    return m_secondsBefore[session] = seconds;
}

Series& RunData::seriesOf(const std::string& name, std::int32_t session, std::int64_t firstAttempt) {
    std::unique_ptr<Series>& series = m_series[name][session];
    if (series) return *series;
    if (!row(session)) {
        store::SessionRow unknown;
        unknown.number = session;
        setSessions({unknown});
    }
    auto& grids = m_grids[session];
    const auto fitting = std::find_if(grids.begin(), grids.end(), [&](const auto& grid) {
        return grid->size() && std::int64_t(grid->attempts.at(0)) == firstAttempt;
    });
    const std::shared_ptr<Grid> grid = fitting == grids.end() ? grids.emplace_back(std::make_shared<Grid>()) : *fitting;
    series = std::make_unique<Series>(grid);
    ++m_shape;
    return *series;
}

bool RunData::appendTo(Series& series, const store::Point& point) {
    const std::size_t n = series.size();
    if (n && point.attempt <= series.attemptAt(n - 1)) return false;
    if (series.grid()->size() > n && series.attemptAt(n) != point.attempt) {
        series.separate();
        m_grids[point.session].push_back(series.grid());
    }
    if (series.grid()->size() == n)
        series.grid()->append(point.attempt, point.step, secondsBefore(point.session) + double(point.activeNs) * 1e-9);
    series.append(point.value);
    ++m_points;
    return true;
}

bool RunData::append(const std::string& name, const store::Point& point) {
    return appendTo(seriesOf(name, point.session, point.attempt), point);
}

void RunData::appendAll(const std::string& name, const std::vector<store::Point>& points) {
    Series* series = nullptr;
    std::int32_t session = 0;
    for (const store::Point& point : points) {
        if (!series || point.session != session) series = &seriesOf(name, session = point.session, point.attempt);
        appendTo(*series, point);
    }
}

std::vector<std::string> RunData::names() const {
    std::vector<std::string> names;
    for (const auto& [name, sessions] : m_series) names.push_back(name);
    return names;
}

std::string RunData::unit(const std::string& name) const {
    const auto it = m_units.find(name);
    return it == m_units.end() ? std::string() : it->second;
}

const Series* RunData::find(const std::string& name, std::int32_t session) const {
    const auto sessions = m_series.find(name);
    if (sessions == m_series.end()) return nullptr;
    const auto series = sessions->second.find(session);
    return series == sessions->second.end() ? nullptr : series->second.get();
}

std::vector<Piece> RunData::pieces(const std::string& name) const {
    std::vector<Piece> pieces;
    const auto sessions = m_series.find(name);
    if (sessions == m_series.end()) return pieces;
    bool lineBegun = false;
    for (const auto& [number, series] : sessions->second) {
        const store::SessionRow* own = row(number);
        Piece piece;
        piece.series = series.get();
        piece.session = number;
        piece.branch = branchOf(number);
        if (const Series* parent = own ? find(name, own->parentSession) : nullptr) {
            piece.parentSession = own->parentSession;
            piece.parentPoints = pointsUpTo(*parent, own->parentAttempt);
        }
        const std::int64_t last = lastAttemptOnLine(number);
        const std::size_t kept = last < 0 ? 0 : pointsUpTo(*series, last);
        const bool open = last == std::numeric_limits<std::int64_t>::max();
        if (kept || open) {
            piece.joined = lineBegun && !startsBranch(*own);
            piece.end = open ? SIZE_MAX : kept;
            pieces.push_back(piece);
            lineBegun = true;
        }
        if (open || kept >= series->size()) continue;
        piece.begin = kept;
        piece.end = SIZE_MAX;
        piece.abandoned = true;
        piece.joined = false;
        pieces.push_back(piece);
    }
    return pieces;
}

std::optional<RunData::Latest> RunData::latest(const std::string& name) const {
    for (const store::LinePart& part : m_line) {  // newest session first
        const Series* series = find(name, part.session);
        const std::size_t n = series ? pointsUpTo(*series, part.lastAttempt) : 0;
        if (n) return Latest{double(series->at(n - 1)), std::int64_t(series->xAt(n - 1, XAxis::Step))};
    }
    return std::nullopt;
}

std::int64_t RunData::newestAttempt(const std::string& name, std::int32_t session) const {
    const Series* series = find(name, session);
    return series && series->size() ? series->attemptAt(series->size() - 1) : -1;
}

}  // namespace lathe::session
