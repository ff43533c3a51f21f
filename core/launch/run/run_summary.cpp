#include "launch/run/run_summary.h"

#include "base/file_system.h"
#include "base/lasting.h"
#include "launch/run/frame_book.h"
#include "launch/run/run_settings.h"
#include "launch/run/settle.h"
#include "launch/run/undo.h"

#include <algorithm>
#include <utility>

namespace lathe::launch {

using rundir::RunFolder;
using rundir::Summary;

static bool isLost(const Result<Summary>& summary) { return !summary && isLasting(summary.error()); }

/// Of the newest session that recorded any.
static Result<Summary> recordedLast(const RunFolder& run, int newest, Summary made) {
    for (int session = newest; session > 0; --session) {
        auto recorded = recordedSummary(run, session);
        if (!recorded && !isLasting(recorded.error())) return std::move(recorded).error();
        if (!recorded || !*recorded) continue;
        Summary last = std::move(**recorded);   // its name and where it comes from stand in run.json
        last.id = made.id;
        last.name = made.name;
        last.preset = made.preset;
        last.createdNs = made.createdNs;
        last.parentRun = made.parentRun;
        return last;
    }
    return made;
}

Result<Summary> summaryOf(const RunFolder& run) {
    auto known = rundir::readSummary(run);
    if (!isLost(known)) return known;
    LATHE_TRY_ASSIGN(Summary made, rundir::readSummaryOrMake(run));
    LATHE_TRY_ASSIGN(const int newest, rundir::readNewestSession(run));
    const int standing = standingSession(run);   // one behind it was undone
    LATHE_TRY_ASSIGN(made, recordedLast(run, standing, std::move(made)));
    made.sessions = newest;
    if (const auto config = configOf(run, std::max(1, standing))) tellKind(*config, made);
    const auto record = rundir::readSession(run, newest);
    if (!record) return made;
    made.startedNs = record->startedNs;
    if (!record->state) return made;
    made.state = *record->state;
    made.why = record->why;
    made.endedNs = made.updatedNs = record->endedNs;
    if (record->counters) made.counters = *record->counters;
    return made;
}

Result<bool> mendSummary(const RunFolder& run) {
    if (!isLost(rundir::readSummary(run))) return false;
    LATHE_TRY_ASSIGN(const rundir::RunLock lock, takeRun(run));
    if (!isLost(rundir::readSummary(run))) return true;   // settling it wrote one
    LATHE_TRY_ASSIGN(const Summary made, summaryOf(run));
    LATHE_TRY(rundir::writeSummary(FileSystem::real(), run, made));
    return true;
}

}  // namespace lathe::launch
