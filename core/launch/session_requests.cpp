// What a live session answers to windows and terminals.
#include "launch/session.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/json_reader.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::launch {

using live::Reply;
using live::Verb;
using nlohmann::json;

static std::int64_t now() { return Clock::system().monotonicNs(); }

Reply Session::answer(const live::Request& request) {
    Reply reply;
    switch (request.verb) {
        case Verb::Attach:
            return reply;
        case Verb::Status:
            reply.json = statusJson();
            return reply;
        case Verb::Pin:
            return pin(request.argument);
        case Verb::SaveNow:
            if (m_ladder.stage() != StopLadder::Stage::None) return {0, false, "This run is stopping; it saves as it leaves", {}};
            ++m_control.saveRequests;
            reply.text = "Saves after this update";
            break;
        case Verb::Pause:
            if (m_ladder.stage() != StopLadder::Stage::None) return {0, false, "This run is stopping", {}};
            if (m_control.pause) return {0, true, "Is paused already", {}};
            m_control.pause = true;
            reply.text = "Pauses after this update; memory stays taken";
            break;
        case Verb::Unpause:
            if (!m_control.pause) return {0, true, "Is not paused", {}};
            m_control.pause = false;
            reply.text = "Goes on";
            break;
        case Verb::StopAndSave:
            if (m_control.stop != live::Control::Stop::None) return {0, true, "Is stopping already: " + m_ladder.text(now()), {}};
            m_control.stop = live::Control::Stop::SaveAndStop;
            m_ladder.ask(false, now());
            reply.text = "Finishes this update, saves and stops";
            break;
        case Verb::Discard:
            if (m_control.stop == live::Control::Stop::Discard) return {0, true, "Is stopping already: " + m_ladder.text(now()), {}};
            m_control.stop = live::Control::Stop::Discard;
            m_ladder.ask(true, now());
            reply.text = "Stops without saving";
            break;
    }
    setWishes();
    tellEvent("asked", reply.text);
    m_summaryDue = true;
    return reply;
}

Reply Session::pin(const std::string& folder) {
    if (!rundir::parseCheckpointName(folder)) return {0, false, "\"" + folder.substr(0, 100) + "\" is not a checkpoint's name", {}};
    const auto edited = rundir::editUser(FileSystem::real(), m_run, [&](rundir::UserRecord& user) {
        if (std::find(user.pinned.begin(), user.pinned.end(), folder) == user.pinned.end()) user.pinned.push_back(folder);
    });
    if (!edited) return {0, false, edited.error().text(), {}};
    return {0, true, "Pinned " + folder, {}};
}

std::string Session::statusJson() const {
    json status = {{"state", rundir::name(m_summary.state)}, {"phase", live::name(m_beat.phase)}, {"done", m_beat.done},
                   {"total", m_beat.total}, {"session", m_options.session}, {"counters", rundir::countersJson(m_summary.counters)},
                   {"saves", m_book->saves()}, {"failed_saves", m_book->failedSaves()},
                   {"last_checkpoint", m_book->lastCheckpoint()}, {"save_problem", m_book->lastSaveProblem()},
                   {"recorder_problem", m_recorderProblem}, {"lost_frames", m_lost + m_beat.lostFrames},
                   {"spilled_frames", m_beat.spilledFrames}, {"pause_asked", m_control.pause},
                   {"silent_seconds", silentSeconds()}};
    if (m_summary.plannedUpdates) status["planned_updates"] = *m_summary.plannedUpdates;
    if (m_summary.plannedUpdates) {
        if (const auto left = m_timeLeft.secondsFor(*m_summary.plannedUpdates - m_book->lastStep())) status["seconds_left"] = *left;
    }
    if (m_ladder.stage() != StopLadder::Stage::None) {
        status["stopping"] = {{"text", m_ladder.text(now())}, {"seconds_left", m_ladder.secondsLeft(now())}, {"discards", m_ladder.discards()}};
    }
    return status.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace lathe::launch
