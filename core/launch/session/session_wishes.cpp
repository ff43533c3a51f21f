#include "launch/session/session_wishes.h"

#include "base/clock.h"
#include "base/number_text.h"
#include "launch/run/disk_outlook.h"
#include "launch/run/run_settings.h"

#include <csignal>

namespace lathe::launch {

using live::Control;
using live::Reply;
using live::Verb;

static std::int64_t now() { return Clock::system().monotonicNs(); }
static Reply refused(const std::string& why) { return {0, false, why, {}}; }

SessionWishes::SessionWishes(const rundir::RunFolder& run, SessionRecorder& recorder, Running& running, const PublishedCheckpoints& checkpoints)
    : m_run(run), m_recorder(recorder), m_running(running), m_checkpoints(checkpoints) {
    tell();
}

void SessionWishes::tell() {
    ++m_control.number;
    m_recorder.setWishes(m_control);
    if (ProgramFrames* frames = m_running.frames()) frames->setWishes(m_control);
}

// ---- what is asked for

Reply SessionWishes::answer(Verb verb) {
    switch (verb) {
        case Verb::SaveNow: return save();
        case Verb::Pause: return pause(true);
        case Verb::Unpause: return pause(false);
        case Verb::Release: return release();
        case Verb::StopAndSave:
        case Verb::Discard: break;
        case Verb::Attach:
        case Verb::Status: return {};
    }
    const bool discard = verb == Verb::Discard;
    if (const std::string lost = discard ? std::string() : whatAStopWouldLose(); !lost.empty()) return refused(lost);
    Reply reply = stop(discard);
    if (!reply.ok) {
        reply.ok = true;  // what is asked for happens already
        return reply;
    }
    tell();
    return asked(reply);
}

Reply SessionWishes::asked(Reply reply) {
    m_recorder.tell("asked", reply.text);
    m_hasChanged = true;
    return reply;
}

Reply SessionWishes::save() {
    if (isStopping()) return refused("This run is stopping; it saves as it leaves");
    if (m_running.isProgram() && m_control.pause)
        return refused("This script is paused, and what stands still cannot save; let it go on first: lathe-trainer unpause " + m_run.name());
    if (m_running.isProgram() && !m_running.frames()->listensForSave())
        return refused(std::string(kOwnCheckpoints) + " and does not listen for a wish to save");
    ++m_control.saveRequests;
    tell();
    return asked({0, true, m_running.isProgram() ? "The script is asked to save" : "Saves after this update", {}});
}

/// Where that is plain, and something would be lost by it; or empty.
std::string SessionWishes::whyItCannotSave() const {
    const live::Phase phase = m_running.beat().phase;
    const bool standsStill = phase == live::Phase::Paused || phase < live::Phase::FirstUpdate;
    if (standsStill && m_recorder.book().lastStep() <= m_checkpoints.safe().step) return {};   // all is saved
    const DiskRoom room = roomOf(m_run.checkpoints());
    if (!room.isThere) return {};
    if (!room.isWritable) return "its disk cannot be written";
    const std::uint64_t needed = nextSaveOf(m_run);
    const bool isFull = needed > 0 ? needed > room.freeBytes : room.freeBytes < kLeastForSession && !m_recorder.book().lastSaveProblem().empty();
    if (isFull) return "its disk is full (" + diskText(room.freeBytes) + " free" + (needed > 0 ? ", a checkpoint needs " + diskText(needed) : "") + ")";
    return room.hasInodes ? std::string() : "its disk takes no more files (" + diskText(room.freeBytes) + " free)";
}

/// Where it is plain that it could not save as it leaves. A sentence with what to do, or empty.
std::string SessionWishes::whatAStopWouldLose() const {
    if (m_running.isProgram() || m_control.stop != Control::Stop::None) return {};
    const std::string why = whyItCannotSave();
    if (why.empty()) return {};
    return "It cannot save as it stops, since " + why + ", so it goes on. Mend that and stop it again, or leave without saving: lathe-trainer stop " + m_run.name() + " --discard";
}

/// Told by the next tell().
void SessionWishes::beginStop(Control::Stop wish, bool listens) {
    m_control.stop = wish;
    m_ladder.ask(wish == Control::Stop::Discard, now(), listens);
    m_stopNumber = m_control.number + 1;
}

/// Not ok: is stopping that way already.
Reply SessionWishes::stop(bool discard) {
    const auto wish = discard ? Control::Stop::Discard : Control::Stop::SaveAndStop;
    if (m_control.stop >= wish) return refused("Is stopping already: " + stoppingText());
    m_releaseAfter.reset();
    const bool listens = !m_running.isProgram() || m_running.frames()->listensForStop();
    beginStop(wish, listens);
    if (m_running.isProgram() && m_control.pause) {  // what stands still can neither hear nor save
        m_running.hold(false, now());
        m_control.pause = false;
    }
    if (m_running.isProgram()) return {0, true, listens ? "The script is asked to stop" : "The script is told to leave (SIGTERM)", {}};
    return {0, true, discard ? "Stops without saving" : "Finishes this update, saves and stops", {}};
}

Reply SessionWishes::pause(bool pause) {
    if (isStopping()) return refused("This run is stopping");
    if (m_control.pause == pause) return {0, true, pause ? "Is paused already" : "Is not paused", {}};
    if (m_running.kind() == Running::Kind::Script) return refused("This script was started elsewhere and is not held from here; one that lathe-trainer run --command starts can be");
    m_control.pause = pause;
    m_pauseWhy = "Paused on request";
    m_releaseAfter.reset();
    tell();
    m_running.hold(pause, now());
    if (!pause) return asked({0, true, "Goes on", {}});
    return asked({0, true, m_running.isProgram() ? "Is held where it is (SIGSTOP); memory stays taken" : "Pauses after this update; memory stays taken", {}});
}

/// A pause and a save in one wish; what comes of the save decides about the rest.
Reply SessionWishes::release() {
    if (isStopping()) return refused("This run is stopping");
    if (m_running.isProgram()) return refused(std::string(kOwnCheckpoints) + "; stop it instead, or pause it where it is");
    if (m_releaseAfter) return {0, true, "Saves, and lets its memory go then", {}};
    if (const std::string why = whyItCannotSave(); !why.empty())
        return refused("It cannot save, since " + why + ", so its memory is not let go. Mend that, or pause it with its memory: lathe-trainer pause " + m_run.name());
    m_releaseAfter = m_recorder.book().saves();
    m_failedBefore = m_recorder.book().failedSaves();
    if (!m_control.pause) m_pauseWhy = "Paused on request";
    m_control.pause = true;
    ++m_control.saveRequests;
    tell();
    return asked({0, true, "Pauses after this update, saves, and lets its memory go", {}});
}

void SessionWishes::signalled(int number) {
    if (!isStopping()) {
        const Reply reply = stop(false);
        m_recorder.tell("stop_asked", "Asked by signal " + signalText(number) + ": " + reply.text);
    } else {
        m_ladder.hurry(now());
        m_control.stop = Control::Stop::Discard;
        m_stopNumber = m_control.number + 1;
        m_recorder.tell("stop_asked", "Asked again: leaving at once without saving");
    }
    tell();
}

bool SessionWishes::pauseByItself(const std::string& why) {
    if (isStopping()) return false;
    m_pauseWhy = "Paused by itself" + (why.empty() ? why : ": " + why);
    m_hasChanged = true;
    m_control.pause = true;
    tell();
    return true;
}

void SessionWishes::discard() {
    beginStop(Control::Stop::Discard);
    tell();
}

// ---- what comes of it

void SessionWishes::turn(bool isGone) {
    releaseOnceSaved();
    if (!isGone) climb();
}

void SessionWishes::releaseOnceSaved() {
    if (!m_releaseAfter || isStopping()) return;
    const FrameBook& book = m_recorder.book();
    if (book.failedSaves() > m_failedBefore) {
        m_releaseAfter.reset();
        return m_recorder.tell("warning", "It could not be saved, so it stays paused and keeps its memory: " + book.lastSaveProblem());
    }
    if (book.saves() <= *m_releaseAfter || m_running.beat().phase != live::Phase::Paused) return;
    beginStop(Control::Stop::SaveAndStop);   // there is nothing left to save
    tell();
    m_recorder.tell("asked", "Saved; the memory is let go");
}

void SessionWishes::climb() {
    const StopLadder::Stage stage = m_ladder.advance(now(), m_running.isSaving(now()));
    if (stage == StopLadder::Stage::None) return;
    m_running.signal(stage == StopLadder::Stage::Killed ? SIGKILL : SIGTERM, now());
    const bool areMany = m_recorder.ownRing() > 1;   // it comes after theirs
    const char* who = m_running.isProgram() ? "The command was " : areMany ? "The workers were " : "The worker was ";
    m_recorder.tell("stop_asked", who + stoppingText());
    m_hasChanged = true;
}

std::optional<Stopping> SessionWishes::stopping() const {
    auto out = m_ladder.stopping(now());
    if (!out || out->stage != StopStage::Asked) return out;
    const live::Heartbeat& beat = m_running.beat();
    if (beat.phase == live::Phase::Saving) out->stage = StopStage::Saving;
    else if (beat.phase == live::Phase::Finishing || beat.phase == live::Phase::Ended) out->stage = StopStage::Leaving;
    else if (beat.acknowledged >= m_stopNumber && !m_running.isProgram()) out->stage = StopStage::FinishingUpdate;
    return out;
}

std::string SessionWishes::stoppingText() const {
    const auto now = stopping();
    return now ? sentenceOf(*now) : std::string();
}

}  // namespace lathe::launch
