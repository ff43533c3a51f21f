// labels: fast
#include "launch/verbs/scratch.h"

#include "base/file_system.h"
#include "without_override.h"

#include <QTemporaryDir>
#include <QtTest/QTest>

#include <atomic>
#include <thread>
#include <vector>

using namespace lathe;
using launch::Scratch;
namespace stdfs = std::filesystem;

class TestScratch : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void itGoesWithItsObjectAndSweepsWhatWasLeft() {
        const QTemporaryDir folder;
        const stdfs::path workspace = folder.path().toStdString();
        QVERIFY(makeFolders(FileSystem::real(), workspace / "scratch" / "left").ok());
        {
            const auto scratch = Scratch::make(workspace);
            QVERIFY(scratch.ok());
            QVERIFY(stdfs::exists(scratch->workspace() / "lock"));
            QVERIFY(!stdfs::exists(workspace / "scratch" / "left"));
        }
        QVERIFY(!stdfs::exists(workspace / "scratch"));
    }
    // workers of a supervisor that died may still save in it
    void whoseRunsCannotBeListedIsInUse() {
        const QTemporaryDir folder;
        const stdfs::path workspace = folder.path().toStdString(), left = workspace / "scratch" / "left";
        QVERIFY(makeFolders(FileSystem::real(), left / "runs").ok());
        QVERIFY(replaceFile(FileSystem::real(), left / "lock", "").ok());
        stdfs::permissions(left / "runs", stdfs::perms::none);
        const test::WithoutOverride asEverybody;
        if (!asEverybody.works()) QSKIP("root cannot give up reading what it may not read");
        QVERIFY(Scratch::make(workspace).ok());
        QVERIFY(stdfs::exists(left / "lock"));
        stdfs::permissions(left / "runs", stdfs::perms::owner_all);
        QVERIFY(Scratch::make(workspace).ok());
        QVERIFY(!stdfs::exists(left));
    }
    /// While others make theirs, remove them, and sweep.
    void nobodyRemovesWhatAnotherHasJustMade() {
        const QTemporaryDir folder;
        const stdfs::path workspace = folder.path().toStdString();
        std::atomic<int> made{0}, lost{0}, refused{0};
        std::vector<std::thread> makers;
        for (int i = 0; i < 4; ++i)
            makers.emplace_back([&] {
                for (int n = 0; n < 300; ++n) {
                    const auto scratch = Scratch::make(workspace);
                    ++(scratch ? made : refused);
                    if (scratch && (scratch->workspace().parent_path().parent_path() != workspace || !stdfs::exists(scratch->workspace() / "lock"))) ++lost;
                }
            });
        for (std::thread& maker : makers) maker.join();
        QCOMPARE(refused.load(), 0);
        QCOMPARE(lost.load(), 0);
        QCOMPARE(made.load(), 1200);
    }
};

QTEST_GUILESS_MAIN(TestScratch)
#include "tst_scratch.moc"
