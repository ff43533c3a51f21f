// The end of a session: what is left in the rings is taken in, how it ended is judged, whether the run goes on by itself is
// decided, and all of it is written down.
#include "launch/session/session.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/log.h"
#include "device/proc.h"
#include "launch/run/export.h"
#include "launch/run/session_row.h"
#include "launch/run/undo.h"
#include "launch/run/write_end.h"
#include "launch/session/memory_end.h"
#include "launch/session/notify.h"
#include "launch/verbs/prepare.h"
#include "launch/verbs/scratch.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/json_reader.h"
#include "store/history.h"

#include <nlohmann/json.hpp>

#include <csignal>
#include <poll.h>
#include <utility>

namespace lathe::launch {

using rundir::State;

static constexpr std::int64_t kSecond = 1'000'000'000;

static std::int64_t now() { return Clock::system().monotonicNs(); }
static std::int64_t wall() { return Clock::system().wallNs(); }
static FileSystem& disk() { return FileSystem::real(); }

/// The rank whose end explains the others': the first that did not end well of its own accord, else the first rank.
int Session::decidingRank() const {
    if (!m_workers) return 0;
    if (m_workers->heldUpBy() >= 0) return m_workers->heldUpBy();
    const bool hadToBeEnded = m_ladder.stage() == StopLadder::Stage::Terminated || m_ladder.stage() == StopLadder::Stage::Killed;
    const auto hang = m_hangs ? m_hangs->finding() : std::nullopt;
    const std::optional<int> heldUpBy = hang ? std::optional(hang->rank) : m_silentAtStop;
    if (heldUpBy && hadToBeEnded && !m_book->ended(*heldUpBy)) return *heldUpBy;   // for which the others waited
    for (const int rank : m_workers->order()) {
        const auto& ended = m_book->ended(rank);
        const bool well = ended && (!rundir::isTrouble(ended->state) || ended->state == State::Interrupted);
        if (!well && !(ended && ended->lostContact)) return rank;
    }
    return 0;
}

/// How rank `rank` ended, or the command; nothing while it runs or where none was started.
std::optional<ExitStatus> Session::endOf(int rank) const {
    if (isProgram()) return program().poll();
    return m_workers ? m_workers->end(rank) : std::nullopt;
}

SessionFacts Session::factsOfEnd() const {
    const int rank = decidingRank();
    SessionFacts session;
    EndFacts& facts = session.end;
    facts.ended = m_book->ended(rank);
    facts.exit = endOf(rank).value_or(ExitStatus{});
    facts.killedBy = m_workers && rank == m_workers->heldUpBy() ? m_workers->problem() : m_ladder.reason();
    facts.killSent = m_ladder.stage() == StopLadder::Stage::Killed;
    facts.systemRanOutOfMemory = device::outOfMemoryKills("/") > m_oomKillsBefore;
    facts.logTail = logTail(m_run.rankLog(rank), 3);
    facts.isCommand = isProgram();
    facts.isRecorded = m_adopted != nullptr;
    facts.stopAsked = m_ladder.stage() != StopLadder::Stage::None;
    const bool isSaved = m_ladder.isHurried() && m_book->lastStep() == m_checkpoints->safe().step;   // asked again after it had saved
    facts.discarded = m_ladder.discards() && !m_removed && !isSaved;
    facts.updates = m_summary.counters.updateAttempts.value();
    if (m_program) facts.goodbye = m_program->goodbye();
    return session;
}

SessionEnd Session::judge() const {
    const int rank = decidingRank();
    SessionEnd end = lathe::launch::judge(factsOfEnd());
    if (m_releaseAfter && !rundir::isTrouble(end.state) && end.state != State::Completed) end = {State::Stopped, "Paused with its memory let go; continue goes on exactly from there"};
    const bool asOne = !rundir::isTrouble(end.state) || end.state == State::Diverged || end.state == State::Interrupted;
    if (world() > 1 && !asOne) end.why = "Rank " + std::to_string(rank) + ": " + end.why;
    return end;
}

/// What is in the rings, and how it ended, as far as the disk takes it.
void Session::drainLast() {
    drain(true);
    if (m_lost > 0) {
        tellEvent("frames_lost", std::to_string(m_lost) + " rows were neither recorded in time nor could they be written aside",
                  "{\"frames\": " + std::to_string(m_lost) + "}");
        drain(true);
    }
    giveSpaceBack(m_run.reserve());
    flush();
    lookAtCheckpoints();   // nobody waits for the rest: the next session re-reads it, and who loads a checkpoint checks every byte
    drain(true);
    flush();
}

/// What ran out, where, and what would help: into the exit record, and an event for whoever watches.
void Session::tellMemory(SessionEnd& end) {
    const int rank = decidingRank();
    const auto& ended = m_book->ended(rank);
    m_record.memory = memoryOfEnd(ended ? ended->memory : std::nullopt, m_segment->heartbeat(rank).value_or(live::Heartbeat()), rank, m_config);
    if (!ended || !ended->memory) end.why += ". " + rundir::sentenceOf(*m_record.memory);
    std::string text = rundir::sentenceOf(*m_record.memory);
    for (std::size_t i = 0; i < m_record.memory->remedies.size(); ++i) text += (i == 0 ? ". What would help: (" : "; (") + std::to_string(i + 1) + ") " + rundir::sentenceOf(m_record.memory->remedies[i]);
    if (m_record.memory->remedies.empty()) text += ". " + std::string(kNoRemedy);
    tellEvent("out_of_memory", text, rundir::memoryJson(*m_record.memory).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    drain(true);
    flush();
}

/// evaluation.restore_best. Whatever comes of it, the run ended as it did.
void Session::restoreBest() {
    if (isProgram() || !m_config.evaluation.restoreBest || m_book->lastStep() == 0) return;
    hearSignals();
    const bool atOnce = m_leavesAtOnce || m_ladder.isHurried();
    const auto left = atOnce ? Result<std::string>(Error{ErrorCode::Stopped, "it was asked to leave at once; lathe-trainer export " + m_run.name() + " does it", {}, {}}) : exportBest(m_run);
    if (left) tellEvent("exported", *left);
    else tellEvent("warning", "The best weights could not be left in the export folder: " + left.error().text());
    drain(true);
    flush();
}

/// What a program sent just before it ended still lies in its sockets.
void Session::takeTheRest() {
    if (!m_program || !m_gone) return;
    const std::int64_t deadline = now() + 2 * kSecond;  // a stranger that goes on sending is not waited for
    pollfd what{m_program->pollFd(), POLLIN, 0};
    while (::poll(&what, 1, 0) > 0 && now() < deadline) {
        m_program->poll();
        drain(false);
    }
}

/// What was passed over is said where it was found, and once more by the session that begins further back.
void Session::goOn(SessionEnd& end) {
    const bool isLikeCrash = m_config.guard.onHang == "restart";
    const auto& ended = m_book->ended(0);
    const NextFacts facts{{factsOfEnd().end, isLikeCrash ? m_record.hang : std::nullopt, m_record.replay, m_book->lastAttempt(), now()},
                          ended ? ended->goesBack : std::nullopt, m_control.pause, m_config.run.restartsPerHour};
    const Planner plan{[this](std::int64_t notAfter) { return planGoingBack(m_run, notAfter); },
                       [this](bool fromTheStart) { return planRestart(m_run, fromTheStart); }};
    m_next = planNext(end, facts, m_crashes, plan);
    if (!m_next || m_next->notice.empty()) return;
    tellEvent("checkpoint_damaged", m_next->notice);
    drain(true);
    flush();
}

ExitCode Session::close(const Error* problem) {
    m_server.reset();
    if (!m_gone && !m_adopted) signalAll(SIGKILL);
    std::error_code ignored;
    std::filesystem::remove(m_run.rendezvous(m_options.session), ignored);
    if (m_book && m_segment) {
        takeTheRest();
        if (m_program) m_program->tellTheRest();
        drainLast();
    }
    if (m_hangs) m_record.hang = m_hangs->record();
    SessionEnd end = problem != nullptr ? SessionEnd{State::Failed, problem->text()} : judge();
    if (end.state == State::OutOfMemory && !isProgram()) tellMemory(end);
    if (problem == nullptr) goOn(end);
    if (!m_next && m_book && m_segment) restoreBest();
    if (m_program && m_program->missing() > 0) end.why += ". " + std::to_string(m_program->missing()) + " messages of the script are missing: it had to drop them";
    if (!m_recorderProblem.empty()) end.why += ". Its last points could not be recorded: " + m_recorderProblem;
    ExitCode code = exitCodeOf(end.state);
    // A failure for what the configuration says is told apart for scripts.
    const auto ended = endOf(decidingRank());
    const bool workerRefused = !isProgram() && ended && ended->code == static_cast<int>(ExitCode::Usage);
    if (end.state == State::Failed && (problem != nullptr ? exitCodeOf(problem->code) == ExitCode::Usage : workerRefused)) code = ExitCode::Usage;
    for (const auto& reserve : {m_run.reserve(), m_run.recordReserve()}) giveSpaceBack(reserve);
    m_program.reset();
    writeExitRecord(end, static_cast<int>(code));
    return code;
}

/// Once the end is written down, so that whatever the person's command does finds it.
void Session::tellUser() {
    if (m_record.replay || isScratch(m_run)) return;
    const auto told = notifyUser({m_summary.id, m_summary.name, std::string(rundir::name(m_summary.state)), m_summary.why, m_run.place(), m_run.logs() / "notify.log"}, [this](const std::string& text) {
        if (m_book) m_book->say(text);
        glance();
    });
    if (told) return;
    if (!m_book || !m_segment || !m_recorderProblem.empty()) return log::warning(told.error().text());
    tellEvent("warning", "The notification failed: " + told.error().text());
    drain(true);
    flush();
}

void Session::writeExitRecord(const SessionEnd& end, int exitCode) {
    m_record.state = end.state;
    m_record.why = end.why;
    m_record.endedNs = wall();
    const auto ended = endOf(decidingRank());
    if (ended) m_record.signal = ended->signal;
    if (ended && isProgram()) m_record.commandExitCode = ended->code;
    m_record.exitCode = exitCode;
    m_record.counters = m_summary.counters;
    const auto kept = rundir::listCheckpoints(m_run.checkpoints());
    for (const auto& info : kept) {
        if (info.problem.empty()) m_record.lastCheckpoint = info.folder;
    }
    if (m_book) m_record.environment = m_book->environment();
    if (!m_next) undo(m_run, m_record, m_summary);
    m_summary.state = m_next ? State::Starting : end.state;
    m_summary.why = m_record.why;
    m_summary.endedNs = m_summary.updatedNs = m_record.endedNs;
    capLogs();
    if (m_record.number > 0 && !m_record.verb.empty()) {
        const EndOfRecording recording{m_writer.get(), m_book ? m_book->row(m_record) : rowOf(m_record), !m_recorderProblem.empty()};
        if (const auto written = writeEnd(disk(), m_run, m_record, m_summary, recording); !written) log::error(written.error().text());
    }
    glance();
    const auto workspace = rundir::workspaceOf(m_run);
    if (!workspace) return;  // moved out of it
    const auto history = store::History::open(*workspace);
    if (const auto told = history ? history->update(m_run.name()) : Result<void>(); !told) log::error(told.error().text());
    if (!m_next) tellUser();
}

}  // namespace lathe::launch
