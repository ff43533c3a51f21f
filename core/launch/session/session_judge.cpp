#include "launch/session/session_judge.h"

namespace lathe::launch {

using rundir::State;
using Stage = StopLadder::Stage;

int decidingRank(const GoneSession& session) {
    const Stage stage = session.wishes.ladder().stage();
    return session.running.decidingRank(session.book, stage == Stage::Terminated || stage == Stage::Killed);
}

std::optional<ExitStatus> exitOf(const GoneSession& session) { return session.running.end(decidingRank(session)); }

EndFacts factsOf(const GoneSession& session) {
    const int rank = decidingRank(session);
    const StopLadder& ladder = session.wishes.ladder();
    const std::string endedFor = session.running.endedFor(rank);
    EndFacts facts;
    facts.ended = session.book.ended(rank);
    facts.exit = session.running.end(rank).value_or(ExitStatus{});
    facts.killedBy = endedFor.empty() ? ladder.reason() : endedFor;
    facts.killSent = ladder.stage() == Stage::Killed;
    facts.systemRanOutOfMemory = session.running.systemRanOutOfMemory();
    facts.logTail = logTail(session.run.rankLog(rank), 3);
    facts.isCommand = session.running.isProgram();
    facts.isRecorded = session.running.kind() == Running::Kind::Script;
    facts.stopAsked = ladder.stage() != Stage::None;
    const bool isSaved = ladder.isHurried() && session.book.lastStep() == session.safeStep;   // asked again after it had saved
    facts.discarded = ladder.discards() && !session.isRemoved && !isSaved;
    facts.updates = session.updates;
    if (const ProgramFrames* frames = session.running.frames()) facts.goodbye = frames->goodbye();
    return facts;
}

SessionEnd judge(const GoneSession& session) {
    SessionFacts facts;
    facts.end = factsOf(session);
    SessionEnd end = judge(facts);
    if (session.wishes.isReleased() && !rundir::isTrouble(end.state) && end.state != State::Completed)
        end = {State::Stopped, "Paused with its memory let go; continue goes on exactly from there"};
    const bool asOne = !rundir::isTrouble(end.state) || end.state == State::Diverged || end.state == State::Interrupted;
    if (session.ranks > 1 && !asOne) end.why = "Rank " + std::to_string(decidingRank(session)) + ": " + end.why;
    return end;
}

}  // namespace lathe::launch
