#include "launch/run/standing.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/number_text.h"
#include "launch/process/identity.h"
#include "launch/queue/queue.h"
#include "launch/run/session_end.h"
#include "launch/run/undo.h"
#include "store/run_store.h"

#include <algorithm>

namespace lathe::launch {

using rundir::RunFolder;
using rundir::State;

static std::string elsewhere(const std::string& host, const Result<rundir::Summary>& summary) {
    if (!summary) return "On " + host;
    const double age = static_cast<double>(Clock::system().wallNs() - summary->updatedNs) / 1e9;
    return "On " + host + ", seen " + durationText(std::max(0.0, age)) + " ago";
}

/// Its process lives and has this very folder open: also where the file of its lock was replaced.
static bool isSupervised(const RunFolder& run, const std::optional<rundir::LiveRecord>& live) {
    if (rundir::RunLock::isHeld(run.lock())) return true;
    const auto process = live ? VerifiedProcess::find(live->supervisor) : std::nullopt;
    return process && process->hasOpen(run.root());
}

/// All that is left to do is what readers leave to others.
static bool isBooked(const RunFolder& run) {
    const auto record = rundir::readSession(run, rundir::newestSession(run));
    const auto summary = rundir::readSummary(run);
    const auto reader = store::RunReader::open(run.database());
    const auto rows = reader ? (*reader)->sessions() : Result<std::vector<store::SessionRow>>(reader.error());
    return record && record->state && summary && summary->state == *record->state && rows && !rows->empty() && !rows->back().end.empty();
}

bool isUnsettled(const RunFolder& run) {
    const auto live = rundir::readLive(run);
    return live && *live && (*live)->supervisor.host == hostName() && !isSupervised(run, *live) && !isBooked(run);
}

std::string supervisorNote(const RunFolder& run) {
    const auto live = rundir::readLive(run);
    return live && *live ? stoppedNote((*live)->supervisor) : std::string();
}

/// What is stopped neither finishes nor leaves.
static void tellStoppedWorker(const RunFolder& run, const std::optional<rundir::LiveRecord>& live, SessionEnd& end) {
    for (const rundir::ProcessIdentity& worker : live ? live->workers : std::vector<rundir::ProcessIdentity>())
        if (const std::string note = stoppedNote(worker); !note.empty()) end.why = "Its supervisor was lost, and " + note + ", lathe-trainer stop " + run.name() + " ends it";
}

Error unreadableSession(const RunFolder& run, int session, Error error) {
    if (error.code != ErrorCode::Corrupt) return error;
    error.sentence += ". Put " + std::to_string(session) + ".json back from a copy, or go on in a new run: lathe-trainer fork " + run.name() + "@latest";
    return error;
}

/// Of the first rank. (What it wrote aside and nobody took in yet is not asked for.)
static bool isSomethingRecorded(const RunFolder& run, int session) {
    const auto reader = store::RunReader::open(run.database());
    return reader && (*reader)->recordedSequence(0, session) > 0;
}

WrittenFacts writtenAbout(const RunFolder& run, int session) {
    WrittenFacts written;
    const auto note = [&](const Error& error) {
        if (error.code != ErrorCode::Corrupt && error.code != ErrorCode::NotFound && !written.unread) written.unread = error;
    };
    const auto live = rundir::readLive(run);
    const std::optional<rundir::LiveRecord> left = live ? *live : std::nullopt;
    const auto summary = rundir::readSummary(run);
    if (!live) note(live.error());
    if (!summary) note(summary.error());
    if (summary) written.summary = SessionEnd{summary->state, summary->why};
    const bool isForeign = left && left->supervisor.host != hostName();
    if (isForeign) written.elsewhere = elsewhere(left->supervisor.host, summary);
    written.sameBoot = !left || isForeign || left->supervisor.bootId == bootId();
    written.hasSession = session > 0;
    if (session == 0) return written;
    const auto record = rundir::readSession(run, session);
    if (!record) note(record.error());
    if (!record) written.damage = unreadableSession(run, session, record.error()).text();
    else if (record->state) written.record = SessionEnd{*record->state, record->why};
    written.wasUp = !live || (left && left->session >= session) || (!written.record && isSomethingRecorded(run, session));
    written.wasNext = left && left->session < session;
    return written;
}

Standing standingOf(const RunFolder& run) {
    SessionFacts facts;
    auto& [written, life, end] = facts;
    const auto live = rundir::readLive(run);
    // Asked before the record is read, which is written before the lock is released.
    life.supervisor = isSupervised(run, live ? *live : std::nullopt);
    life.workers = rundir::RunLock::isHeld(run.workersLock());
    const auto newest = rundir::readNewestSession(run);
    const int session = newest ? *newest : 0;
    written = writtenAbout(run, session);
    if (!newest) {
        written.hasSession = true;
        written.damage = newest.error().text();
    }
    const auto summary = rundir::readSummary(run);
    const auto queued = summary && summary->state == State::Queued ? Queue::ofThisUser().holds(summary->id) : Result<bool>(false);
    life.queued = !queued || *queued;
    end.seen = false;
    const bool isLost = session > 0 && written.elsewhere.empty() && written.wasUp && !written.record && !life.supervisor && !life.workers;
    if (const auto account = isLost ? accountLeft(run, session) : std::optional<Ended>(); account) end.ended = *account;
    SessionEnd now = judge(facts);
    if (now.state == State::Stopping && !life.supervisor && live) tellStoppedWorker(run, *live, now);
    if (now.state == State::Queued && !queued) now.why = "Whether it still waits is not known: " + queued.error().text();
    if (now.state == State::Interrupted && !written.record && !written.wasUp && summary && summary->state == State::Queued)   // it is in no queue
        if (const auto file = Queue::ofThisUser().read(); !file) now.why = "Its place in the queue cannot be read: " + file.error().text();
    return {now.state, now.why, written.elsewhere.empty()};
}

}  // namespace lathe::launch
