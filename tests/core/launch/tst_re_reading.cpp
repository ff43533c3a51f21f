// labels: fault
// Re-reading checkpoints in the background: what could not be read says nothing about them, and what was found stays with the
// folder that was read.
#include "launch/session/verifier.h"

#include "base/file_system.h"
#include "fixture_run.h"
#include "syscall_tracer.h"

#include <QTemporaryDir>
#include <QtTest/QTest>

#include <cerrno>
#include <filesystem>
#include <thread>

using namespace lathe;
using launch::Verifier;

static constexpr const char* kName = "s001-000000010";

class TestReReading : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::filesystem::path m_checkpoints;

    /// Put in line again and again, as after saves.
    static std::vector<Verifier::Finding> reRead(Verifier& verifier) {
        std::vector<Verifier::Finding> findings;
        for (; findings.empty(); findings = verifier.take()) {
            verifier.add(kName);
            std::this_thread::yield();
        }
        return findings;
    }

private Q_SLOTS:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        tests::FixtureRun run(m_folder->path().toStdString(), "one", {});
        run.beginSession(1);
        run.checkpoint(1, 10);
        m_checkpoints = run.folder().checkpoints();
    }

    void whatCannotBeReadNowIsReadTheNextTime_data() {
        QTest::addColumn<QString>("call");
        QTest::addColumn<QString>("file");
        QTest::addColumn<int>("errorNumber");
        for (const char* file : {"trainer.json", "manifest.json"}) {
            QTest::addRow("%s: too many open files", file) << "open" << file << EMFILE;
            QTest::addRow("%s: not permitted", file) << "open" << file << EACCES;
            QTest::addRow("%s: the disk does not answer", file) << "read" << file << EIO;
        }
    }
    void whatCannotBeReadNowIsReadTheNextTime() {
        QFETCH(QString, call);
        QFETCH(QString, file);
        QFETCH(int, errorNumber);
        bool isFailed = false;
        const auto fault = [&](const test::SystemCall& made) -> test::Verdict {
            const bool isMeant = made.path.ends_with("/" + file.toStdString()) && (made.name.starts_with(call.toStdString()) || made.name.starts_with("p" + call.toStdString()));
            if (isFailed || !isMeant) return {};
            isFailed = true;
            return {test::Verdict::What::Fail, errorNumber};
        };
        const test::Traced traced = test::trace(m_folder->path().toStdString(), [&] {
            Verifier verifier(m_checkpoints);
            const auto findings = reRead(verifier);
            return findings.size() == 1 && findings.front().found.ok() ? 0 : 1;
        }, fault);
        if (!traced.works) QSKIP(traced.why.c_str());
        QVERIFY(isFailed);
        QVERIFY2(traced.exitCode == 0, traced.output.c_str());
    }

    void aFileThatIsGoneIsDamage() {
        std::filesystem::remove(m_checkpoints / kName / "trainer.json");
        Verifier verifier(m_checkpoints);
        const auto findings = reRead(verifier);
        QCOMPARE(findings.size(), std::size_t(1));
        QVERIFY(!findings.front().found.ok());
    }

    void whatWasFoundStaysWithTheFolderThatWasRead() {
        Verifier verifier(m_checkpoints);
        const auto findings = reRead(verifier);
        QCOMPARE(findings.size(), std::size_t(1));
        std::filesystem::rename(m_checkpoints / kName, m_checkpoints / "s001-000000020");
        std::filesystem::create_directory(m_checkpoints / kName);
        QVERIFY(rundir::writeVerified(FileSystem::real(), findings.front().place(), findings.front().found, 7).ok());
        QVERIFY(!std::filesystem::exists(m_checkpoints / kName / "verified.json"));
        QCOMPARE(rundir::readVerified(m_checkpoints / "s001-000000020")->wallNs, std::int64_t(7));
    }
};

QTEST_GUILESS_MAIN(TestReReading)
#include "tst_re_reading.moc"
