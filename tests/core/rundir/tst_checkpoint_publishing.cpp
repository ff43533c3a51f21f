// Checkpoints come and go as whole folders; what an interruption left is cleared by one rule.
#include "rundir/checkpoint_publishing.h"

#include "base/file_system.h"
#include "rundir/checkpoint_hold.h"
#include "failing_file_system.h"

#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <filesystem>

using namespace lathe;
using namespace lathe::rundir;
namespace stdfs = std::filesystem;

class TestCheckpointPublishing : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    stdfs::path m_checkpoints;

    void make(const std::string& name, const std::string& content) const {
        QVERIFY(makeFolders(FileSystem::real(), m_checkpoints / name).ok());
        QVERIFY(replaceFile(FileSystem::real(), m_checkpoints / name / "file", content).ok());
    }
    std::string contentOf(const std::string& name) const {
        const auto content = readFile(m_checkpoints / name / "file", 100);
        return content.ok() ? *content : std::string();
    }
    std::vector<std::string> names() const { return listFolder(m_checkpoints).value(); }

private Q_SLOTS:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_checkpoints = m_folder->path().toStdString();
    }

    void twoNamesSwapWhatTheyStandFor() {
        make("one", "1");
        make("other", "2");
        QVERIFY(FileSystem::real().exchange(m_checkpoints / "one", m_checkpoints / "other").ok());
        QCOMPARE(contentOf("one") + contentOf("other"), std::string("21"));
        const auto missing = FileSystem::real().exchange(m_checkpoints / "one", m_checkpoints / "none");
        QVERIFY(!missing.ok());
        QCOMPARE(missing.error().code, ErrorCode::NotFound);
        QCOMPARE(contentOf("one"), std::string("2"));
    }

    void whateverCallFailsTheNameStandsForOneOfBoth() {
        for (const bool replaces : {false, true}) {
            for (int call = 1;; ++call) {
                if (replaces) make("s001-000000010", "before");
                make(".s001-000000010", "after");
                test::FailingFileSystem fs(call, false, EIO);
                const auto published = publishCheckpoint(fs, m_checkpoints, "s001-000000010");
                QCOMPARE(contentOf("s001-000000010"), std::string(published.ok() ? "after" : replaces ? "before" : ""));
                clearUnfinished(FileSystem::real(), m_checkpoints);
                QCOMPARE(names().size(), std::size_t(published.ok() || replaces ? 1 : 0));
                stdfs::remove_all(m_checkpoints / "s001-000000010");
                if (call > fs.calls()) break;
            }
        }
    }

    // a fork of a run that is up reads the newest one for a while, and its rule lets that go meanwhile
    void oneThatIsReadStaysUntilItsReaderLetsGo() {
        const auto folder = m_checkpoints / "s001-000000010";
        make("s001-000000010", "x");
        {
            const auto first = CheckpointHold::take(folder), second = CheckpointHold::take(folder);
            QVERIFY(first.ok() && second.ok());
            const auto removed = removeCheckpoint(FileSystem::real(), m_checkpoints, "s001-000000010");
            QVERIFY(!removed.ok() && removed.error().code == ErrorCode::Busy);
            QVERIFY(stdfs::is_directory(folder));
        }
        QVERIFY(removeCheckpoint(FileSystem::real(), m_checkpoints, "s001-000000010").ok());
        const auto late = CheckpointHold::take(folder);
        QVERIFY(!late.ok() && late.error().code == ErrorCode::NotFound);
    }
    void whatIsRemovedHasNoNameAlsoWhereItsFilesStay() {
        make("s001-000000010", "x");
        test::FailingFileSystem fs(100, false);
        fs.failRemove = true;
        QVERIFY(removeCheckpoint(fs, m_checkpoints, "s001-000000010").ok());
        QCOMPARE(names(), std::vector<std::string>{".s001-000000010.removed"});
        make("s001-000000010", "again");
        QVERIFY(removeCheckpoint(FileSystem::real(), m_checkpoints, "s001-000000010").ok());
        QVERIFY(names().empty());
    }

    // killed between the two renames, on a disk that cannot exchange names and fails a call now and then
    void whatCannotGetItsNameBackIsKept() {
        const std::string name = "s001-000000010";
        make(".old-" + name, "before");
        make("." + name, "after");
        test::FailingFileSystem fs(1, false, ESTALE);
        clearUnfinished(fs, m_checkpoints);
        QCOMPARE(names(), (std::vector<std::string>{".old-" + name, "." + name}));
        QCOMPARE(contentOf(".old-" + name) + contentOf("." + name), std::string("beforeafter"));
        clearUnfinished(FileSystem::real(), m_checkpoints);
        QCOMPARE(names(), std::vector<std::string>{name});
        QCOMPARE(contentOf(name), std::string("before"));
    }

    // what was kept is in nobody's way
    void aNewOneIsPublishedBesideWhatCouldNotComeBack() {
        const std::string name = "s001-000000010";
        make(".old-" + name, "before");
        make("." + name, "newer");
        QVERIFY(publishCheckpoint(FileSystem::real(), m_checkpoints, name).ok());
        clearUnfinished(FileSystem::real(), m_checkpoints);
        QCOMPARE(names(), std::vector<std::string>{name});
        QCOMPARE(contentOf(name), std::string("newer"));
    }

    void whatAnInterruptionLeftIsClearedAndOnlyThat() {
        for (const char* name : {".s001-000000010", ".s001-000000020.removed", ".old-s001-000000030", "s001-000000030", ".old-s001-000000040", "s001-000000050", ".snapshots", "notes"})
            make(name, name);
        clearUnfinished(FileSystem::real(), m_checkpoints);
        QCOMPARE(names(), (std::vector<std::string>{".snapshots", "notes", "s001-000000030", "s001-000000040", "s001-000000050"}));
        QCOMPARE(contentOf("s001-000000030"), std::string("s001-000000030"));
        QCOMPARE(contentOf("s001-000000040"), std::string(".old-s001-000000040"));
    }
};

QTEST_GUILESS_MAIN(TestCheckpointPublishing)
#include "tst_checkpoint_publishing.moc"
