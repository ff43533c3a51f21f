// labels: fast
// What ended while nobody looked: which runs, in which words, since when.
#include "base/clock.h"
#include "base/file_system.h"
#include "launch/process/identity.h"
#include "launch/verbs/away.h"

#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <array>
#include <cstdlib>
#include <ctime>

using namespace lathe;
using launch::RunEnding;
using rundir::State;

static constexpr std::int64_t kSecond = 1'000'000'000;

class TestAway : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    /// A run that stands as its summary and record say.
    rundir::RunFolder make(const std::filesystem::path& workspace, const std::string& name, std::optional<State> ended, std::int64_t endedNs) {
        FileSystem& disk = FileSystem::real();
        rundir::RunManifest manifest;
        manifest.id = rundir::newRunId();
        manifest.name = name;
        manifest.createdNs = endedNs;
        manifest.host = launch::hostName();
        const auto fill = [&](const rundir::RunFolder& run) -> Result<void> {
            rundir::Summary summary;
            summary.id = manifest.id;
            summary.name = name;
            summary.state = ended.value_or(State::Running);
            summary.updatedNs = endedNs;
            summary.endedNs = ended ? endedNs : 0;
            LATHE_TRY(rundir::writeSummary(disk, run, summary));
            rundir::SessionRecord record;
            record.verb = "start";
            record.state = ended;
            record.endedNs = summary.endedNs;
            record.why = "because";
            return rundir::writeSession(disk, run, record);
        };
        return *rundir::createRun(disk, workspace, manifest, "run:\n  name: x\n", fill);
    }

    static std::int64_t at(int hour, int minute, int day = 29) {
        std::tm parts{};
        parts.tm_year = 126;
        parts.tm_mon = 10;
        parts.tm_mday = day;
        parts.tm_hour = hour;
        parts.tm_min = minute;
        return static_cast<std::int64_t>(::timegm(&parts)) * kSecond;
    }

private Q_SLOTS:
    void initTestCase() {
        ::setenv("TZ", "UTC", 1);
        ::tzset();
    }
    void whatEndedSinceThenIsToldAndNothingElse() {
        const std::filesystem::path workspace = m_folder.filePath(QStringLiteral("work")).toStdString();
        const std::int64_t now = Clock::system().wallNs(), since = now - 100 * kSecond;
        make(workspace, "before", State::Completed, since - kSecond);
        make(workspace, "late", State::Diverged, now - 10 * kSecond);
        make(workspace, "early", State::Completed, now - 50 * kSecond);
        make(workspace, "lost", {}, now - 20 * kSecond);   // no lock, no record: interrupted at its last sign of life
        make(workspace, "waiting", State::Queued, now - 20 * kSecond);
        const rundir::RunFolder up = make(workspace, "up", {}, now);
        const auto lock = rundir::RunLock::acquire(up.lock());
        const auto endings = launch::endingsSince(workspace, since);
        QCOMPARE(endings.size(), std::size_t{3});
        QCOMPARE(endings[0].name, std::string("early"));
        QCOMPARE(endings[1].name, std::string("lost"));
        QVERIFY(endings[1].state == State::Interrupted && endings[1].endedNs == now - 20 * kSecond);
        QCOMPARE(endings[2].name, std::string("late"));
        QCOMPARE(launch::endingsSince(workspace, now + kSecond).size(), std::size_t{0});
        QCOMPARE(launch::endingsSince(workspace / "none", 0).size(), std::size_t{0});
    }
    void theSentenceCountsAndTellsWhen() {
        const auto ending = [](State state, std::int64_t when) { return RunEnding{rundir::RunFolder("/x"), "x", state, "", when}; };
        const std::int64_t now = at(8, 0);
        QCOMPARE(launch::endingsText({}, now), std::string());
        QCOMPARE(launch::endingsText({ending(State::Diverged, at(3, 12)), ending(State::Completed, at(1, 0)), ending(State::Completed, at(2, 0))}, now),
                 std::string("2 completed, 1 diverged at 03:12"));
        QCOMPARE(launch::endingsText({ending(State::Failed, at(22, 5, 28)), ending(State::Failed, at(23, 6, 28))}, now),
                 std::string("2 failed (the last at 2026-11-28 23:06)"));
    }
    void momentsAreReadAsPeopleWriteThem_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<qlonglong>("moment");
        const auto row = [](const char* text, std::int64_t moment) { QTest::newRow(text) << QByteArray(text) << qlonglong(moment); };
        row("8h", at(0, 30));
        row("90min", at(7, 0));
        row("2d", at(8, 30, 27));
        row("03:12", at(3, 12));
        row("22:00", at(22, 0, 28));      // not yet today
        row("2026-11-28", at(0, 0, 28));
        row("2026-11-28 22:00", at(22, 0, 28));
        row("2026-11-28T22:00", at(22, 0, 28));
        row("2026-11-28T22:00:30Z", at(22, 0, 28) + 30 * kSecond);
        for (const char* wrong : {"", "yesterday", "8", "8 h", "-3h", "99999999999h", "25:00", "2026-11-28 22:00 and more"}) row(wrong, -1);
    }
    void momentsAreReadAsPeopleWriteThem() {
        QFETCH(QByteArray, text);
        QFETCH(qlonglong, moment);
        const auto read = launch::momentFrom(text.toStdString(), at(8, 30));
        QCOMPARE(read.ok() ? qlonglong(*read) : qlonglong(-1), moment);
        if (!read) QVERIFY(read.error().text().find("8h") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestAway)
#include "tst_away.moc"
