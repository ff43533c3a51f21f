#include "launch/session/session_ending.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/log.h"
#include "launch/run/export.h"
#include "launch/run/undo.h"
#include "launch/session/memory_end.h"
#include "launch/session/notify.h"
#include "launch/session/reserved_space.h"
#include "launch/verbs/prepare.h"
#include "launch/verbs/scratch.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/json_reader.h"
#include "store/history.h"

#include <nlohmann/json.hpp>

#include <csignal>
#include <poll.h>

namespace lathe::launch {

using rundir::State;

static std::int64_t now() { return Clock::system().monotonicNs(); }

GoneSession SessionEnding::gone() const {
    return {m_session.run, m_session.recorder.book(), m_parts->running, m_parts->wishes, m_parts->checkpoints.safe().step,
            m_session.summary.counters.updateAttempts.value(), static_cast<int>(m_session.config.parallel.ranks), m_parts->isRemoved};
}

ExitCode SessionEnding::close(const Error* problem) {
    if (m_parts) endWhatRuns();
    std::error_code ignored;
    std::filesystem::remove(m_session.run.rendezvous(m_session.number), ignored);
    if (m_parts) takeIn();
    SessionEnd end = problem != nullptr ? SessionEnd{State::Failed, problem->text()} : judge(gone());
    if (end.state == State::OutOfMemory && !isProgram()) tellMemory(end);
    if (problem == nullptr) goOn(end);
    if (!m_next && m_parts) restoreBest();
    end.why += missing();
    const ExitCode code = codeOf(end, problem);
    for (const auto& reserve : {m_session.run.reserve(), m_session.run.recordReserve()}) giveSpaceBack(reserve);
    if (m_parts) m_parts->running.stopListening();
    write(end, code);
    return code;
}

void SessionEnding::endWhatRuns() {
    if (!m_parts->isGone && m_parts->running.kind() != Running::Kind::Script) m_parts->running.signal(SIGKILL, now());
}

void SessionEnding::record() {
    m_session.recorder.drain(true);
    m_session.recorder.flush();
}

/// What is in the rings, and how it ended, as far as the disk takes it.
void SessionEnding::takeIn() {
    SessionRecorder& recorder = m_session.recorder;
    if (ProgramFrames* frames = m_parts->running.frames()) {
        if (m_parts->isGone) takeTheRest(*frames);
        frames->tellTheRest();
    }
    recorder.drain(true);
    if (recorder.lost() > 0) {
        recorder.tell("frames_lost", std::to_string(recorder.lost()) + " rows were neither recorded in time nor could they be written aside",
                      "{\"frames\": " + std::to_string(recorder.lost()) + "}");
        recorder.drain(true);
    }
    giveSpaceBack(m_session.run.reserve());
    recorder.flush();
    m_parts->checkpoints.look(m_session.summary.activeSeconds);   // nobody waits for what is not re-read yet: the next session does it, and who loads a checkpoint checks every byte
    record();
    m_session.record.hang = m_parts->running.hangRecord();
}

/// What a program sent just before it ended still lies in its sockets.
void SessionEnding::takeTheRest(ProgramFrames& frames) {
    const std::int64_t deadline = now() + 2'000'000'000;  // a stranger that goes on sending is not waited for
    pollfd what{frames.pollFd(), POLLIN, 0};
    while (::poll(&what, 1, 0) > 0 && now() < deadline) {
        frames.poll();
        m_session.recorder.drain(false);
    }
}

/// What ran out, where, and what would help: into the exit record, and an event for whoever watches.
void SessionEnding::tellMemory(SessionEnd& end) {
    const int rank = decidingRank(gone());
    const auto& ended = m_session.recorder.book().ended(rank);
    const live::Heartbeat beat = m_session.recorder.memory().heartbeat(rank).value_or(live::Heartbeat());
    const rundir::MemoryRecord memory = memoryOfEnd(ended ? ended->memory : std::nullopt, beat, rank, m_session.config);
    m_session.record.memory = memory;
    std::string text = rundir::sentenceOf(memory);
    if (!ended || !ended->memory) end.why += ". " + text;
    for (std::size_t i = 0; i < memory.remedies.size(); ++i) text += (i == 0 ? ". What would help: (" : "; (") + std::to_string(i + 1) + ") " + rundir::sentenceOf(memory.remedies[i]);
    if (memory.remedies.empty()) text += ". " + std::string(kNoRemedy);
    m_session.recorder.tell("out_of_memory", text, rundir::memoryJson(memory).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    record();
}

/// What was passed over is said where it was found, and once more by the session that begins further back.
void SessionEnding::goOn(SessionEnd& end) {
    const FrameBook& book = m_session.recorder.book();
    const bool isLikeCrash = m_session.config.guard.onHang == "restart";
    const auto& ended = book.ended(0);
    const NextFacts facts{{factsOf(gone()), isLikeCrash ? m_session.record.hang : std::nullopt, m_session.record.replay, book.lastAttempt(), now()},
                          ended ? ended->goesBack : std::nullopt, m_parts->wishes.isPauseAsked(), m_session.config.run.restartsPerHour};
    const Planner plan{[this](std::int64_t notAfter) { return planGoingBack(m_session.run, notAfter); },
                       [this](bool fromTheStart) { return planRestart(m_session.run, fromTheStart); }};
    m_next = planNext(end, facts, m_crashes, plan);
    if (!m_next || m_next->notice.empty()) return;
    m_session.recorder.tell("checkpoint_damaged", m_next->notice);
    record();
}

/// evaluation.restore_best. Whatever comes of it, the run ended as it did.
void SessionEnding::restoreBest() {
    SessionRecorder& recorder = m_session.recorder;
    if (isProgram() || !m_session.config.evaluation.restoreBest || recorder.book().lastStep() == 0) return;
    m_calls.hearSignals();
    const Error hurried{ErrorCode::Stopped, "it was asked to leave at once; lathe-trainer export " + m_session.run.name() + " does it", {}, {}};
    const auto left = m_parts->wishes.leavesAtOnce() ? Result<std::string>(hurried) : exportBest(m_session.run);
    if (left) recorder.tell("exported", *left);
    else recorder.tell("warning", "The best weights could not be left in the export folder: " + left.error().text());
    record();
}

/// What of it is not in the record of the run, as sentences.
std::string SessionEnding::missing() const {
    std::string text;
    const ProgramFrames* frames = m_parts ? m_parts->running.frames() : nullptr;
    if (frames && frames->missing() > 0) text += ". " + std::to_string(frames->missing()) + " messages of the script are missing: it had to drop them";
    if (const std::string& problem = m_session.recorder.problem(); !problem.empty()) text += ". Its last points could not be recorded: " + problem;
    return text;
}

/// A failure for what the configuration says is told apart for scripts.
ExitCode SessionEnding::codeOf(const SessionEnd& end, const Error* problem) const {
    const auto ended = exit();
    const bool workerRefused = !isProgram() && ended && ended->code == static_cast<int>(ExitCode::Usage);
    const bool isRefused = problem != nullptr ? exitCodeOf(problem->code) == ExitCode::Usage : workerRefused;
    return end.state == State::Failed && isRefused ? ExitCode::Usage : exitCodeOf(end.state);
}

void SessionEnding::fillRecord(const SessionEnd& end, ExitCode code) {
    rundir::SessionRecord& record = m_session.record;
    record.state = end.state;
    record.why = end.why;
    record.endedNs = Clock::system().wallNs();
    const auto ended = exit();
    if (ended) record.signal = ended->signal;
    if (ended && isProgram()) record.commandExitCode = ended->code;
    record.exitCode = static_cast<int>(code);
    record.counters = m_session.summary.counters;
    for (const auto& info : rundir::listCheckpoints(m_session.run.checkpoints()))
        if (info.problem.empty()) record.lastCheckpoint = info.folder;
    if (m_session.recorder.hasBegun()) record.environment = m_session.recorder.book().environment();
}

void SessionEnding::write(const SessionEnd& end, ExitCode code) {
    rundir::SessionRecord& record = m_session.record;
    rundir::Summary& summary = m_session.summary;
    fillRecord(end, code);
    if (!m_next) undo(m_session.run, record, summary);
    summary.state = m_next ? State::Starting : end.state;
    summary.why = record.why;
    summary.endedNs = summary.updatedNs = record.endedNs;
    if (m_parts) m_parts->running.capLogs();
    if (record.number > 0 && !record.verb.empty()) {
        if (const auto written = writeEnd(FileSystem::real(), m_session.run, record, summary, m_session.recorder.end()); !written) log::error(written.error().text());
    }
    m_calls.show();
    const auto workspace = rundir::workspaceOf(m_session.run);
    if (!workspace) return;  // moved out of it
    const auto history = store::History::open(*workspace);
    if (const auto told = history ? history->update(m_session.run.name()) : Result<void>(); !told) log::error(told.error().text());
    if (!m_next) tellUser();
}

/// Once the end is written down, so that whatever the person's command does finds it.
void SessionEnding::tellUser() {
    const rundir::Summary& summary = m_session.summary;
    if (m_session.record.replay || isScratch(m_session.run)) return;
    const auto told = notifyUser({summary.id, summary.name, std::string(rundir::name(summary.state)), summary.why, m_session.run.place(), m_session.run.logs() / "notify.log"}, [this](const std::string& text) {
        if (m_session.recorder.hasBegun()) m_session.recorder.book().say(text);
        m_calls.show();
    });
    if (told) return;
    if (!m_parts || !m_session.recorder.problem().empty()) return log::warning(told.error().text());
    m_session.recorder.tell("warning", "The notification failed: " + told.error().text());
    record();
    m_calls.show();
}

}  // namespace lathe::launch
