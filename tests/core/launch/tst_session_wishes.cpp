// What is asked of a session and what comes of it: the answers, what the ranks are shown, and what is sent to processes.
#include "launch/session/session_wishes.h"

#include "session_bench.h"

#include <QtTest/QTest>

#include <csignal>

using namespace lathe;
using namespace lathe::test;
using Kind = launch::Running::Kind;
using live::Phase;
using live::Verb;
using Stop = live::Control::Stop;

class TestSessionWishes : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void atFirstNothingIsWishedFor() {
        SessionBench session;
        const live::Control control = session.control();
        QVERIFY(control.number == 1 && control.stop == Stop::None && !control.pause && control.saveRequests == 0);
        QVERIFY(!session.wishes->isStopping() && !session.wishes->stopping() && !session.wishes->takeChange());
    }
    void aSaveIsCountedToldAndAnswered() {
        SessionBench session;
        QCOMPARE(session.wishes->answer(Verb::SaveNow).text, std::string("Saves after this update"));
        QVERIFY(session.wishes->answer(Verb::SaveNow).ok);
        QVERIFY(session.control().saveRequests == 2 && session.control().number == 3);
        QCOMPARE(session.told().back(), std::string("asked: Saves after this update"));
        QVERIFY(session.wishes->takeChange() && !session.wishes->takeChange());
    }
    void aPauseIsAWishThatStandsUntilItIsTakenBack() {
        SessionBench session;
        QVERIFY(session.wishes->answer(Verb::Pause).ok && session.control().pause);
        QCOMPARE(session.wishes->pauseWhy(), std::string("Paused on request"));
        QCOMPARE(session.wishes->answer(Verb::Pause).text, std::string("Is paused already"));
        QCOMPARE(session.wishes->answer(Verb::Unpause).text, std::string("Goes on"));
        QVERIFY(!session.control().pause);
    }
    void aPauseOfItsOwnEndsAsAnyOther() {
        SessionBench session;
        QVERIFY(session.wishes->pauseByItself("the loss is nan"));
        QCOMPARE(session.wishes->pauseWhy(), std::string("Paused by itself: the loss is nan"));
        QVERIFY(session.control().pause && session.wishes->takeChange());
        QVERIFY(session.wishes->answer(Verb::Unpause).ok && !session.control().pause);
        session.wishes->answer(Verb::StopAndSave);
        QVERIFY(!session.wishes->pauseByItself("too late"));
    }
    void nothingElseIsDoneForARunThatStops() {
        SessionBench session;
        QCOMPARE(session.wishes->answer(Verb::StopAndSave).text, std::string("Finishes this update, saves and stops"));
        QVERIFY(session.control().stop == Stop::SaveAndStop);
        for (const Verb verb : {Verb::SaveNow, Verb::Pause, Verb::Unpause, Verb::Release}) QVERIFY(!session.wishes->answer(verb).ok);
        const live::Reply again = session.wishes->answer(Verb::StopAndSave);
        QVERIFY(again.ok && again.text.starts_with("Is stopping already: asked to save and stop"));
        QVERIFY(session.wishes->answer(Verb::Discard).ok && session.control().stop == Stop::Discard);   // harder than before
    }
    void howFarAStopHasComeIsReadOffTheBeat() {
        SessionBench session;
        session.wishes->answer(Verb::StopAndSave);
        QVERIFY(session.wishes->stopping()->stage == launch::StopStage::Asked);
        session.running->setPhase(Phase::Saving);
        QVERIFY(session.wishes->stopping()->stage == launch::StopStage::Saving);
        session.running->setPhase(Phase::Finishing);
        QVERIFY(session.wishes->stopping()->stage == launch::StopStage::Leaving);
    }
    void theSecondSignalLeavesAtOnce() {
        SessionBench session;
        session.wishes->signalled(SIGTERM);
        QVERIFY(session.control().stop == Stop::SaveAndStop && !session.wishes->leavesAtOnce());
        session.wishes->turn(false);
        QVERIFY(session.running->signals.empty());
        session.wishes->signalled(SIGTERM);
        QVERIFY(session.control().stop == Stop::Discard && session.wishes->leavesAtOnce());
        session.wishes->turn(true);
        QVERIFY(session.running->signals.empty());   // nobody is left
        session.wishes->turn(false);
        QCOMPARE(session.running->signals, std::vector<int>{SIGTERM});
        QVERIFY(session.told().back().starts_with("stop_asked: The worker was told to leave at once"));
    }
    void whileItEndsTheSecondSignalHurriesWhatIsLeft() {
        SessionBench session;
        session.wishes->signalledAtEnd();
        QVERIFY(!session.wishes->leavesAtOnce() && !session.wishes->isStopping());
        session.wishes->signalledAtEnd();
        QVERIFY(session.wishes->leavesAtOnce());
        SessionBench stopped;
        stopped.wishes->signalled(SIGTERM);
        stopped.wishes->signalledAtEnd();
        QVERIFY(stopped.wishes->leavesAtOnce());
    }
    void memoryIsLetGoOnceItIsSavedAndPaused() {
        SessionBench session;
        session.step(10);
        QVERIFY(session.wishes->answer(Verb::Release).ok);
        QVERIFY(session.control().pause && session.control().saveRequests == 1 && session.wishes->isReleased());
        session.save(10);
        session.wishes->turn(false);
        QVERIFY(!session.wishes->isStopping());   // saved, but it goes on computing
        session.running->setPhase(Phase::Paused);
        session.wishes->turn(false);
        QVERIFY(session.control().stop == Stop::SaveAndStop && session.wishes->isReleased());
        QCOMPARE(session.told().back(), std::string("asked: Saved; the memory is let go"));
    }
    void whatCouldNotBeSavedStaysPausedInItsMemory() {
        SessionBench session;
        QVERIFY(session.wishes->answer(Verb::Release).ok);
        session.running->setPhase(Phase::Paused);
        session.event("save_failed", "No space left");
        session.wishes->turn(false);
        QVERIFY(!session.wishes->isStopping() && !session.wishes->isReleased() && session.control().pause);
        QVERIFY(session.told().back().ends_with("it stays paused and keeps its memory: No space left"));
    }
    void aRunWithoutAFolderStopsWithoutSaving() {
        SessionBench session;
        session.wishes->discard();
        QVERIFY(session.control().stop == Stop::Discard && session.wishes->stopping()->discards);
    }
    void aCommandIsHeldAndGoesOnToStop() {
        SessionBench session(Kind::Command);
        QCOMPARE(session.wishes->answer(Verb::Pause).text, std::string("Is held where it is (SIGSTOP); memory stays taken"));
        QVERIFY(!session.wishes->answer(Verb::SaveNow).ok && !session.wishes->answer(Verb::Release).ok);
        QCOMPARE(session.wishes->answer(Verb::StopAndSave).text, std::string("The script is told to leave (SIGTERM)"));   // it does not listen
        QCOMPARE(session.running->held, (std::vector<bool>{true, false}));
        QVERIFY(!session.control().pause);
        session.wishes->turn(false);
        QCOMPARE(session.running->signals, std::vector<int>{SIGTERM});
    }
    void aScriptThatWasStartedElsewhereIsNotHeld() {
        SessionBench session(Kind::Script);
        QVERIFY(!session.wishes->answer(Verb::Pause).ok && !session.control().pause && session.running->held.empty());
    }
};

QTEST_GUILESS_MAIN(TestSessionWishes)
#include "tst_session_wishes.moc"
