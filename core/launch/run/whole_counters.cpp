#include "launch/run/whole_counters.h"

#include "launch/run/session_end.h"
#include "rundir/checkpoint_manifest.h"
#include "store/run_store.h"

#include <algorithm>

namespace lathe::launch {

/// With these counters, whatever branch it lies on.
static bool isSaved(const rundir::RunFolder& run, const Counters& counters) {
    const auto all = rundir::listCheckpoints(run.checkpoints());
    return std::any_of(all.begin(), all.end(), [&](const rundir::CheckpointInfo& info) {
        if (info.attempt != counters.updateAttempts) return false;
        const auto manifest = rundir::readCheckpoint(run.checkpoints() / info.folder);
        return manifest && manifest->counters == counters;
    });
}

static bool isToldAtAnEnd(const rundir::RunFolder& run, const Counters& counters) {
    const auto reader = store::RunReader::open(run.database());
    for (std::int64_t after = 0; reader;) {
        const auto events = (*reader)->events(after);
        if (!events || events->empty()) return false;
        for (const store::EventRow& row : *events) {
            const auto ended = row.event.kind == "ended" ? endedFrom(row.event) : std::nullopt;
            if (ended && ended->counters == counters) return true;
        }
        after = events->back().id;
    }
    return false;
}

bool areWhole(const rundir::RunFolder& run, const rundir::Summary& summary) {
    if (summary.task == rundir::kCommandTask || summary.task == rundir::kImportedTask) return false;
    return summary.counters.updateAttempts.value() == 0 || isSaved(run, summary.counters) || isToldAtAnEnd(run, summary.counters);
}

}  // namespace lathe::launch
