// Cleaning up after a supervisor that was lost.
#include "launch/run/settle.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/lasting.h"
#include "base/log.h"
#include "base/number_text.h"
#include "base/temporary_files.h"
#include "launch/process/identity.h"
#include "launch/process/process_tree.h"
#include "launch/queue/queue.h"
#include "launch/run/export.h"
#include "launch/run/frame_book.h"
#include "launch/run/run_settings.h"
#include "launch/run/run_summary.h"
#include "launch/run/session_end.h"
#include "launch/run/session_row.h"
#include "launch/run/standing.h"
#include "launch/run/undo.h"
#include "launch/run/write_end.h"
#include "launch/workers/left_memory.h"
#include "launch/workers/stop_ladder.h"
#include "live/spill.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/checkpoint_publishing.h"
#include "rundir/trash.h"
#include "store/run_store.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <thread>

namespace lathe::launch {

using rundir::RunFolder;
using rundir::RunLock;
using rundir::State;

static constexpr std::int64_t kAfterKillNs = 10'000'000'000, kTellEveryNs = 5'000'000'000;
static constexpr std::int64_t kSettlePatienceNs = 20'000'000'000;
static constexpr std::int64_t kForeignSilenceNs = 120'000'000'000;
static FileSystem& disk() { return FileSystem::real(); }

static Error busy(const RunFolder& run, const std::optional<rundir::LiveRecord>& live) {
    const bool isLost = live && live->supervisor.host == hostName() && !VerifiedProcess::find(live->supervisor);
    if (isLost) return {ErrorCode::Busy, run.name() + " is in use by another process, which books what a lost supervisor left; try again in a moment", {}, {}};
    if (!live) return {ErrorCode::Busy, run.name() + " is in use by another process, which has just begun with it; try again in a moment", {}, {}};
    const std::string who = "process " + std::to_string(live->supervisor.pid) + " on " + live->supervisor.host + " (session " + std::to_string(live->session) + ")";
    const std::string stopped = stoppedNote(live->supervisor);
    if (!stopped.empty()) return {ErrorCode::Busy, run.name() + " is in use by " + who + ", and " + stopped, {}, {}};
    const auto summary = rundir::readSummary(run);
    const bool isPaused = summary && summary->state == rundir::State::Paused;
    if (isPaused) return {ErrorCode::Busy, run.name() + " is paused; lathe-trainer unpause " + run.name() + " lets it go on, lathe-trainer stop " + run.name() + " ends it (" + who + ")", {}, {}};
    return {ErrorCode::Busy, run.name() + " is in use by " + who + "; stop it first: lathe-trainer stop " + run.name(), {}, {}};
}

/// On another machine neither locks nor pids tell anything; fresh signs of life do.
static Result<void> refuseForeign(const RunFolder& run, const std::optional<rundir::LiveRecord>& live) {
    if (!live || live->supervisor.host == hostName()) return {};
    const auto summary = rundir::readSummary(run);
    const std::int64_t age = summary ? Clock::system().wallNs() - summary->updatedNs : 0;
    if (age > kForeignSilenceNs) return {};
    return Error{ErrorCode::Busy, run.name() + " runs on " + live->supervisor.host + ", seen "
                 + durationText(static_cast<double>(std::max<std::int64_t>(age, 0)) / 1e9) + " ago; stop it there first", {}, {}};
}

/// Whoever settles holds the lock under which all but user.json is written.
static void removeStaleTemporaries(const RunFolder& run) {
    const auto isAny = [](std::string_view) { return true; };
    removeTemporaries(disk(), run.root(), [](std::string_view file) { return file != "user.json"; });
    for (const auto& folder : {run.sessions(), run.blobs()}) removeTemporaries(disk(), folder, isAny);
    const auto checkpoints = listFolder(run.checkpoints());
    for (std::size_t i = 0; checkpoints && i < checkpoints->size(); ++i) removeTemporaries(disk(), run.checkpoints() / (*checkpoints)[i], isAny);
    if (const auto lock = RunLock::acquire(run.userLock())) removeTemporaries(disk(), run.root(), [](std::string_view file) { return file == "user.json"; });
}

/// A damaged file tells nothing, and nothing will mend it; one that cannot be read just now may tell everything.
static Result<void> refuseUnread(const Error& error) {
    return isLasting(error) ? Result<void>() : error;
}

/// Who has the lock books what a lost supervisor left, or tells the user of an end, and lets go soon.
static bool isLetGoSoon(const RunFolder& run) {
    const auto live = rundir::readLive(run);
    if (!live) return false;
    if (*live) return !VerifiedProcess::find((*live)->supervisor);
    const auto record = rundir::readSession(run, rundir::newestSession(run));
    return record && record->state;
}

/// Asked again and again: who has it may have taken it for a session that it begins.
static Result<RunLock> lockOf(const RunFolder& run) {
    const std::int64_t deadline = Clock::system().monotonicNs() + kSettlePatienceNs;
    while (true) {
        auto lock = RunLock::acquire(run.lock());
        if (lock || lock.error().code != ErrorCode::Busy || Clock::system().monotonicNs() > deadline || !isLetGoSoon(run)) return lock;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

Result<RunLock> takeRun(const RunFolder& run, const EndOfLeftovers& how) {
    auto live = rundir::readLive(run);
    if (!live) LATHE_TRY(refuseUnread(live.error()));
    LATHE_TRY(refuseForeign(run, live ? *live : std::nullopt));
    const auto supervisor = live && *live ? VerifiedProcess::find((*live)->supervisor) : std::nullopt;
    if (supervisor && supervisor->hasOpen(run.root())) return busy(run, *live);   // also where the file of its lock was replaced
    auto lock = lockOf(run);
    if (!lock && lock.error().code == ErrorCode::Busy) {
        live = rundir::readLive(run);
        return busy(run, live ? *live : std::nullopt);
    }
    if (!lock) return std::move(lock).error();
    if (rundir::isInTrash(run)) return Error{ErrorCode::NotFound, run.name() + " was deleted just now; lathe-trainer restore " + run.name() + " brings it back", {}, {}};
    const auto summary = rundir::readSummary(run);
    if (!summary) LATHE_TRY(refuseUnread(summary.error()));
    LATHE_TRY_ASSIGN(const bool isQueued, summary && summary->state == State::Queued ? Queue::ofThisUser().holds(summary->id) : Result<bool>(false));
    if (isQueued) return Error{ErrorCode::Busy, run.name() + " waits in the queue; take it out first: lathe-trainer queue remove " + run.name(), {}, {}};
    auto settled = settleLeftovers(run, how);
    if (!settled) return std::move(settled).error().in("while settling what an earlier session left in " + run.name());
    return lock;
}

/// Somebody pressed Ctrl-C or the like while these signals are held (see holdStopSignals).
static bool isStopPending() {
    sigset_t pending;
    ::sigemptyset(&pending);
    ::sigpending(&pending);
    return ::sigismember(&pending, SIGINT) == 1 || ::sigismember(&pending, SIGTERM) == 1 || ::sigismember(&pending, SIGHUP) == 1;
}

/// As often as a person wants to know what is waited for.
class Telling {
public:
    explicit Telling(const EndOfLeftovers& how) : m_how(how) {}
    void now(const std::string& text) {
        m_toldNs = Clock::system().monotonicNs();
        if (m_how.tell) m_how.tell(text);
    }
    bool isDue() const { return Clock::system().monotonicNs() - m_toldNs >= kTellEveryNs; }

private:
    const EndOfLeftovers& m_how;
    std::int64_t m_toldNs = Clock::system().monotonicNs();
};

static std::string waitText(const RunFolder& run, const std::vector<rundir::ProcessIdentity>& workers, const StopLadder& ladder, bool saves) {
    Stopping stopping = *ladder.stopping(Clock::system().monotonicNs());
    if (saves && stopping.stage == StopStage::Asked && !stopping.discards) stopping.stage = StopStage::Saving;
    std::string text = "The supervisor of " + run.name() + " was lost, its worker is " + sentenceOf(stopping);
    for (const rundir::ProcessIdentity& worker : workers)
        if (const std::string note = stoppedNote(worker); !note.empty()) text += "; " + note;
    return text;
}

/// Only those that are certainly ours.
static void signalWorkers(const RunFolder& run, const std::vector<rundir::ProcessIdentity>& workers, int number) {
    for (const rundir::ProcessIdentity& who : workers) {
        const auto process = VerifiedProcess::find(who);
        if (!process || !process->hasOpen(run.workersLock())) continue;
        log::warning((number == SIGKILL ? "Ending leftover worker " : "Telling leftover worker ") + std::to_string(who.pid) + " of " + run.name() + (number == SIGKILL ? "" : " to leave"));
        process->signal(number);
    }
}

/// A worker whose supervisor is gone saves and leaves by itself: it has been asked. One that does not is told to, then ended.
static Result<void> endLeftoverWorkers(const RunFolder& run, const std::optional<rundir::LiveRecord>& live, const EndOfLeftovers& how) {
    const auto workers = live ? live->workers : std::vector<rundir::ProcessIdentity>();
    const LeftMemory memory = LeftMemory::find(workers);
    StopLadder ladder;
    ladder.ask(how.discard, Clock::system().monotonicNs());
    Telling telling(how);
    std::int64_t endedNs = 0;
    while (true) {
        LATHE_TRY_ASSIGN(const bool isHeld, RunLock::look(run.workersLock()));
        if (!isHeld) return {};
        const std::int64_t now = Clock::system().monotonicNs();
        if (isStopPending()) return Error{ErrorCode::Stopped, "Stopped while waiting for the worker of an earlier session; nothing was changed", {}, {}};
        if (endedNs != 0 && now - endedNs > kAfterKillNs) break;
        const bool saves = isSaving(memory.beats(), now);
        const StopLadder::Stage stage = ladder.advance(now, saves);
        if (stage != StopLadder::Stage::None) signalWorkers(run, workers, stage == StopLadder::Stage::Killed ? SIGKILL : SIGTERM);
        if (stage == StopLadder::Stage::Killed) endedNs = now;
        if (stage != StopLadder::Stage::None || telling.isDue()) telling.now(waitText(run, workers, ladder, saves));
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return Error{ErrorCode::Busy, "A worker of " + run.name() + " still runs and could not be ended; look for a process that holds "
                 + run.workersLock().string(), {}, {}};
}

/// What a command had started, where its keeper was killed too: certainly of this run, whose socket stands in its environment.
static void endLeftoverProcesses(const RunFolder& run, const EndOfLeftovers& how) {
    Telling telling(how);
    for (const int number : {SIGTERM, SIGKILL}) {
        auto left = processesWith(ownerVariable(run));
        for (const TreeProcess& process : left) log::warning("Ending leftover process " + std::to_string(process.pid) + " (" + process.name + ") of " + run.name());
        signalAll(left, number);
        const std::int64_t deadline = Clock::system().monotonicNs() + kAfterKillNs;
        while (!left.empty() && Clock::system().monotonicNs() < deadline) {
            if (telling.isDue()) telling.now("Waits for what the command of " + run.name() + " left: process " + std::to_string(left.front().pid) + " (" + left.front().name + "), " + (number == SIGTERM ? "told to leave (SIGTERM)" : "ended by SIGKILL"));
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            left = processesWith(ownerVariable(run));
        }
        if (left.empty()) return;
    }
}

struct DamagedSpill {
    std::filesystem::path file;
    Error problem;
};

/// Into the supervisor's own ring, behind what is recorded of it.
static Result<void> tellDamage(const RunFolder& run, const rundir::SessionRecord& record, const Counters& reached, const std::vector<DamagedSpill>& damaged, store::RunWriter& writer, FrameBook& book) {
    const auto config = configOf(run, record.number);
    const int ring = config ? static_cast<int>(config->parallel.ranks) : 1;
    live::Frame frame{live::FrameType::Event, writer.recordedSequence(ring, record.number), {}};
    for (const DamagedSpill& one : damaged) {
        log::warning(one.problem.text());
        const live::EventFrame event{record.number, reached.updateAttempts.value(), reached.globalStep.value(), Clock::system().wallNs(), "warning",
                                     "Points that were written aside cannot be read and are missing: " + one.problem.sentence + ". The file is kept in " + run.spill().filename().string() + "/damaged-…", {}};
        ++frame.sequence;
        live::encode(event, frame.payload);
        book.take(ring, frame);
    }
    return book.flush();
}

/// Where a file cannot be read now it is tried again another time, and nothing is removed. What cannot be understood stays
/// under another name: it may hold points that stand nowhere else.
static Result<void> takeInSpill(const RunFolder& run, const rundir::SessionRecord& record, const rundir::Summary& summary, store::RunWriter& writer, FrameBook& book) {
    LATHE_TRY_ASSIGN(const auto files, live::spillFiles(run.spill(), record.number));
    std::vector<DamagedSpill> damaged;
    std::map<int, std::uint64_t> taken;   // by ring
    for (const live::SpillFile& part : files) {
        std::uint64_t& last = taken.try_emplace(part.ring, writer.recordedSequence(part.ring, record.number)).first->second;
        LATHE_TRY_ASSIGN(auto spilled, live::readSpillFile(part.file, last + 1));
        for (const live::Frame& frame : spilled.frames) book.take(part.ring, frame);
        if (!spilled.frames.empty()) last = spilled.frames.back().sequence;
        if (spilled.damage) damaged.push_back({part.file, std::move(*spilled.damage)});
    }
    LATHE_TRY(book.flush());
    if (!damaged.empty()) LATHE_TRY(tellDamage(run, record, summary.counters, damaged, writer, book));
    for (const DamagedSpill& one : damaged) LATHE_TRY(disk().rename(one.file, run.spill() / ("damaged-" + one.file.filename().string())));
    if (!damaged.empty()) LATHE_TRY(disk().syncFolder(run.spill()));
    for (const live::SpillFile& part : files) {
        const bool isKept = std::any_of(damaged.begin(), damaged.end(), [&](const DamagedSpill& one) { return one.file == part.file; });
        if (!isKept) LATHE_TRY(disk().remove(part.file));
    }
    return {};
}

static Result<SessionEnd> endOfLost(const RunFolder& run, int session, const std::optional<Ended>& account) {
    SessionFacts facts;   // nothing of it lives any more
    facts.written = writtenAbout(run, session);
    if (facts.written.unread) return *facts.written.unread;
    facts.written.elsewhere.clear();   // silent for so long that it is taken over
    facts.end.seen = false;
    facts.end.ended = account;
    return judge(facts);
}

/// evaluation.restore_best of a session whose supervisor could not see to it.
static bool owesBest(const RunFolder& run, int session) {
    const auto config = configOf(run, session);
    return config && !config::isCommand(*config) && config->evaluation.restoreBest;
}

/// Counters of the checkpoint that it loads; where that is gone, what the plan says of them.
static Counters loadedBy(const RunFolder& run, const rundir::SessionRecord& record) {
    Counters loaded;
    if (record.checkpoint.empty() || record.weightsOnly) return loaded;
    if (const auto manifest = rundir::readCheckpoint(run.checkpoints() / record.checkpoint)) return manifest->counters;
    loaded.updateAttempts = UpdateAttempt(record.parentAttempt);
    loaded.globalStep = GlobalStep(startStepOf(record));
    return loaded;
}

/// What the run had come to with this session, as far as that is recorded: where nothing of it is it stands where the session
/// began, whatever the summary of the one before says. (A program's session and what older programs recorded: as the summary says.)
static Result<void> takeRecorded(const RunFolder& run, const rundir::SessionRecord& record, const store::RunWriter& writer, rundir::Summary& summary) {
    LATHE_TRY_ASSIGN(auto recorded, recordedSummary(run, record.number));
    const bool isProgram = summary.task == rundir::kCommandTask || summary.task == rundir::kImportedTask;
    if (recorded) {
        if (!isProgram) {   // whose time is that of the clock
            summary.activeSeconds = recorded->activeSeconds;
            summary.activeBefore = recorded->activeBefore;
        }
        takeProgress(summary, std::move(*recorded));
    } else if (!isProgram && writer.recordedSequence(0, record.number) == 0) {
        summary.counters = loadedBy(run, record);
    }
    summary.sessions = std::max(summary.sessions, record.number);
    return {};
}

/// The end of a session that nobody wrote down; or of one whose record was written and whose cleaning-up was cut off. Whatever
/// was cut off is done once more, from the plan and from what is recorded. `isNewest`: with it the run ends.
static Result<void> bookLostSession(const RunFolder& run, rundir::SessionRecord record, rundir::Summary& summary, bool isNewest, const EndOfLeftovers& how) {
    LATHE_TRY_ASSIGN(const auto account, accountLeft(run, record.number));
    LATHE_TRY_ASSIGN(const SessionEnd end, endOfLost(run, record.number, account));
    LATHE_TRY_ASSIGN(auto writer, store::RunWriter::open(run.database()));
    LATHE_TRY(writer->beginSession(rowOf(record)));
    LATHE_TRY(takeRecorded(run, record, *writer, summary));
    FrameBook book(*writer, summary, record.number);
    LATHE_TRY(book.recall(run));
    if (auto taken = takeInSpill(run, record, summary, *writer, book); !taken) {
        writer->giveUp();   // points without the summary that belongs to them
        return taken;
    }
    if (!record.state) {
        record.state = end.state;
        record.why = end.why;
        record.endedNs = summary.updatedNs;
        record.counters = summary.counters;
        for (const auto& info : rundir::listCheckpoints(run.checkpoints())) {
            if (info.problem.empty()) record.lastCheckpoint = info.folder;
        }
        if (!book.environment().empty()) record.environment = book.environment();
    }
    if (!isNewest) {
        LATHE_TRY(writer->endSession(book.row(record)));
        return rundir::writeSession(disk(), run, record);   // by its record the next one knows that it is done
    }
    summary.counters = record.counters.value_or(summary.counters);
    undo(run, record, summary);
    const bool owes = owesBest(run, record.number);
    if (owes && how.exports)
        if (const auto left = exportBest(run); !left) log::warning("The best weights could not be left in the export folder: " + left.error().text());
    summary.state = *record.state;
    summary.why = record.why;
    summary.endedNs = record.endedNs;
    return writeEnd(disk(), run, record, summary, {writer.get(), book.row(record), false, owes && !how.exports});
}

/// Sessions before the newest that have no end: the supervisor plans the next one before it writes down how this one ended.
static Result<std::vector<rundir::SessionRecord>> lostBefore(const RunFolder& run, int newest) {
    std::vector<rundir::SessionRecord> lost;
    for (int session = 1; session < newest; ++session) {
        auto record = rundir::readSession(run, session);
        if (!record) LATHE_TRY(refuseUnread(record.error()));
        if (record && !record->state) lost.push_back(std::move(*record));
    }
    return lost;
}

Result<void> settleLeftovers(const RunFolder& run, const EndOfLeftovers& how) {
    const auto live = rundir::readLive(run);
    if (!live) LATHE_TRY(refuseUnread(live.error()));
    const std::optional<rundir::LiveRecord> left = live ? *live : std::nullopt;
    LATHE_TRY_ASSIGN(const int newest, rundir::readNewestSession(run));
    if (newest == 0) return {};
    const auto record = rundir::readSession(run, newest);
    if (!record) return unreadableSession(run, newest, record.error());
    LATHE_TRY(endLeftoverWorkers(run, left, how));
    if (!record->state && record->verb != kRecordVerb) endLeftoverProcesses(run, how);
    rundir::clearUnfinished(disk(), run.checkpoints());
    removeStaleTemporaries(run);
    LATHE_TRY_ASSIGN(auto lost, lostBefore(run, newest));
    const bool isDone = record->state && live && !left;
    if (isDone && lost.empty()) return {};
    LATHE_TRY_ASSIGN(rundir::Summary summary, summaryOf(run));
    for (auto& earlier : lost) {
        rundir::Summary passed = summary;   // what a later one made of it stands
        const bool isPassed = isDone || summary.sessions > earlier.number;
        LATHE_TRY(bookLostSession(run, std::move(earlier), isPassed ? passed : summary, false, how));
    }
    if (isDone) return {};
    auto booked = bookLostSession(run, *record, summary, true, how);
    // With its end on record only the row is missing: that keeps nobody from the run, and what would free a full disk from least.
    const bool isRowOnly = !booked && record->state && (isLasting(booked.error()) || booked.error().code == ErrorCode::NoSpace);
    if (!isRowOnly) return booked;
    log::warning(booked.error().text());
    return isLasting(booked.error()) ? rundir::removeLive(disk(), run) : Result<void>();
}

/// Whatever a person's command left may still be at work, and is not a reader's to end.
std::string settleToRead(const RunFolder& run) {
    if (!isUnsettled(run)) return {};
    const std::string missing = "Its supervisor was lost, and the newest updates may be missing here: ";
    const auto config = configOf(run, rundir::newestSession(run));
    if (RunLock::isHeld(run.workersLock()) || !config || config::isCommand(*config)) return missing + "they are taken in once what it ran has ended and the run is stopped or goes on";
    EndOfLeftovers how;
    how.exports = false;
    const auto taken = takeRun(run, how);
    return taken ? std::string() : missing + taken.error().text();
}

}  // namespace lathe::launch
