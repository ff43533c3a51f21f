// What a live session answers to windows and terminals.
#include "launch/session/session.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/number_text.h"
#include "launch/run/disk_outlook.h"
#include "launch/run/run_settings.h"
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
        case Verb::Release:
            return askToRelease();
        case Verb::StopAndSave:
        case Verb::Discard:
            if (const std::string lost = request.verb == Verb::StopAndSave ? whatAStopWouldLose() : std::string(); !lost.empty()) return {0, false, lost, {}};
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

/// Where it is plain that it could not save as it leaves. A sentence with what to do, or empty.
std::string Session::whatAStopWouldLose() const {
    if (isProgram() || m_control.stop != live::Control::Stop::None) return {};
    const bool standsStill = m_beat.phase == live::Phase::Paused || m_beat.phase < live::Phase::FirstUpdate;
    if (standsStill && m_book->lastStep() <= m_checkpoints->safe().step) return {};   // all is saved
    const DiskRoom room = roomOf(m_run.checkpoints());
    const std::uint64_t needed = nextSaveOf(m_run);
    const bool isFull = needed > 0 ? needed > room.freeBytes : room.freeBytes < kLeastForSession && !m_book->lastSaveProblem().empty();
    const std::string what = room.isThere && !room.isWritable ? "its disk cannot be written" : !room.isThere || !isFull ? "" : "its disk is full (" + diskText(room.freeBytes) + " free" + (needed > 0 ? ", a checkpoint needs " + diskText(needed) : "") + ")";
    if (what.empty()) return {};
    return "It cannot save as it stops, since " + what + ", so it goes on. Mend that and stop it again, or leave without saving: lathe-trainer stop " + m_run.name() + " --discard";
}

/// Not ok: is stopping that way already.
Reply Session::askToStop(bool discard) {
    const auto wish = discard ? live::Control::Stop::Discard : live::Control::Stop::SaveAndStop;
    if (m_control.stop >= wish) return {0, false, "Is stopping already: " + stoppingText(), {}};
    m_control.stop = wish;
    m_releaseAfter.reset();
    const bool listens = !isProgram() || m_program->listensForStop();
    m_ladder.ask(discard, now(), listens);
    m_stopNumber = m_control.number + 1;   // told by the next setWishes()
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
    m_pauseWhy = "Paused on request";
    m_releaseAfter.reset();
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

/// A pause and a save in one wish; what comes of the save decides about the rest.
Reply Session::askToRelease() {
    if (m_ladder.stage() != StopLadder::Stage::None) return {0, false, "This run is stopping", {}};
    if (isProgram()) return {0, false, std::string(kOwnCheckpoints) + "; stop it instead, or pause it where it is", {}};
    if (m_releaseAfter) return {0, true, "Saves, and lets its memory go then", {}};
    m_releaseAfter = m_book->saves();
    m_failedBefore = m_book->failedSaves();
    if (!m_control.pause) m_pauseWhy = "Paused on request";
    m_control.pause = true;
    ++m_control.saveRequests;
    setWishes();
    const Reply reply{0, true, "Pauses after this update, saves, and lets its memory go", {}};
    tellEvent("asked", reply.text);
    m_summaryDue = true;
    return reply;
}

void Session::releaseOnceSaved() {
    if (!m_releaseAfter || m_ladder.stage() != StopLadder::Stage::None) return;
    if (m_book->failedSaves() > m_failedBefore) {
        m_releaseAfter.reset();
        return tellEvent("warning", "It could not be saved, so it stays paused and keeps its memory: " + m_book->lastSaveProblem());
    }
    if (m_book->saves() <= *m_releaseAfter || m_beat.phase != live::Phase::Paused) return;
    m_control.stop = live::Control::Stop::SaveAndStop;   // there is nothing left to save
    m_ladder.ask(false, now());
    m_stopNumber = m_control.number + 1;
    setWishes();
    tellEvent("asked", "Saved; the memory is let go");
}

std::optional<Stopping> Session::stopping() const {
    auto out = m_ladder.stopping(now());
    if (!out || out->stage != StopStage::Asked) return out;
    if (m_beat.phase == live::Phase::Saving) out->stage = StopStage::Saving;
    else if (m_beat.phase == live::Phase::Finishing || m_beat.phase == live::Phase::Ended) out->stage = StopStage::Leaving;
    else if (m_beat.acknowledged >= m_stopNumber && !isProgram()) out->stage = StopStage::FinishingUpdate;
    return out;
}

std::string Session::stoppingText() const {
    const auto now = stopping();
    return now ? sentenceOf(*now) : std::string();
}

std::string Session::statusJson() const {
    json status = {{"state", rundir::name(m_summary.state)}, {"phase", live::name(m_beat.phase)}, {"done", m_beat.done},
                   {"total", m_beat.total}, {"session", m_options.session}, {"counters", rundir::countersJson(m_summary.counters)},
                   {"saves", m_program ? m_program->savedRequests() : m_book->saves()}, {"failed_saves", m_book->failedSaves()},
                   {"last_checkpoint", m_book->lastCheckpoint()}, {"save_problem", m_book->lastSaveProblem()},
                   {"recorder_problem", m_recorderProblem}, {"lost_frames", m_lost + m_beat.lostFrames + (m_program ? m_program->missing() : 0)},
                   {"spilled_frames", m_beat.spilledFrames}, {"pause_asked", m_control.pause},
                   {"silent_seconds", silence().second}};
    if (world() > 1) status["silent_rank"] = silence().first;
    if (m_summary.plannedUpdates) status["planned_updates"] = *m_summary.plannedUpdates;
    if (m_summary.plannedUpdates) {
        if (const auto left = m_timeLeft.secondsFor(*m_summary.plannedUpdates - m_book->lastStep())) status["seconds_left"] = *left;
    }
    if (const auto hang = m_hangs ? m_hangs->finding() : std::nullopt)
        status["hang"] = {{"rank", hang->rank}, {"silent", hang->isSilent}, {"seconds", hang->seconds}, {"place", placeOf(hang->beat)}, {"update", hang->beat.attempt + 1}};
    if (const auto stop = stopping()) status["stopping"] = stoppingJson(*stop);
    if (!isProgram()) {  // what a discard would lose
        const std::string checkpoint = m_book->lastCheckpoint().empty() && !m_record.weightsOnly ? m_record.checkpoint : m_book->lastCheckpoint();
        status["unsaved"] = {{"updates", std::max<std::int64_t>(0, m_book->lastStep() - m_checkpoints->safe().step)},
                             {"seconds", std::max(0.0, m_summary.activeSeconds - m_checkpoints->safe().activeSeconds)}, {"checkpoint", checkpoint}};
    }
    return status.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace lathe::launch
