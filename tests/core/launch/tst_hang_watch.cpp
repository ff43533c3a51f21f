// labels: fast process
// What is told of ranks that hang, and when that is over. Time and beats are given, the processes are real ones that only sleep.
#include "launch/workers/hang_watch.h"

#include "base/file_system.h"
#include "config/config.h"
#include "sleeping_ranks.h"

#include <QtTest>

#include <csignal>

using namespace lathe;
using namespace lathe::launch;
using live::Activity;

namespace {

constexpr std::int64_t kTick = 100'000'000;   // ns between looks

/// Ranks (two) whose beats are written as their workers would, and what is told of them.
struct Watched {
    explicit Watched(int world = 2) : ranks(world), beats(static_cast<std::size_t>(world)), watch(ranks.run, config, *ranks.segment, *ranks.group, [this](const std::string& kind, const std::string& text, const std::string&) {
        if (kind != "stacks") told.push_back(kind + ": " + text);
    }) {
        for (live::Heartbeat& beat : beats) beat = {.phase = live::Phase::Training, .activity = Activity::Computing};
    }
    /// For so long: who moves gets on, who is silent does not beat.
    void pass(double seconds, std::vector<std::size_t> moving, std::vector<std::size_t> silent = {}) {
        for (const std::int64_t until = now + std::int64_t(seconds * 1e9); now < until;) {
            now += kTick;
            for (std::size_t rank = 0; rank < beats.size(); ++rank) {
                const auto isIn = [rank](const std::vector<std::size_t>& list) { return std::find(list.begin(), list.end(), rank) != list.end(); };
                if (isIn(moving)) beats[rank].attempt += 1;
                if (isIn(moving)) beats[rank].movedNs = now;
                if (!isIn(silent)) beats[rank].monotonicNs = now;
                ranks.segment->beat(int(rank), beats[rank]);
            }
            watch.look(now, recorded);
        }
    }
    QString all() const {
        QStringList lines;
        for (const std::string& line : told) lines << QString::fromStdString(line);
        return lines.join(QLatin1Char('\n'));
    }

    test::SleepingRanks ranks;
    config::RunConfig config;
    std::vector<live::Heartbeat> beats;
    std::vector<std::string> told;
    HangWatch watch;
    std::int64_t now = 1'000'000'000, recorded = 0;
};

}  // namespace

class HangWatchTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aRankThatMovesAgainIsToldOnce() {
        Watched two;
        two.pass(10, {0, 1});
        two.pass(5, {0});
        QCOMPARE(two.told.size(), std::size_t(1));
        QVERIFY2(two.told[0].starts_with("hang: Rank 1 has not got on for"), qPrintable(two.all()));
        two.pass(1, {0, 1});
        QCOMPARE(two.told.size(), std::size_t(2));
        QVERIFY2(two.told[1].starts_with("hang_over: Rank 1 gets on again, after 5"), qPrintable(two.all()));
        QVERIFY(!two.watch.finding());
    }

    void theEndOfAnotherRankIsNotTheEndOfAHang() {
        Watched two;
        two.pass(10, {0, 1});
        two.pass(5, {0});
        ::kill(two.ranks.pid(0), SIGKILL);
        QVERIFY(two.ranks.ends(0, 20));
        two.pass(2, {});
        QCOMPARE(two.told.size(), std::size_t(1));
        QVERIFY(two.watch.finding() && two.watch.finding()->rank == 1);
        ::kill(two.ranks.pid(1), SIGKILL);
        QVERIFY(two.ranks.ends(1, 20));
        two.pass(1, {});
        QVERIFY2(two.told.size() == 1 && !two.watch.finding(), qPrintable(two.all()));
    }

    void aSecondRankThatFallsSilentIsToldBesideTheFirst() {
        Watched two;
        two.pass(10, {0, 1});
        two.pass(5, {0});
        two.pass(5, {}, {0});
        QCOMPARE(two.told.size(), std::size_t(2));
        QVERIFY2(two.told[1].starts_with("hang: Rank 0 has been silent for"), qPrintable(two.all()));
        QCOMPARE(two.watch.finding()->rank, 0);
        two.beats[0].activity = Activity::Reducing;   // it goes on, and waits for the other
        two.pass(1, {0});
        two.pass(5, {});
        QVERIFY2(two.told.size() == 3 && two.told[2].starts_with("hang_over: Rank 0 gets on again, after "), qPrintable(two.all()));
        QCOMPARE(two.watch.finding()->rank, 1);
        two.pass(1, {0, 1});
        QVERIFY2(two.told.size() == 4 && two.told[3].starts_with("hang_over: Rank 1 gets on again, after "), qPrintable(two.all()));
    }

    // one that is stopped whole does not beat any more: its points were newer than its last beat
    void theUpdateOfAHangIsTheNewestThatIsKnown() {
        Watched one(1);
        one.pass(10, {0});
        one.recorded = one.beats[0].attempt + 24;
        one.pass(5, {}, {0});
        QCOMPARE(one.told.size(), std::size_t(1));
        const std::string update = "update " + std::to_string(one.recorded + 1);
        QVERIFY2(one.told[0].find(update) != std::string::npos, qPrintable(one.all()));
    }

    // this process was stopped, say
    void timeInWhichNobodyLookedEndsNoHang() {
        Watched two;
        two.pass(10, {0, 1});
        two.pass(5, {0});
        two.now += 60'000'000'000;
        two.pass(5, {0});
        QCOMPARE(two.told.size(), std::size_t(1));
    }
};

QTEST_GUILESS_MAIN(HangWatchTest)
#include "tst_hang_watch.moc"
