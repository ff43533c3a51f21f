#include "launch/run/session_row.h"

#include "rundir/checkpoint_manifest.h"

#include <algorithm>

namespace lathe::launch {

std::int64_t startStepOf(const rundir::SessionRecord& record) {
    const auto named = rundir::parseCheckpointName(record.checkpoint);
    return named && !record.weightsOnly ? named->step.value() : 0;
}

store::SessionRow rowOf(const rundir::SessionRecord& record, std::int64_t lastStep) {
    store::SessionRow row;
    row.number = record.number;
    row.parentSession = record.parentSession;
    row.parentAttempt = record.parentAttempt;
    row.verb = record.verb;
    row.startedNs = record.startedNs;
    row.endedNs = record.endedNs;
    row.firstStep = startStepOf(record) + 1;
    row.lastStep = std::max(startStepOf(record), lastStep);
    if (record.state) row.end = rundir::name(*record.state);
    row.why = record.why;
    return row;
}

}  // namespace lathe::launch
