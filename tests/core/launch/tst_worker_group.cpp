// labels: fast process
// Workers of several ranks: the one that ends, or is ended, takes the others along. Time is given, the
// processes are real ones that only sleep.
#include "launch/workers/worker_group.h"

#include "sleeping_ranks.h"

#include <QtTest>

#include <csignal>

using namespace lathe;
using namespace lathe::launch;
using live::Activity;
using Ranks = test::SleepingRanks;

static constexpr std::int64_t kSecond = 1'000'000'000;

class WorkerGroupTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void rankThatHoldsUpIsEndedAndTheOthersAreGivenAMoment() {
        Ranks ranks(3);
        QVERIFY(!ranks.turn(15));
        QCOMPARE(ranks.group->heldUpBy(), -1);
        ranks.group->endFor(1, "it did not get on for 5 s", 16 * kSecond);
        QCOMPARE(ranks.group->heldUpBy(), 1);
        QVERIFY2(ranks.group->problem().find("5 s") != std::string::npos, ranks.group->problem().c_str());
        QVERIFY(ranks.ends(1, 16));
        QCOMPARE(*ranks.group->end(1)->signal, SIGKILL);
        QVERIFY(!ranks.group->end(0));
        QVERIFY(ranks.ends(0, 16 + WorkerGroup::kGraceSeconds) && ranks.ends(2, 16 + WorkerGroup::kGraceSeconds));
        QVERIFY(ranks.group->allGone());
    }

    void endOfOneIsTheEndOfAll() {
        Ranks ranks(2);
        ::kill(ranks.pid(1), SIGKILL);
        QVERIFY(ranks.ends(1, 10));
        QCOMPARE(ranks.group->order(), std::vector<int>{1});
        ranks.turn(9 + WorkerGroup::kGraceSeconds);
        QVERIFY(!ranks.group->end(0));
        QVERIFY(ranks.ends(0, 10 + WorkerGroup::kGraceSeconds));
        QCOMPARE(ranks.group->order(), (std::vector<int>{1, 0}));
        QCOMPARE(ranks.group->heldUpBy(), -1);
    }

    /// The first rank alone writes checkpoints, and ends its save also without the others.
    void whoSavesIsGivenTheTimeOfASave() {
        Ranks ranks(3);
        beginSave(ranks);
        ::kill(ranks.pid(1), SIGKILL);
        QVERIFY(ranks.ends(1, 10));
        QVERIFY(ranks.ends(2, 10 + WorkerGroup::kGraceSeconds));   // nobody waits for this one
        for (const int second : {60, 120, 300}) QVERIFY(!ranks.turn(second));
        std::filesystem::rename(unfinished(ranks), ranks.run.checkpoints() / "s001-000000010");
        QVERIFY(!ranks.turn(301) && !ranks.turn(304));             // it tells how it ends
        QVERIFY(ranks.ends(0, 300 + WorkerGroup::kGraceSeconds));
        QCOMPARE(ranks.group->order(), (std::vector<int>{1, 2, 0}));
    }

    void aSaveThatNeverEndsIsEndedToo() {
        Ranks ranks(2);
        beginSave(ranks);
        ::kill(ranks.pid(1), SIGKILL);
        QVERIFY(ranks.ends(1, 10));
        for (int second = 11; second < 10 + WorkerGroup::kSavingSeconds; ++second) QVERIFY(!ranks.turn(second));
        QVERIFY(ranks.ends(0, 10 + WorkerGroup::kSavingSeconds));
    }

    // the copy of the state comes before the first file, and takes long as well
    void whoCopiesItsStateForASaveIsGivenThatTimeToo() {
        Ranks ranks(2);
        ::kill(ranks.pid(1), SIGKILL);
        QVERIFY(ranks.ends(1, 10));
        for (const int second : {12, 16, 30, 60}) QVERIFY(!ranks.turn(second, true));
        beginSave(ranks);
        for (const int second : {65, 200}) QVERIFY(!ranks.turn(second, false));
        std::filesystem::remove(unfinished(ranks));
        QVERIFY(ranks.ends(0, 200 + WorkerGroup::kGraceSeconds));
    }

    void whyTheRunStillStandsIsToldOnce() {
        Ranks ranks(2);
        QCOMPARE(ranks.group->takeNews(), std::string());
        ::kill(ranks.pid(1), SIGKILL);
        QVERIFY(ranks.ends(1, 10));
        QCOMPARE(ranks.group->takeNews(), std::string());   // nothing is saved: the end is near
        ranks.turn(11, true);
        QCOMPARE(ranks.group->takeNews(), std::string("Rank 1 was ended by signal SIGKILL; what the first rank is saving is waited for, at most 15 min"));
        for (const int second : {12, 60, 300}) {
            ranks.turn(second, true);
            QCOMPARE(ranks.group->takeNews(), std::string());
        }
    }

    void aRankThatWasEndedIsToldWithItsReason() {
        Ranks ranks(2);
        ranks.group->endFor(1, "it did not get on for 5 s", 10 * kSecond);
        QVERIFY(QTest::qWaitFor([&] { return ranks.turn(10, true) || ranks.group->end(1); }, 10'000));
        QCOMPARE(ranks.group->takeNews(), std::string("Rank 1 was ended since it did not get on for 5 s; what the first rank is saving is waited for, at most 15 min"));
    }

    /// At the end of every run of several ranks one of them is ready first.
    void whoEndedWellIsNotNewsBeforeItsTimeIsOver() {
        Ranks ranks(2, "[ $7 = 1 ] && exit 0; exec sleep 1000");
        QVERIFY(QTest::qWaitFor([&] { return ranks.turn(10, true) || ranks.group->end(1); }, 10'000));
        QCOMPARE(*ranks.group->end(1)->code, 0);
        ranks.turn(39, true);
        QCOMPARE(ranks.group->takeNews(), std::string());
        ranks.turn(10 + WorkerGroup::kCleanGraceSeconds, true);
        QCOMPARE(ranks.group->takeNews(), std::string("Rank 1 ended with exit code 0; what the first rank is saving is waited for, at most 15 min"));
    }

    void ofSeveralThatAreGoneTheOneThatFailedIsTold() {
        Ranks ranks(3, "[ $7 = 1 ] && exit 0; exec sleep 1000");
        QVERIFY(QTest::qWaitFor([&] { return ranks.turn(10, true) || ranks.group->end(1); }, 10'000));
        ::kill(ranks.pid(2), SIGKILL);
        QVERIFY(QTest::qWaitFor([&] { return ranks.turn(11, true) || ranks.group->end(2); }, 10'000));
        QCOMPARE(ranks.group->takeNews(), std::string("Rank 2 was ended by signal SIGKILL; what the first rank is saving is waited for, at most 15 min"));
    }

    void onlyTheFirstRankAndOnlyAliveIsAtASave() {
        using live::Heartbeat, live::Phase;
        const Heartbeat saves{.phase = Phase::Saving, .monotonicNs = 100 * kSecond}, waits{.phase = Phase::Saving, .monotonicNs = 100 * kSecond, .activity = Activity::Exchanging},
            trains{.phase = Phase::Training, .monotonicNs = 100 * kSecond}, leaves{.phase = Phase::Finishing, .monotonicNs = 100 * kSecond};
        QVERIFY(isAtSave({saves, std::nullopt}, 101 * kSecond) && isAtSave({saves, trains}, 101 * kSecond));
        for (const HangDoctor::Beats& beats : {HangDoctor::Beats{}, {std::nullopt, saves}, {trains, saves}, {leaves, saves}, {waits, saves}, {Heartbeat{.phase = Phase::Saving}, saves}})
            QVERIFY(!isAtSave(beats, 101 * kSecond));
        QVERIFY(!isAtSave({saves, saves}, 110 * kSecond));   // it is stopped itself
        QVERIFY(isAtSave({saves, Heartbeat{.phase = Phase::Training, .monotonicNs = 1}}, 101 * kSecond));
    }

    void nobodyWaitsForASaveOfARankThatIsGone() {
        Ranks ranks(2);
        beginSave(ranks);
        ::kill(ranks.pid(0), SIGKILL);
        QVERIFY(ranks.ends(0, 10));
        QVERIFY(ranks.ends(1, 10 + WorkerGroup::kGraceSeconds));
    }

    void nobodyWaitsForWhatAnotherSessionLeft() {
        Ranks ranks(2);
        for (const char* other : {".s002-000000010", ".old-s001-000000010", ".s001-000000010.removed", "s001-000000010", ".snapshots"})
            std::filesystem::create_directories(ranks.run.checkpoints() / other);
        ::kill(ranks.pid(1), SIGKILL);
        QVERIFY(ranks.ends(1, 10));
        QVERIFY(ranks.ends(0, 10 + WorkerGroup::kGraceSeconds));
    }

    void oneRankIsNeverHurried() {
        Ranks ranks(1);
        for (const int second : {10, 100, 1000}) QVERIFY(!ranks.turn(second));
    }

private:
    static std::filesystem::path unfinished(const Ranks& ranks) { return ranks.run.checkpoints() / ".s001-000000010"; }
    static void beginSave(const Ranks& ranks) { std::filesystem::create_directories(unfinished(ranks)); }
};

QTEST_GUILESS_MAIN(WorkerGroupTest)
#include "tst_worker_group.moc"
