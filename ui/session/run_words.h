// Words for what every list and page tells of runs, in the language of the window.
#pragma once

#include "rundir/run_folder.h"

#include <QString>

#include <cstdint>

namespace lathe::session {

/// What is the matter with a run that is up.
enum class Snag {
    None,
    Hangs,          ///< it does not get on
    NotRecorded,    ///< its supervisor stands still
    Unsupervised    ///< … is gone: what it ran saves and leaves
};

/// "Running", "Out of memory": the state's word, translated, with a capital; or that of what is the matter.
QString stateWord(rundir::State state, Snag snag = Snag::None);

/// "just now", "12 s ago", "5 min ago", "3 h ago", "28 Nov 18:18" for a wall time; empty for 0.
QString ageText(std::int64_t wallNs, std::int64_t nowNs);
/// A wall time to the second, with date and zone, for tooltips; empty for 0.
QString timeText(std::int64_t wallNs);
/// "18:18" of today, else "28 Nov 18:18".
QString dayTimeText(std::int64_t wallNs);

}  // namespace lathe::session
