#include "launch/run/undo.h"

#include "base/file_system.h"
#include "base/log.h"
#include "launch/run/frame_book.h"

#include <vector>

namespace lathe::launch {

using rundir::SessionRecord;

/// It failed, and made no update.
static bool madeNothing(const SessionRecord& record) {
    return record.state && rundir::isTrouble(*record.state) && record.counters && record.counters->updateAttempts.value() <= record.parentAttempt;
}

static bool isAsked(const SessionRecord& record) { return record.verb == "roll-back" && record.rollBacks == 0; }

/// At its start the roll-back let go of the best value and of the curve behind its point.
static void putBack(const rundir::RunFolder& run, const SessionRecord& place, rundir::Summary& summary) {
    auto before = recordedSummary(run, place.number);
    if (!before) log::warning(before.error().text());
    if (before && *before) takeProgress(summary, std::move(**before));
    summary.counters = *place.counters;
}

/// The session whose state the run has there: one that was undone itself only passed it on.
static Result<SessionRecord> placeAt(const rundir::RunFolder& run, int session) {
    auto place = rundir::readSession(run, session);
    while (place && place->undone && place->parentSession > 0 && place->parentSession < place->number) place = rundir::readSession(run, place->parentSession);
    return place;
}

void undo(const rundir::RunFolder& run, SessionRecord& ended, rundir::Summary& summary) {
    if (ended.undone) {   // cut off behind its record
        const auto stayed = placeAt(run, ended.parentSession);
        if (stayed && stayed->counters) putBack(run, *stayed, summary);
        return;
    }
    if (!madeNothing(ended)) return;
    std::vector<SessionRecord> between;   // restarts, and at last the roll-back that they are of
    int before = ended.number - 1;
    for (bool found = isAsked(ended); !found; --before) {
        auto record = rundir::readSession(run, before);
        const bool isRestart = (between.empty() ? ended : between.back()).verb == "restart";
        if (!record || !isRestart || !madeNothing(*record)) return;
        found = isAsked(*record);
        between.push_back(std::move(*record));
    }
    const auto place = placeAt(run, before);
    if (!place || !place->counters) return;   // where it was is not known
    between.push_back(std::move(ended));
    for (SessionRecord& record : between) {
        record.undone = true;
        record.parentSession = place->number;
        record.parentAttempt = place->counters->updateAttempts.value();
        record.counters = place->counters;
    }
    ended = std::move(between.back());
    between.pop_back();
    ended.why += ". The run stays where it was, at step " + std::to_string(place->counters->globalStep.value());
    for (const SessionRecord& record : between)
        if (const auto written = rundir::writeSession(FileSystem::real(), run, record); !written) log::warning(written.error().text());
    putBack(run, *place, summary);
}

int standingSession(const rundir::RunFolder& run) {
    for (int session = rundir::newestSession(run); session > 0; --session) {
        const auto record = rundir::readSession(run, session);
        if (!record || !record->undone) return session;
    }
    return 0;
}

}  // namespace lathe::launch
