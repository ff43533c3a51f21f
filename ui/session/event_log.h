// Events of a run from two sources, each kept once: the database and the rings.
#pragma once

#include "store/run_store.h"

#include <cstdint>
#include <vector>

namespace lathe::session {

class EventLog {
public:
    /// From the database, `row.id` its id there. Returns whether it was new.
    bool addRecorded(const store::EventRow& row);
    bool addLive(const live::EventFrame& frame);
    /// Ids count from 1 in the order of arrival: the same event keeps its id for the life of this object only.
    const std::vector<store::EventRow>& rows() const { return m_rows; }
    std::int64_t newestInDatabase() const { return m_newest; }

private:
    bool has(const live::EventFrame& frame) const;

    std::vector<store::EventRow> m_rows;
    std::int64_t m_newest = 0;
};

}  // namespace lathe::session
