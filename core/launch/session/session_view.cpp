#include "launch/session/session_view.h"

#include "base/clock.h"
#include "rundir/json_reader.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::launch {

using nlohmann::json;

/// What a discard would lose.
static json unsaved(const SessionView& view) {
    const FrameBook& book = view.recorder.book();
    const PublishedCheckpoints::Safe& safe = view.checkpoints.safe();
    const std::string checkpoint = book.lastCheckpoint().empty() && !view.record.weightsOnly ? view.record.checkpoint : book.lastCheckpoint();
    return {{"updates", std::max<std::int64_t>(0, book.lastStep() - safe.step)},
            {"seconds", std::max(0.0, view.summary.activeSeconds - safe.activeSeconds)}, {"checkpoint", checkpoint}};
}

std::string statusJson(const SessionView& view) {
    const FrameBook& book = view.recorder.book();
    const live::Heartbeat& beat = view.running.beat();
    const ProgramFrames* frames = view.running.frames();
    const auto [silentRank, silentSeconds] = view.running.silence(Clock::system().monotonicNs());
    json status = {{"state", rundir::name(view.summary.state)}, {"phase", live::name(beat.phase)}, {"done", beat.done},
                   {"total", beat.total}, {"session", view.record.number}, {"counters", rundir::countersJson(view.summary.counters)},
                   {"saves", frames ? frames->savedRequests() : book.saves()}, {"failed_saves", book.failedSaves()},
                   {"last_checkpoint", book.lastCheckpoint()}, {"save_problem", book.lastSaveProblem()},
                   {"recorder_problem", view.recorder.problem()}, {"lost_frames", view.recorder.lost() + beat.lostFrames + (frames ? frames->missing() : 0)},
                   {"spilled_frames", beat.spilledFrames}, {"pause_asked", view.wishes.isPauseAsked()},
                   {"silent_seconds", silentSeconds}};
    if (view.ranks > 1) status["silent_rank"] = silentRank;
    if (view.summary.plannedUpdates) {
        status["planned_updates"] = *view.summary.plannedUpdates;
        if (const auto left = view.recorder.secondsUntil(*view.summary.plannedUpdates)) status["seconds_left"] = *left;
    }
    if (const auto hang = view.running.hang())
        status["hang"] = {{"rank", hang->rank}, {"silent", hang->isSilent}, {"seconds", hang->seconds}, {"place", placeOf(hang->beat)}, {"update", hang->beat.attempt + 1}};
    if (const auto stop = view.wishes.stopping()) status["stopping"] = stoppingJson(*stop);
    if (!view.running.isProgram()) status["unsaved"] = unsaved(view);
    return status.dump(-1, ' ', false, json::error_handler_t::replace);
}

static std::string phaseText(const SessionView& view) {
    const live::Heartbeat& beat = view.running.beat();
    std::string text(live::name(beat.phase));
    if (beat.total > 0) text += " " + std::to_string(beat.done) + "/" + std::to_string(beat.total);
    const auto [rank, seconds] = view.running.silence(Clock::system().monotonicNs());
    return text + silenceText(seconds, view.ranks > 1 ? rank : -1);
}

Glance glanceAt(const SessionView& view) {
    const FrameBook& book = view.recorder.book();
    Glance glance;
    glance.state = view.summary.state;
    glance.phase = phaseText(view);
    glance.step = book.lastStep();
    glance.plannedSteps = view.summary.plannedUpdates;
    glance.loss = book.last("train/loss");
    glance.learningRate = book.last("train/lr");
    glance.samplesPerSecond = book.last("train/samples_per_second");
    if (glance.plannedSteps) glance.secondsLeft = view.recorder.secondsUntil(*glance.plannedSteps);
    glance.stopping = view.wishes.stopping();
    return glance;
}

}  // namespace lathe::launch
