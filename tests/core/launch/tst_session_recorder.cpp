// What is told in a session becomes durable, and is reported as such to those who wait for it.
#include "launch/session/session_recorder.h"

#include "launch/session/live_summary.h"
#include "launch/session/reserved_space.h"
#include "session_bench.h"

#include <QtTest/QTest>

#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace lathe;
using namespace lathe::test;

class TestSessionRecorder : public QObject {
    Q_OBJECT

    static std::vector<std::string> recorded(const rundir::RunFolder& run) {
        std::vector<std::string> out;
        const auto reader = store::RunReader::open(run.database());
        for (const auto& row : *(*reader)->events()) out.push_back(row.event.kind + " " + std::to_string(row.event.step) + ": " + row.event.text);
        return out;
    }

    static std::int64_t onDisk(const std::filesystem::path& file) {
        struct stat info {};
        return ::stat(file.c_str(), &info) == 0 ? info.st_blocks : -1;
    }

private Q_SLOTS:
    void whatIsToldStandsInTheRecordBesideWhatItsRanksTell() {
        SessionBench session;
        session.step(7);
        session.recorder->tell("warning", "a word");
        session.recorder->drain(false);
        session.recorder->flush();
        QCOMPARE(recorded(session.run.folder()), std::vector<std::string>{"warning 7: a word"});
        QVERIFY(session.recorder->problem().empty() && session.recorder->lost() == 0);
    }
    void whatIsDurableIsReportedAfterEachFlush() {
        SessionBench session;
        std::vector<std::uint64_t> reported;
        session.recorder->whenRecorded([&](std::uint64_t newest) { reported.push_back(newest); });
        session.step(1);   // a series and its point
        QCOMPARE(session.recorder->memory().recordedSequence(0), std::uint64_t(0));
        session.recorder->flush();
        session.step(2);
        session.recorder->flush();
        QCOMPARE(reported, (std::vector<std::uint64_t>{2, 4}));
        QCOMPARE(session.recorder->memory().recordedSequence(0), std::uint64_t(4));
        QCOMPARE(session.recorder->memory().recorderBytes(0), session.recorder->memory().writtenBytes(0));
    }
    void aWishLeavesStandingWhatIsRecorded() {
        SessionBench session;
        session.step(1);
        session.recorder->flush();
        live::Control wishes;
        wishes.number = 9;
        wishes.pause = true;
        session.recorder->setWishes(wishes);
        const live::Control shown = session.control();
        QVERIFY(shown.number == 9 && shown.pause);
        QCOMPARE(shown.recordedSeq, (std::vector<std::uint64_t>{2, 0}));
    }
    void aCheckpointThatWaitsIsRecordedForOnce() {
        SessionBench session;
        int flushed = 0;
        session.recorder->whenRecorded([&](std::uint64_t) { ++flushed; });
        for (const std::int64_t durable : {0, 1, 1, 2}) session.recorder->recordFor(durable);
        QCOMPARE(flushed, 2);
    }
    void theSupervisorBeatsInItsOwnSlot() {
        SessionBench session(launch::Running::Kind::Training, 3);
        QCOMPARE(session.recorder->ownRing(), 3);
        session.step(5);
        session.recorder->beat();
        const auto beat = session.recorder->memory().heartbeat(3);
        QVERIFY(beat && beat->step == 5 && beat->pid == ::getpid() && beat->monotonicNs > 0);
    }
    void theEndOfWhatNeverBeganHasARowAndNoWriter() {
        QTemporaryDir folder;
        tests::FixtureRun run(folder.path().toStdString());
        rundir::SessionRecord record;
        record.number = 3;
        rundir::Summary summary;
        const launch::SessionRecorder recorder(run.folder(), 3, record, summary);
        QVERIFY(!recorder.hasBegun());
        const launch::EndOfRecording end = recorder.end();
        QVERIFY(end.writer == nullptr && end.row.number == 3 && !end.isStuck);
    }

    void aSummaryIsDueForAChangeOrAfterASecond() {
        constexpr std::int64_t kSecond = 1'000'000'000;
        QTemporaryDir folder;
        tests::FixtureRun run(folder.path().toStdString());
        rundir::Summary summary;
        summary.id = "id";
        launch::LiveSummary live(run.folder(), summary);
        QVERIFY(live.isDue(0));   // the first one
        live.write(100 * kSecond, 5);
        QCOMPARE(rundir::readSummary(run.folder())->updatedNs, std::int64_t(5));
        QVERIFY(!live.isDue(101 * kSecond - 1) && live.isDue(101 * kSecond));
        live.noteChange(false);
        live.setState(summary.state, summary.why);
        QVERIFY(!live.isDue(100 * kSecond));
        live.setState(summary.state, "one rank is silent");   // what keeps it from getting on
        QVERIFY(live.isDue(100 * kSecond) && summary.why == "one rank is silent");
        live.write(100 * kSecond, 5);
        live.noteChange(true);
        live.noteChange(false);
        QVERIFY(live.isDue(100 * kSecond));
        live.write(100 * kSecond, 6);
        live.setState(rundir::State::Paused, "for a reason");
        QVERIFY(live.isDue(100 * kSecond) && summary.why == "for a reason");
        live.setState(rundir::State::Paused, "for another one");
        QCOMPARE(summary.why, std::string("for a reason"));
        live.setState(rundir::State::Running, {});
        QVERIFY(summary.why.empty());
    }
    void spaceIsHeldAndGivenBack() {
        QTemporaryDir folder;
        tests::FixtureRun run(folder.path().toStdString());
        for (int i = 0; i < 2; ++i) QVERIFY(launch::reserveSpace(run.folder()).ok());   // what a killed session left is no obstacle
        QVERIFY(onDisk(run.folder().reserve()) > onDisk(run.folder().recordReserve()) && onDisk(run.folder().recordReserve()) > 0);
        for (const auto& file : {run.folder().reserve(), run.folder().recordReserve(), run.folder().reserve()}) launch::giveSpaceBack(file);
        QVERIFY(!std::filesystem::exists(run.folder().reserve()) && !std::filesystem::exists(run.folder().recordReserve()));
    }
};

QTEST_GUILESS_MAIN(TestSessionRecorder)
#include "tst_session_recorder.moc"
