// How long a disk lasts: from numbers alone, and from folders as runs leave them.
#include "launch/run/disk_outlook.h"

#include "base/file_system.h"
#include "config/config.h"
#include "fixture_run.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/checkpoint_publishing.h"
#include "rundir/tensor_files.h"

#include <QtTest/QTest>
#include <QTemporaryDir>

#include <cmath>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

using namespace lathe;
using launch::DiskOutlook;
using launch::DiskRoom;
using launch::outlookFrom;
using launch::RunWrites;
using tests::FixtureRun;
using Kind = DiskOutlook::Kind;

static constexpr std::uint64_t kGb = 1'000'000'000;

class TestDiskOutlook : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::filesystem::path workspace() const { return m_folder->path().toStdString(); }

    /// Takes room without writing it.
    static void take(const std::filesystem::path& file, std::int64_t bytes) {
        const int fd = ::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        if (fd < 0 || ::posix_fallocate(fd, 0, bytes) != 0) qFatal("no room for the test");
        ::close(fd);
    }

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void hoursLeftAreFreeSpaceOverTheRateOfAllRuns() {
        const DiskOutlook two = outlookFrom({true, true, 120 * kGb}, {{3e9, 0}, {7e9, 0}});
        QCOMPARE(two.bytesPerHour, 10e9);
        QCOMPARE(*two.hoursLeft, 12.0);
        QVERIFY(two.kind == Kind::Filling);
        const DiskOutlook later = outlookFrom({true, true, 250 * kGb}, {{10e9, 0}});
        QCOMPARE(*later.hoursLeft, 25.0);
        QVERIFY(later.kind == Kind::Fine);
        QVERIFY(launch::outlookText(later, "/w").empty());
    }
    void whereNothingIsWrittenThereIsNoEnd() {
        const DiskOutlook idle = outlookFrom({true, true, kGb}, {});
        QVERIFY(!idle.hoursLeft);
        QVERIFY(idle.kind == Kind::Fine);
    }
    void checkpointsThatAreToComeAreTakenOffFirst() {
        const DiskOutlook some = outlookFrom({true, true, 30 * kGb}, {{1e9, 20 * kGb}});
        QCOMPARE(*some.hoursLeft, 10.0);
        const DiskOutlook none = outlookFrom({true, true, 10 * kGb}, {{0, 20 * kGb}});
        QCOMPARE(*none.hoursLeft, 0.0);
        QVERIFY(none.kind == Kind::Filling);
        QVERIFY(launch::outlookText(none, "/w").find("less than the checkpoints need") != std::string::npos);
    }
    void aDiskThatCannotBeUsedIsToldAsWhatItIs() {
        const DiskOutlook full = outlookFrom({true, true, launch::kLeastForSession - 1}, {});
        QVERIFY(full.kind == Kind::Full);
        QCOMPARE(launch::outlookText(full, "/w"), std::string("The disk of /w is full (4.0 MB free): no run can start there"));
        QVERIFY(outlookFrom({true, false, 5 * kGb}, {{1e12, 0}}).kind == Kind::ReadOnly);
        QVERIFY(outlookFrom({false, false, 0}, {}).kind == Kind::Gone);
        QVERIFY(launch::diskOutlook(workspace() / "nowhere").kind == Kind::Gone);
        QVERIFY(launch::diskOutlook(workspace()).kind != Kind::Gone);
        QCOMPARE(launch::outlookText(outlookFrom({false, false, 0}, {}), "/w"), std::string("/w is not there any more"));
    }
    void cannotSaveIsSaidOnlyWhereTheNextSaveDoesNotFit() {
        constexpr std::uint64_t kMb = 1'000'000;
        const auto with = [](std::uint64_t free, std::vector<std::uint64_t> saves) {
            std::vector<RunWrites> runs;
            for (const std::uint64_t save : saves) runs.push_back({0, 0, save});
            return outlookFrom({true, true, free}, runs);
        };
        QVERIFY(with(41 * kMb, {}).kind == Kind::Fine);
        QVERIFY(with(8 * kMb, {2 * kMb, 0}).kind == Kind::Fine);
        const DiskOutlook full = with(41 * kMb, {2 * kMb, 60 * kMb, 45 * kMb});
        QVERIFY(full.kind == Kind::Full);
        QCOMPARE(launch::outlookText(full, "/w"), std::string("The disk of /w is full (41.0 MB free): runs there cannot save, the next checkpoint needs 60.0 MB"));
        // Low is what the trend says.
        QVERIFY(outlookFrom({true, true, 41 * kMb}, {{10e6, 0, 2 * kMb}}).kind == Kind::Filling);
    }
    void aRunsRateIsWhatItHasWrittenOverItsActiveTime() {
        auto loaded = config::load("digits-mlp");
        loaded->config.checkpoint.keepLast = 3;
        loaded->config.checkpoint.keepBest = 1;
        FixtureRun run(workspace(), "one", config::toYaml(loaded->config));
        run.beginSession(1);
        QVERIFY(replaceFile(FileSystem::real(), run.folder().sessionYaml(1), config::toYaml(loaded->config)).ok());
        run.checkpoint(1, 10);
        run.closeWriter();
        run.summary([](rundir::Summary& summary) { summary.activeSeconds = 30; });
        QCOMPARE(launch::writesOf(run.folder()).bytesPerHour, 0.0);   // too early to say
        run.summary([](rundir::Summary& summary) { summary.activeSeconds = 360; });
        const double before = launch::writesOf(run.folder()).bytesPerHour;
        take(run.folder().root() / "blobs.part", 8 << 20);
        take(run.folder().checkpoints() / "large", 64 << 20);         // of those only so many are kept
        const RunWrites writes = launch::writesOf(run.folder());
        QVERIFY2(std::abs(writes.bytesPerHour - before - double(8 << 20) * 10) < 1e5, qPrintable(QString::number(writes.bytesPerHour - before)));
        const auto all = rundir::listCheckpoints(run.folder().checkpoints());
        QVERIFY(!all.empty() && all.back().bytes > 0);
        QCOMPARE(writes.toCome, 3 * all.back().bytes);                // one of four is there
        QCOMPARE(writes.nextSave, all.back().bytes + rundir::kSmallFilesBytes);
        // Only runs that are up write.
        QCOMPARE(launch::diskOutlook(workspace()).bytesPerHour, 0.0);
        const auto lock = rundir::RunLock::acquire(run.folder().lock());
        QVERIFY(lock.ok());
        QCOMPARE(launch::diskOutlook(workspace()).bytesPerHour, writes.bytesPerHour);
    }
    void whatNoUpdateCanChangeNeedsNoRoomInTheNextSave() {
        auto loaded = config::load("digits-mlp");
        FixtureRun run(workspace(), "one", config::toYaml(loaded->config));
        run.beginSession(1);
        QVERIFY(replaceFile(FileSystem::real(), run.folder().sessionYaml(1), config::toYaml(loaded->config)).ok());
        run.checkpoint(1, 10);
        run.closeWriter();
        const std::uint64_t before = launch::writesOf(run.folder()).nextSave;
        const std::filesystem::path folder = run.folder().checkpoints() / "s001-000000010";
        auto manifest = rundir::readCheckpoint(folder);
        QVERIFY(manifest.ok() && before > 0);
        manifest->files.push_back({rundir::tensorFileName(rundir::kFrozenTensors, 3), 2 << 20, std::string(32, '0')});
        QCOMPARE(manifest->files.back().name, std::string("frozen-00003.safetensors"));
        take(folder / manifest->files.back().name, 2 << 20);
        QVERIFY(replaceFile(FileSystem::real(), folder / "manifest.json", rundir::manifestJson(*manifest)).ok());
        QVERIFY(rundir::listCheckpoints(run.folder().checkpoints()).back().bytes > before);   // it is usable, and larger
        QCOMPARE(launch::writesOf(run.folder()).nextSave, before);
    }
    void onlyUsableCheckpointsThatNobodyPinnedCountAsThere() {
        auto loaded = config::load("digits-mlp");
        loaded->config.checkpoint.keepLast = 3;
        loaded->config.checkpoint.keepBest = 1;
        FixtureRun run(workspace(), "one", config::toYaml(loaded->config));
        run.beginSession(1);
        QVERIFY(replaceFile(FileSystem::real(), run.folder().sessionYaml(1), config::toYaml(loaded->config)).ok());
        run.checkpoint(1, 10);
        run.checkpoint(1, 20);
        run.closeWriter();
        const std::uint64_t each = rundir::listCheckpoints(run.folder().checkpoints()).front().bytes;
        QCOMPARE(launch::writesOf(run.folder()).toCome, 2 * each);
        QVERIFY(std::filesystem::create_directories(run.folder().checkpoints() / ".s001-000000030"));   // being saved
        QCOMPARE(launch::writesOf(run.folder()).toCome, 2 * each);
        QVERIFY(rundir::editUser(FileSystem::real(), run.folder(), [](rundir::UserRecord& user) { user.pinned = {"s001-000000010"}; }).ok());
        QCOMPARE(launch::writesOf(run.folder()).toCome, 3 * each);
        std::filesystem::remove(run.folder().checkpoints() / "s001-000000020/trainer.json");            // only the pinned one can be used
        QCOMPARE(launch::writesOf(run.folder()).toCome, 4 * each);
    }
    void checkpointsThatAreKeptEverySoManyUpdatesGoOn() {
        auto loaded = config::load("digits-mlp");
        loaded->config.checkpoint.keepEvery = 100;
        FixtureRun run(workspace(), "one", config::toYaml(loaded->config));
        run.beginSession(1);
        const auto configure = [&] { return replaceFile(FileSystem::real(), run.folder().sessionYaml(1), config::toYaml(loaded->config)).ok(); };
        QVERIFY(configure());
        run.checkpoint(1, 100);
        run.closeWriter();
        run.summary([](rundir::Summary& summary) {
            summary.activeSeconds = 360;
            summary.counters.globalStep = GlobalStep(1000);
        });
        const double with = launch::writesOf(run.folder()).bytesPerHour;
        loaded->config.checkpoint.keepEvery.reset();
        QVERIFY(configure());
        const double each = static_cast<double>(rundir::listCheckpoints(run.folder().checkpoints()).front().bytes);
        const double without = launch::writesOf(run.folder()).bytesPerHour;
        QVERIFY2(std::abs(with - without - 100 * each) < 1, qPrintable(QString("%1 %2").arg(with - without).arg(100 * each)));   // 10,000 updates an hour
    }
    void aLinkOutOfTheRunIsNotFollowed() {
        auto loaded = config::load("digits-mlp");
        FixtureRun run(workspace(), "one", config::toYaml(loaded->config));
        run.beginSession(1);
        run.closeWriter();
        run.summary([](rundir::Summary& summary) { summary.activeSeconds = 3600; });
        const double before = launch::writesOf(run.folder()).bytesPerHour;
        QVERIFY(std::filesystem::create_directories(workspace() / "elsewhere"));
        take(workspace() / "elsewhere/large", 16 << 20);
        std::filesystem::create_directory_symlink(workspace() / "elsewhere", run.folder().root() / "link");
        QCOMPARE(launch::writesOf(run.folder()).bytesPerHour, before);
    }
};

QTEST_GUILESS_MAIN(TestDiskOutlook)
#include "tst_disk_outlook.moc"
