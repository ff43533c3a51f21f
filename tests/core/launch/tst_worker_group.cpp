// labels: fast process
// Workers of several ranks: the one that ends, or is ended, takes the others along. Time is given, the
// processes are real ones that only sleep.
#include "launch/worker_group.h"

#include "base/file_system.h"
#include "live/segment.h"

#include <QtTest>

#include <csignal>
#include <filesystem>

using namespace lathe;
using namespace lathe::launch;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

struct Ranks {
    explicit Ranks(int world) : segment(live::Segment::create({world + 1, 1u << 12}, "test").value()) {
        const std::filesystem::path root = folder.path().toStdString(), program = root / "sleeper";
        std::filesystem::create_directories(root / "logs");
        if (!replaceFile(FileSystem::real(), program, "#!/bin/sh\nexec sleep 1000\n").ok()) qFatal("no program");
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
        group.emplace(WorkerGroup::start({program, rundir::RunFolder(root), 1, world, segment->fd(), segment->fd(), "test"}).value());
    }
    bool turn(std::int64_t second) { return group->turn(second * kSecond); }
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

    void oneRankIsNeverHurried() {
        Ranks ranks(1);
        for (const int second : {10, 100, 1000}) QVERIFY(!ranks.turn(second));
    }
};

QTEST_GUILESS_MAIN(WorkerGroupTest)
#include "tst_worker_group.moc"
