// What others see of a session that is up: the status that its socket answers with, and what a terminal shows of it.
// Thread: that of the session.
#pragma once

#include "launch/session/published_checkpoints.h"
#include "launch/session/running.h"
#include "launch/session/session_recorder.h"
#include "launch/session/session_wishes.h"
#include "launch/session/supervisor.h"

#include <string>

namespace lathe::launch {

struct SessionView {
    const rundir::SessionRecord& record;
    const rundir::Summary& summary;
    const SessionRecorder& recorder;
    const Running& running;
    const SessionWishes& wishes;
    const PublishedCheckpoints& checkpoints;
    int ranks = 1;
};

/// The answer to live::Verb::Status: an object of facts.
std::string statusJson(const SessionView& view);
/// But for what was said.
Glance glanceAt(const SessionView& view);

}  // namespace lathe::launch
