// Reading run.sqlite off the GUI thread: everything at first, later only what is new.
#pragma once

#include "base/result.h"
#include "rundir/run_folder.h"
#include "session/run_data.h"
#include "session/run_facts.h"
#include "store/run_store.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lathe::session {

/// What a reader has already: newest (session, attempt) of each series, and the newest event's id in the database.
struct Known {
    std::map<std::string, std::pair<std::int32_t, std::int64_t>> newest;
    std::int64_t event = 0;
};

struct Recorded {
    std::vector<store::SessionRow> sessions;
    std::vector<std::pair<std::string, std::vector<store::Point>>> points;  ///< by series, in order
    std::map<std::string, std::string> units;
    std::vector<store::EventRow> events;                                    ///< ids of the database
    std::vector<store::RunReader::RingName> ringNames;                      ///< of the live session
    std::vector<std::uint64_t> recorded;                                    ///< by ring: durable up to here before the rest was read
};

/// `liveSession` 0: none; `rings`: of its segment. Blocks on the disk.
Result<Recorded> readRecorded(const rundir::RunFolder& run, const Known& known, std::int32_t liveSession, int rings);

/// A whole history with its pyramids, built by the caller's thread. A run without run.sqlite has an empty one.
struct History {
    SessionMark mark;   ///< taken before the rest was read: what ends later is not whole here
    RunData data;
    std::vector<store::EventRow> events;
};
Result<History> readHistory(const rundir::RunFolder& run);

void addTo(RunData& data, Recorded& recorded);

}  // namespace lathe::session
