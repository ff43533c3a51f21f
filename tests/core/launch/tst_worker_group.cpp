// labels: fast process
// Workers of several ranks: the one that ends, is silent or does not get on takes the others along. Time is given, the
// processes are real ones that only sleep.
#include "launch/worker_group.h"

#include "base/file_system.h"

#include <QtTest>

#include <csignal>
#include <filesystem>

using namespace lathe;
using namespace lathe::launch;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

struct Ranks {
    explicit Ranks(int world, std::int64_t waitSeconds = 5) : segment(live::Segment::create({world + 1, 1u << 12}, "test").value()) {
        const std::filesystem::path root = folder.path().toStdString(), program = root / "sleeper";
        std::filesystem::create_directories(root / "logs");
        if (!replaceFile(FileSystem::real(), program, "#!/bin/sh\nexec sleep 1000\n").ok()) qFatal("no program");
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
        group.emplace(WorkerGroup::start({program, rundir::RunFolder(root), 1, world, segment->fd(), segment->fd(), "test", waitSeconds}).value());
    }
    void beat(int rank, std::int64_t operation, std::int64_t second, live::Phase phase = live::Phase::Training) {
        live::Heartbeat beat;
        beat.phase = phase;
        beat.collective = operation;
        beat.monotonicNs = second * kSecond;
        segment->beat(rank, beat);
    }
    bool turn(std::int64_t second) { return group->turn(*segment, second * kSecond); }
    pid_t pid(std::size_t rank) const { return static_cast<pid_t>(group->workers()[rank].identity().pid); }
    /// A worker's end, as it is collected.
    bool ends(int rank, std::int64_t second) {
        return QTest::qWaitFor([&] {
            turn(second);
            return group->end(rank).has_value();
        }, 10'000);
    }

    QTemporaryDir folder;
    std::unique_ptr<live::Segment> segment;
    std::optional<WorkerGroup> group;
};

}  // namespace

class WorkerGroupTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void rankThatStaysBehindIsNamedAndEnded() {
        Ranks ranks(3);
        for (const int second : {10, 13, 15}) {
            for (int rank = 0; rank < 3; ++rank) ranks.beat(rank, rank == 1 ? 6 : 7, second);
            ranks.turn(second);
            QCOMPARE(ranks.group->heldUpBy(), -1);
        }
        for (int rank = 0; rank < 3; ++rank) ranks.beat(rank, rank == 1 ? 6 : 7, 16);
        ranks.turn(16);
        QCOMPARE(ranks.group->heldUpBy(), 1);
        QVERIFY2(ranks.group->problem().find("5 s") != std::string::npos, ranks.group->problem().c_str());
        QVERIFY(ranks.ends(1, 16));
        QCOMPARE(*ranks.group->end(1)->signal, SIGKILL);
        QVERIFY(!ranks.group->end(0));
        QVERIFY(ranks.ends(0, 16 + WorkerGroup::kGraceSeconds) && ranks.ends(2, 16 + WorkerGroup::kGraceSeconds));
        QVERIFY(ranks.group->allGone());
    }

    void rankThatGetsOnIsLeftAlone() {
        Ranks ranks(2);
        for (int second = 10; second < 60; ++second) {
            for (int rank = 0; rank < 2; ++rank) ranks.beat(rank, second / 3 - rank, second);
            QVERIFY(!ranks.turn(second));
        }
        QCOMPARE(ranks.group->heldUpBy(), -1);
    }

    void savingMayTakeLong() {
        Ranks ranks(2);
        for (int second = 10; second < 100; second += 3) {
            ranks.beat(0, 6, second, live::Phase::Saving);
            ranks.beat(1, 7, second);
            ranks.turn(second);
        }
        QCOMPARE(ranks.group->heldUpBy(), -1);
    }

    void silentRankIsEnded() {
        Ranks ranks(2, 1000);
        ranks.beat(0, 7, 10);
        ranks.beat(1, 7, 10);
        ranks.turn(10);
        ranks.beat(0, 7, 10 + WorkerGroup::kSilenceSeconds);
        ranks.turn(10 + WorkerGroup::kSilenceSeconds);
        QCOMPARE(ranks.group->heldUpBy(), -1);
        ranks.beat(0, 7, 11 + WorkerGroup::kSilenceSeconds);
        ranks.turn(11 + WorkerGroup::kSilenceSeconds);
        QCOMPARE(ranks.group->heldUpBy(), 1);
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

    void oneRankIsNeverHurried() {
        Ranks ranks(1, 1);
        ranks.beat(0, 0, 10);
        for (const int second : {10, 100, 1000}) QVERIFY(!ranks.turn(second));
    }
};

QTEST_GUILESS_MAIN(WorkerGroupTest)
#include "tst_worker_group.moc"
