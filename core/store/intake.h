// What a RunWriter has taken from the rings and not yet put away: frames become rows of groups, events and names.
// Thread: one thread at a time.
#pragma once

#include "live/frame.h"
#include "store/row_group.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace lathe::store {

class Intake {
public:
    struct RingKey {
        std::int32_t session = 0;
        int ring = 0;
        auto operator<=>(const RingKey&) const = default;
    };
    /// Where the values of one series id of a ring go.
    struct Place {
        std::int64_t series = 0;  ///< id in the database, 0: not declared
        RowGroup* group = nullptr;
        std::size_t column = 0;
    };
    struct Ring {
        std::uint64_t taken = 0, recorded = 0;
        std::uint64_t damaged = 0;  ///< frames left out
        std::vector<Place> places;  ///< by series id of the ring
    };
    struct NewSeries {
        std::int64_t id = 0;
        std::string name, unit;
    };
    struct NewName {
        RingKey ring;
        std::uint16_t id = 0;
        std::int64_t series = 0;
    };

    /// What the database knows already, before the first frame.
    void knowSeries(std::int64_t id, const std::string& name);
    void knowName(RingKey ring, std::uint16_t id, std::int64_t series) { place(ring, id).series = series; }
    void knowRing(RingKey ring, std::uint64_t recorded) { rings[ring].taken = rings[ring].recorded = recorded; }
    void knowGroup(RowGroup group);
    void setNextGroup(std::int64_t id) { m_nextGroup = id; }

    void take(RingKey ring, std::uint64_t sequence, live::FrameType type, std::span<const std::byte> payload);
    /// Groups of this session (or of all others) get no more rows.
    void seal(std::int32_t session, bool allOthers);
    bool hasNews() const;
    /// After a commit: forgets what was put away; `closed` rows at the front of each group, by place in `groups`.
    void committed(const std::vector<std::size_t>& closed);

    std::vector<std::unique_ptr<RowGroup>> groups;
    std::map<RingKey, Ring> rings;
    std::vector<NewSeries> newSeries;
    std::vector<NewName> newNames;
    std::vector<live::EventFrame> events;
    std::vector<live::RecordFrame> records;
    std::vector<live::DigestFrame> digests;
    std::size_t pendingBytes = 0;

private:
    Place& place(RingKey ring, std::uint16_t id);
    std::int64_t seriesOf(const std::string& name, const std::string& unit);
    void declare(RingKey ring, std::uint16_t id, const std::string& name, const std::string& unit);
    void takePoints(RingKey key, const live::PointsFrame& frame);
    void findHome(std::int32_t session, Ring& ring, Place& place, RowGroup*& fresh);
    void beginRow(RowGroup& group, const live::PointsFrame& frame);

    std::unordered_map<std::string, std::int64_t> m_seriesByName;
    std::int64_t m_nextSeries = 1;
    std::int64_t m_nextGroup = 1;
    std::vector<RowGroup*> m_touched;  ///< groups that have a row of the frame being taken
};

}  // namespace lathe::store
