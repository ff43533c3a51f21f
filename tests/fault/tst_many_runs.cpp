// labels: fault
// timeout: 600
// RELIABILITY F26: names that no folder may have, and very many runs.
#include "fault_run.h"
#include "fault_sweep.h"
#include "whole_form.h"
#include "launch/verbs/prepare.h"

#include <QtTest/QTest>

#include <filesystem>
#include <set>
#include <unistd.h>

using namespace lathe;
using namespace lathe::test;
namespace stdfs = std::filesystem;

class TestManyRuns : public QObject {
    Q_OBJECT
    const stdfs::path m_scratch = sweepFolder() / ("many-runs-" + std::to_string(::getpid()));
    const stdfs::path m_workspace = m_scratch / "deep" / "work";

    static std::set<stdfs::path> inside(const stdfs::path& folder) {
        std::set<stdfs::path> all;
        for (const auto& entry : stdfs::directory_iterator(folder)) all.insert(entry.path());
        return all;
    }

private Q_SLOTS:
    void init() { stdfs::create_directories(m_workspace); }
    void cleanup() { stdfs::remove_all(m_scratch); }

    void aNameLeadsNowhere_data() {
        QTest::addColumn<QByteArray>("name");
        QTest::newRow("up") << QByteArray("../../up");
        QTest::newRow("dots") << QByteArray("..");
        QTest::newRow("root") << QByteArray("/etc/passwd");
        QTest::newRow("new line") << QByteArray("a\nb\r\t");
        QTest::newRow("64 KB") << QByteArray(65536, 'x');
        QTest::newRow("right to left") << QByteArray("\xe2\x80\xae" "abc\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d");
        QTest::newRow("combining") << QByteArray("e\xcc\x81\xcc\x81\xcc\x81 \xf0\x9f\x92\xa5");
        QTest::newRow("option") << QByteArray("--help");
        QTest::newRow("blank") << QByteArray("   ");
        QTest::newRow("home") << QByteArray("~root");
    }
    void aNameLeadsNowhere() {
        QFETCH(QByteArray, name);
        const auto above = inside(m_scratch);
        config::Loaded loaded;
        loaded.config = smallConfig();
        loaded.config.run.name = name.toStdString();
        bool isRefused = false;
        for (const auto& problem : config::check(loaded)) isRefused = isRefused || problem.severity == config::Severity::Error;
        if (!isRefused) {
            const auto made = launch::prepareRun(m_workspace, loaded.config, {});
            QVERIFY2(made.ok(), made.ok() ? "" : made.error().text().c_str());
            QVERIFY(made->run.root().parent_path() == m_workspace / "runs");
            QVERIFY(made->run.name().size() < 100);
            QCOMPARE(rundir::readManifest(made->run)->name, name.toStdString());
            QVERIFY(rundir::findRun(m_workspace, rundir::readManifest(made->run)->id)->root() == made->run.root());
            QCOMPARE(problemOf(made->run), std::string());
        }
        QCOMPARE(rundir::listRuns(m_workspace).size(), std::size_t(isRefused ? 0 : 1));
        QVERIFY(inside(m_scratch) == above && inside(m_scratch / "deep") == std::set<stdfs::path>{m_workspace});
    }

    void aThousandTagsAreKept() {
        const auto run = endedRun(m_workspace);
        std::vector<std::string> tags;
        for (int i = 0; i < 1000; ++i) tags.push_back("tag " + std::to_string(i) + (i % 2 ? "/\n\"" : "\xe2\x80\xae"));
        QVERIFY(rundir::editUser(FileSystem::real(), run, [&](rundir::UserRecord& user) { user.tags = tags; }).ok());
        QVERIFY(rundir::readUser(run)->tags == tags);
    }

    void manyRunsAreListedAndIndexed() {
        const std::size_t count = isWhole() ? 10'000 : 500;
        for (std::size_t i = 0; i < count; ++i) {
            const rundir::RunFolder run = rundir::runNamed(m_workspace, "20260101-000000-many-" + std::to_string(100'000'000'000 + i));
            stdfs::create_directories(run.root());
            rundir::RunManifest manifest;
            manifest.id = std::to_string(100'000'000'000 + i);
            manifest.name = "many";
            manifest.createdNs = static_cast<std::int64_t>(i);
            rundir::Summary summary;
            summary.id = manifest.id;
            summary.state = rundir::State::Completed;
            QVERIFY(rundir::writeManifest(FileSystem::real(), run, manifest).ok() && rundir::writeSummary(FileSystem::real(), run, summary).ok());
        }
        QCOMPARE(rundir::listRuns(m_workspace).size(), count);
        const auto history = store::History::open(m_workspace);
        QVERIFY(history->refresh().ok());
        QCOMPARE(history->rows()->size(), count);
        QCOMPARE(rundir::readManifest(*rundir::findRun(m_workspace, "latest"))->createdNs, static_cast<std::int64_t>(count) - 1);
        QVERIFY(rundir::findRun(m_workspace, "many").error().text().find("Several runs") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestManyRuns)
#include "tst_many_runs.moc"
