// What a live session answers to windows and terminals.
#include "launch/session.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "launch/verbs.h"
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
            if (isProgram() && m_control.pause)
                return {0, false, "This script is paused, and what stands still cannot save; let it go on first: lathe-trainer unpause " + m_run.name(), {}};
            if (isProgram() && !m_program->listensForSave())
                return {0, false, std::string(kOwnCheckpoints) + " and does not listen for a wish to save", {}};
            ++m_control.saveRequests;
            reply.text = isProgram() ? "The script is asked to save" : "Saves after this update";
            break;
        case Verb::Pause:
            return askToPause(true);
        case Verb::Unpause:
            return askToPause(false);
        case Verb::StopAndSave:
        case Verb::Discard:
            reply = askToStop(request.verb == Verb::Discard);
            if (reply.ok) break;
            reply.ok = true;  // what is asked for happens already
            return reply;
    }
    setWishes();
    tellEvent("asked", reply.text);
    m_summaryDue = true;
    return reply;
}

/// Not ok: is stopping that way already.
Reply Session::askToStop(bool discard) {
    const auto wish = discard ? live::Control::Stop::Discard : live::Control::Stop::SaveAndStop;
    if (m_control.stop >= wish) return {0, false, "Is stopping already: " + m_ladder.text(now()), {}};
    m_control.stop = wish;
    const bool listens = !isProgram() || m_program->listensForStop();
    m_ladder.ask(discard, now(), listens);
    if (isProgram() && m_control.pause) {  // what stands still can neither hear nor save
        m_command->pause(false);
        m_control.pause = false;
        m_pausedNs += now() - m_pauseBeganNs;
    }
    if (isProgram()) return {0, true, listens ? "The script is asked to stop" : "The script is told to leave (SIGTERM)", {}};
    return {0, true, discard ? "Stops without saving" : "Finishes this update, saves and stops", {}};
}

Reply Session::askToPause(bool pause) {
    if (m_ladder.stage() != StopLadder::Stage::None) return {0, false, "This run is stopping", {}};
    if (m_control.pause == pause) return {0, true, pause ? "Is paused already" : "Is not paused", {}};
    if (m_options.recording) return {0, false, "This script was started elsewhere and is not held from here; one that lathe-trainer run --command starts can be", {}};
    m_control.pause = pause;
    setWishes();
    Reply reply{0, true, pause ? "Pauses after this update; memory stays taken" : "Goes on", {}};
    if (isProgram()) {
        m_command->pause(pause);
        if (pause) m_pauseBeganNs = now();
        else m_pausedNs += now() - m_pauseBeganNs;
        if (pause) reply.text = "Is held where it is (SIGSTOP); memory stays taken";
    }
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
                   {"saves", m_program ? m_program->savedRequests() : m_book->saves()}, {"failed_saves", m_book->failedSaves()},
                   {"last_checkpoint", m_book->lastCheckpoint()}, {"save_problem", m_book->lastSaveProblem()},
                   {"recorder_problem", m_recorderProblem}, {"lost_frames", m_lost + m_beat.lostFrames + (m_program ? m_program->missing() : 0)},
                   {"spilled_frames", m_beat.spilledFrames}, {"pause_asked", m_control.pause},
                   {"silent_seconds", silentSeconds()}};
    if (m_summary.plannedUpdates) status["planned_updates"] = *m_summary.plannedUpdates;
    if (m_summary.plannedUpdates) {
        if (const auto left = m_timeLeft.secondsFor(*m_summary.plannedUpdates - m_book->lastStep())) status["seconds_left"] = *left;
    }
    if (m_hang) status["hang"] = {{"rank", m_hang->rank}, {"silent", m_hang->isSilent}, {"seconds", m_hang->seconds}, {"place", placeOf(m_hang->beat)}, {"update", m_hang->beat.attempt + 1}};
    if (m_ladder.stage() != StopLadder::Stage::None) {
        status["stopping"] = {{"text", m_ladder.text(now())}, {"seconds_left", m_ladder.secondsLeft(now())}, {"discards", m_ladder.discards()}};
    }
    return status.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace lathe::launch
