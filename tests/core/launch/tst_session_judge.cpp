// What of a session's parts decides how it ended: which rank, whether a stop lost anything, and what a release makes of it.
#include "launch/session/session_judge.h"

#include "session_bench.h"

#include <QtTest/QTest>

#include <csignal>

using namespace lathe;
using namespace lathe::test;
using rundir::State;

class TestSessionJudge : public QObject {
    Q_OBJECT

    static launch::GoneSession gone(const SessionBench& session, int ranks = 1, bool isRemoved = false) {
        return {session.run.folder(), session.recorder->book(), *session.running, *session.wishes, session.checkpoints->safe().step, 0, ranks, isRemoved};
    }

private Q_SLOTS:
    void anEndIsThatOfTheDecidingRank() {
        SessionBench session(launch::Running::Kind::Training, 2);
        session.event("ended", "Lost contact", "{\"state\": \"failed\", \"why\": \"Lost contact\", \"lost_contact\": true}", 0);
        session.running->ends = {{0, {.code = 1}}, {1, {.signal = SIGSEGV}}};
        session.running->deciding = 1;
        QCOMPARE(*launch::exitOf(gone(session, 2))->signal, SIGSEGV);
        const launch::SessionEnd end = launch::judge(gone(session, 2));
        QVERIFY(rundir::isTrouble(end.state) && end.why.starts_with("Rank 1: "));
    }
    void ranksThatEndAsOneAreNotNamed() {
        SessionBench session(launch::Running::Kind::Training, 2);
        for (const int rank : {0, 1}) session.event("ended", "Done", "{\"state\": \"completed\", \"why\": \"All updates are made\"}", rank);
        session.running->ends = {{0, {.code = 0}}, {1, {.code = 0}}};
        QCOMPARE(launch::judge(gone(session, 2)), (launch::SessionEnd{State::Completed, "All updates are made"}));
    }
    void whyARankWasEndedComesBeforeTheStop() {
        SessionBench session;
        session.running->ended = "It did not get on";
        session.running->ends = {{0, {.signal = SIGKILL}}};
        QCOMPARE(launch::factsOf(gone(session)).killedBy, std::string("It did not get on"));
    }
    void nothingIsDiscardedThatWasSavedOrHasNoFolder() {
        SessionBench session;
        session.step(10);
        session.wishes->signalled(SIGTERM);
        QVERIFY(!launch::factsOf(gone(session)).discarded);
        session.wishes->signalled(SIGTERM);
        QVERIFY(launch::factsOf(gone(session)).discarded);
        QVERIFY(!launch::factsOf(gone(session, 1, true)).discarded);
        session.save(10);
        QVERIFY(!launch::factsOf(gone(session)).discarded);
    }
    void whatLetItsMemoryGoSaysHowToGoOn() {
        SessionBench session;
        session.step(10);
        session.wishes->answer(live::Verb::Release);
        session.event("ended", "Stopped", "{\"state\": \"stopped\", \"why\": \"Stopped as asked\"}");
        session.running->ends = {{0, {.code = 0}}};
        const launch::SessionEnd end = launch::judge(gone(session));
        QVERIFY(end.state == State::Stopped && end.why.starts_with("Paused with its memory let go"));
    }
    void aScriptIsJudgedAsWhatIsOnlyRecorded() {
        SessionBench session(launch::Running::Kind::Script);
        const launch::EndFacts facts = launch::factsOf(gone(session));
        QVERIFY(facts.isCommand && facts.isRecorded && !facts.goodbye);
        QVERIFY(!launch::exitOf(gone(session)));
    }
};

QTEST_GUILESS_MAIN(TestSessionJudge)
#include "tst_session_judge.moc"
