// Everything a run recorded, ready to be drawn: series by name and session, and how the sessions hang together.
// No Qt. Thread: built on one, handed over whole, then used by one.
#pragma once

#include "live/frame.h"
#include "session/series.h"
#include "store/run_store.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lathe::session {

/// A stretch of one session's series. Pieces of the surviving line and abandoned ones never overlap.
struct Piece {
    const Series* series = nullptr;
    std::size_t begin = 0, end = SIZE_MAX;  ///< points; SIZE_MAX: up to the newest, also later ones
    std::int32_t session = 0;
    int branch = 0;                         ///< 0 for the first; grows with each roll-back
    bool abandoned = false;
    bool joined = false;                    ///< its first point goes on from the surviving piece before it
    std::int32_t parentSession = 0;         ///< whose smoothing it continues, 0: none
    std::size_t parentPoints = 0;
};

class RunData {
public:
    /// Sessions as known so far; those already there are replaced. Points of sessions never announced get one of their own.
    void setSessions(std::vector<store::SessionRow> sessions);
    const std::vector<store::SessionRow>& sessions() const { return m_sessions; }
    int branchOf(std::int32_t session) const;
    bool onSurvivingLine(std::int32_t session, std::int64_t attempt) const;

    /// Doubles (an attempt at or before the newest of that series and session) are ignored. Returns whether it was new.
    bool append(const std::string& name, const store::Point& point);
    /// The same for points in order, quicker.
    void appendAll(const std::string& name, const std::vector<store::Point>& points);
    void setUnit(const std::string& name, const std::string& unit) { m_units[name] = unit; }

    /// Names in alphabetical order.
    std::vector<std::string> names() const;
    std::string unit(const std::string& name) const;
    const Series* find(const std::string& name, std::int32_t session) const;
    /// Oldest session first. Pointers stay valid for the life of this object.
    std::vector<Piece> pieces(const std::string& name) const;
    /// Newest point on the surviving line.
    struct Latest {
        double value = 0;
        std::int64_t step = 0;
    };
    std::optional<Latest> latest(const std::string& name) const;
    std::int64_t newestAttempt(const std::string& name, std::int32_t session) const;  ///< -1: none
    /// Active time of the line before a session: x of its points counts from there.
    double secondsBefore(std::int32_t session) const;
    std::size_t points() const { return m_points; }
    /// Grows whenever a new series of a session or a session appears: pieces() then differ.
    std::uint64_t shapeVersion() const { return m_shape; }

private:
    const store::SessionRow* row(std::int32_t session) const;
    std::int64_t lastAttemptOnLine(std::int32_t session) const;  ///< -1: not on the surviving line
    Series& seriesOf(const std::string& name, std::int32_t session, std::int64_t firstAttempt);
    bool appendTo(Series& series, const store::Point& point);

    std::vector<store::SessionRow> m_sessions;
    std::vector<store::LinePart> m_line;
    std::map<std::string, std::map<std::int32_t, std::unique_ptr<Series>>> m_series;
    std::map<std::string, std::string> m_units;
    std::map<std::int32_t, std::vector<std::shared_ptr<Grid>>> m_grids;  ///< by session, for series to share
    mutable std::map<std::int32_t, double> m_secondsBefore;
    std::size_t m_points = 0;
    std::uint64_t m_shape = 0;
};

}  // namespace lathe::session
