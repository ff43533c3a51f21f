// A look at the small files of a run folder, off the GUI thread.
#pragma once

#include "launch/run/standing.h"
#include "launch/session/retention.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/run_folder.h"
#include "session/run_words.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lathe::session {

/// How far a run has come, as its files tell: its newest session, and whether that one has ended and been written down.
struct SessionMark {
    int session = 0;
    bool ended = false;
    bool operator==(const SessionMark&) const = default;
};
SessionMark markOf(const rundir::RunFolder& run);

/// How a run stands, and where it is up, what is the matter; `why` tells it.
struct Seen : launch::Standing {
    Snag snag = Snag::None;
};
Seen seen(const rundir::RunFolder& run);

/// Where a run lies now, whoever moved it.
enum class Whereabouts { InPlace, InTrash, Gone };

struct RunFacts {
    Whereabouts whereabouts = Whereabouts::InPlace;   ///< Gone: nothing else is known
    SessionMark mark;
    Seen standing;
    std::optional<rundir::LiveRecord> live;
    std::optional<rundir::RunManifest> manifest;
    std::optional<rundir::Summary> summary;
    rundir::UserRecord user;
    std::string problem;                                          ///< run.json cannot be read: why
    std::optional<std::vector<rundir::CheckpointInfo>> checkpoints;  ///< nothing: as before
    std::vector<launch::PlannedCheckpoint> plan;                  ///< with `checkpoints`: what the rule does with them; empty: none is known
    std::int64_t checkpointsStamp = 0;
    std::optional<rundir::MemoryRecord> memory;                   ///< where memory ran out in the newest session
    std::string status;                                           ///< the supervisor's own, as JSON, while the run is up here
};

/// `checkpointsStamp` and `pinned` of the last look: checkpoints are listed only when one of them changed.
RunFacts lookAt(const rundir::RunFolder& run, std::int64_t checkpointsStamp, const std::vector<std::string>& pinned);

bool sameUser(const rundir::UserRecord& a, const rundir::UserRecord& b);

}  // namespace lathe::session
