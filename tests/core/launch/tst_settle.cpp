// labels: fast
// What a supervisor leaves that was lost while it ended a session, and how it is settled: every session has an end, and
// nothing that was trained is told as never begun.
#include "failing_file_system.h"
#include "fault_run.h"
#include "launch/process/identity.h"
#include "launch/run/checkpoint_choice.h"
#include "launch/run/frame_book.h"
#include "launch/run/session_end.h"
#include "launch/run/session_row.h"
#include "launch/run/settle.h"
#include "launch/run/standing.h"
#include "launch/run/undo.h"
#include "launch/run/write_end.h"
#include "launch/verbs/resume_sheet.h"
#include "live/spill.h"

#include <QTemporaryDir>
#include "rundir/summary_text.h"

#include <QtTest/QTest>

#include <algorithm>
#include <array>
#include <unistd.h>

using namespace lathe;
using namespace lathe::test;
using rundir::State;
namespace stdfs = std::filesystem;

class TestSettle : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;

    stdfs::path workspace() const { return m_folder->path().toStdString(); }
    static FileSystem& disk() { return FileSystem::real(); }
    static rundir::LiveRecord lostIn(int session) {
        rundir::LiveRecord live;
        live.session = session;
        live.supervisor = {launch::hostName(), launch::bootId(), 4'000'000, 1, "x"};
        return live;
    }
    /// As after a SIGKILL: session 1 has rows and no end.
    rundir::RunFolder interruptedRun() const {
        const rundir::RunFolder run = endedRun(workspace(), false);
        if (!rundir::writeLive(disk(), run, lostIn(1)).ok()) qFatal("live.json");
        return run;
    }
    static void settle(const rundir::RunFolder& run) {
        const auto taken = launch::takeRun(run);
        if (!taken.ok()) QFAIL(taken.error().text().c_str());
    }

    static void refuses(const rundir::RunFolder& run) {
        const auto taken = launch::takeRun(run);
        QVERIFY(!taken.ok());
    }
    static std::size_t warningsOf(const rundir::RunFolder& run) {
        const auto events = (*store::RunReader::open(run.database()))->events().value();
        return static_cast<std::size_t>(std::count_if(events.begin(), events.end(), [](const store::EventRow& row) { return row.event.kind == "warning" && row.event.text.find("written aside cannot be read") != std::string::npos; }));
    }
    static void flip(const stdfs::path& file, std::size_t at) {
        std::string content = readFile(file, 1u << 20).value();
        content.at(at) = static_cast<char>(content.at(at) ^ 1);
        if (!replaceFile(disk(), file, content).ok()) qFatal("flip");
    }
    static stdfs::path spillOf(const rundir::RunFolder& run, int ring = 0, const char* tail = "") { return run.spill() / (live::spillName(1, ring) + tail); }
    static stdfs::path keptOf(const rundir::RunFolder& run, int ring = 0, const char* tail = "") { return run.spill() / ("damaged-" + live::spillName(1, ring) + tail); }
    /// A roll-back to update 20 whose supervisor was killed: all that the summary knows is where it began.
    static rundir::RunFolder lostRollBack(const rundir::RunFolder& run, bool isAnnounced = true) {
        rundir::SessionRecord first = rundir::readSession(run, 1).value();
        first.counters = Counters{};
        first.counters->updateAttempts = UpdateAttempt(kRecordedRows);
        first.counters->globalStep = GlobalStep(kRecordedRows);
        if (!rundir::writeSession(disk(), run, first).ok()) qFatal("session 1");
        { const auto prepared = launch::prepareRollBack(run, "s001-000000020", {}); if (!prepared.ok()) qFatal("%s", prepared.error().text().c_str()); }
        if (!isAnnounced) return run;
        rundir::Summary summary = rundir::readSummary(run).value();
        summary.sessions = 2;
        summary.state = State::Running;
        summary.counters = rundir::readCheckpoint(run.checkpoints() / "s001-000000020")->counters;
        std::erase_if(summary.sparkline, [](const auto& point) { return point.first > 20; });
        summary.best.reset();
        const auto writer = store::RunWriter::open(run.database());
        if (!rundir::writeSummary(disk(), run, summary).ok() || !rundir::writeLive(disk(), run, lostIn(2)).ok() || !(*writer)->beginSession(launch::rowOf(*rundir::readSession(run, 2))).ok()) qFatal("roll-back");
        return run;
    }

    static void writeSpill(const stdfs::path& file, std::string_view magic, std::uint32_t version) {
        std::string content(magic);
        content.append(reinterpret_cast<const char*>(&version), sizeof version).append(100, 'x');
        if (!replaceFile(disk(), file, content).ok()) qFatal("spill");
    }

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void theSessionBeforeAPlannedOneGetsItsEndToo() {
        const rundir::RunFolder run = interruptedRun();
        QCOMPARE(launch::planRestart(run, false).value().session, 2);
        const launch::Standing before = launch::standingOf(run);
        QVERIFY(before.state == State::Interrupted);
        QCOMPARE(before.why, std::string("Its supervisor was lost before this session began"));
        settle(run);
        const auto first = rundir::readSession(run, 1).value(), second = rundir::readSession(run, 2).value();
        QVERIFY(first.state == State::Interrupted && second.state == State::Interrupted);
        QCOMPARE(first.why, std::string("Its supervisor was lost"));
        QCOMPARE(second.why, before.why);
        QCOMPARE(launch::standingOf(run).why, before.why);
        QVERIFY(!stdfs::exists(run.liveJson()));
        QCOMPARE(launch::newestOnLine(run), std::string("s001-000000050"));
        QCOMPARE(rundir::readSummary(run)->why, before.why);
        const auto rows = (*store::RunReader::open(run.database()))->sessions().value();
        QCOMPARE(rows.size(), std::size_t{2});
        for (const auto& row : rows) QVERIFY2(row.end == "interrupted", row.why.c_str());
    }
    /// Whoever waited for it would make a session in the trash.
    void aRunThatWasDeletedMeanwhileIsNotTaken() {
        const rundir::RunFolder run = endedRun(workspace(), true), held = run.held();
        stdfs::create_directories(workspace() / "trash");
        stdfs::rename(run.root(), workspace() / "trash" / run.name());
        const auto taken = launch::takeRun(held);
        QVERIFY(!taken.ok() && taken.error().code == ErrorCode::NotFound);
        QVERIFY2(taken.error().text().find("was deleted just now") != std::string::npos, taken.error().text().c_str());
    }
    /// Where the disk refused the record of a session, and the run went on.
    void aSessionWithoutAnEndBehindOneThatHasItGetsOneToo() {
        const rundir::RunFolder run = interruptedRun();
        QCOMPARE(launch::planRestart(run, false).value().session, 2);
        rundir::SessionRecord second = rundir::readSession(run, 2).value();
        second.state = State::Completed;
        second.why = "done";
        rundir::Summary summary = rundir::readSummary(run).value();
        summary.state = State::Completed;
        summary.counters.globalStep = GlobalStep(7000);
        QVERIFY(launch::writeEnd(disk(), run, second, summary, {}).ok());
        settle(run);
        QVERIFY(rundir::readSession(run, 1)->state == State::Interrupted);
        QVERIFY(launch::standingOf(run).state == State::Completed);
        QVERIFY(rundir::readSummary(run)->state == State::Completed);
        QCOMPARE(rundir::readSummary(run)->counters.globalStep.value(), 7000);
    }
    /// A network disk that is away for a moment, or no descriptor left: the checkpoints are there all the same.
    void whatCannotBeListedNowDoesNotStartARunOver() {
        const rundir::RunFolder run = interruptedRun();
        settle(run);
        const stdfs::path aside = workspace() / "aside";
        stdfs::rename(run.checkpoints(), aside);
        stdfs::create_symlink(run.checkpoints(), run.checkpoints());   // nothing behind it can be reached
        for (int attempt = 0; attempt < 2; ++attempt) {
            QVERIFY(!launch::prepareContinue(run, {}).ok());
            QVERIFY(!launch::planRestart(run, true).ok());
            QVERIFY(!launch::resumeSheet(run, launch::GoOn::Continue, {}, {}).ok());
            QCOMPARE(rundir::newestSession(run), 1);
        }
        stdfs::remove(run.checkpoints());
        stdfs::rename(aside, run.checkpoints());
        QCOMPARE(launch::planRestart(run, true).value().session, 2);
        QCOMPARE(rundir::readSession(run, 2)->checkpoint, std::string("s001-000000050"));
    }
    void whereItsEndCannotBeWrittenTheSessionStillCountsAsUp() {
        const rundir::RunFolder run = interruptedRun();
        rundir::SessionRecord record = rundir::readSession(run, 1).value();
        record.state = State::Killed;
        record.why = "by signal 9";
        rundir::Summary summary = rundir::readSummary(run).value();
        summary.state = State::Killed;
        int call = 1;
        for (;; ++call) {
            FailingFileSystem refusing(call, true);
            const auto writer = store::RunWriter::open(run.database());
            const auto written = launch::writeEnd(refusing, run, record, summary, {writer->get(), launch::rowOf(record), false});
            if (written.ok()) break;
            QVERIFY(stdfs::exists(run.liveJson()));
            const launch::Standing standing = launch::standingOf(run);
            QVERIFY2(standing.state == State::Killed || (standing.state == State::Interrupted && standing.why == "Its supervisor was lost"), standing.why.c_str());
        }
        QVERIFY(call > 5);
        QVERIFY(!stdfs::exists(run.liveJson()));
        QVERIFY(launch::standingOf(run).state == State::Killed);
    }
    void whereOnlyTheRowOfItsEndCannotBeWrittenItIsWrittenLater() {
        const rundir::RunFolder run = interruptedRun();
        rundir::SessionRecord record = rundir::readSession(run, 1).value();
        record.state = State::Killed;
        rundir::Summary summary = rundir::readSummary(run).value();
        summary.state = State::Killed;
        const stdfs::path aside = workspace() / "aside";
        {
            const auto writer = store::RunWriter::open(run.database());
            stdfs::rename(run.database(), aside);
            QVERIFY(!launch::writeEnd(disk(), run, record, summary, {writer->get(), launch::rowOf(record), false}).ok());
        }
        stdfs::rename(aside, run.database());
        QVERIFY(launch::standingOf(run).state == State::Killed);
        QVERIFY(stdfs::exists(run.liveJson()));
        settle(run);
        QCOMPARE((*store::RunReader::open(run.database()))->sessions()->back().end, std::string("killed"));
        QVERIFY(!stdfs::exists(run.liveJson()));
    }
    void aSpillOfANewerProgramIsNotSettled() {
        const rundir::RunFolder run = interruptedRun();
        const stdfs::path spill = run.spill() / live::spillName(1, 0);
        writeSpill(spill, "LATHESPL", 99);
        const auto taken = launch::takeRun(run);
        QVERIFY(!taken.ok() && taken.error().code == ErrorCode::Version);
        QVERIFY(stdfs::exists(spill));
        QVERIFY(!rundir::readSession(run, 1)->state);
    }
    void aDamagedSpillIsKeptUnderAnotherNameAndTold() {
        const rundir::RunFolder run = interruptedRun();
        const stdfs::path spill = run.spill() / live::spillName(1, 0);
        writeSpill(spill, "no spill", 1);
        settle(run);
        QVERIFY(!stdfs::exists(spill));
        QVERIFY(stdfs::exists(run.spill() / ("damaged-" + live::spillName(1, 0))));
        const auto events = (*store::RunReader::open(run.database()))->events().value();
        QVERIFY(std::any_of(events.begin(), events.end(), [](const store::EventRow& row) { return row.event.kind == "warning" && row.event.text.find("written aside cannot be read") != std::string::npos; }));
        settle(run);
        QVERIFY(stdfs::exists(run.spill() / ("damaged-" + live::spillName(1, 0))));
    }
    void ofADamagedSpillAllThatIsWholeIsTakenIn() {
        const rundir::RunFolder run = interruptedRun();
        spillRows(run, kRecordedRows + 1, kRecordedRows + kSpilledRows);
        flip(spillOf(run), 20 + stdfs::file_size(spillOf(run)) / 2);
        settle(run);
        QCOMPARE(warningsOf(run), std::size_t{1});
        QVERIFY(stdfs::exists(keptOf(run)));
        QCOMPARE((*store::RunReader::open(run.database()))->points("train/loss", store::RunReader::Line::All)->size(), static_cast<std::size_t>(kRecordedRows + kSpilledRows - 1));
    }
    void aTornEndOfASpillIsNoDamage() {
        const rundir::RunFolder run = interruptedRun();
        spillRows(run, kRecordedRows + 1, kRecordedRows + kSpilledRows);
        stdfs::resize_file(spillOf(run), stdfs::file_size(spillOf(run)) - 3);
        settle(run);
        QCOMPARE(warningsOf(run), std::size_t{0});
        QVERIFY(stdfs::is_empty(run.spill()));
        QCOMPARE(rowsOf(run), kRecordedRows + kSpilledRows - 1);
    }
    void damageOfEachFileIsTold() {
        const rundir::RunFolder run = interruptedRun();
        for (const int ring : {0, 1}) writeSpill(spillOf(run, ring), "no spill", 1);
        settle(run);
        QCOMPARE(warningsOf(run), std::size_t{2});
        QVERIFY(stdfs::exists(keptOf(run, 0)) && stdfs::exists(keptOf(run, 1)));
    }
    /// The supervisor's ring is that behind the ranks': number 1.
    void damageIsToldBehindWhatOtherRingsLeft() {
        const rundir::RunFolder run = interruptedRun();
        writeSpill(spillOf(run, 0), "no spill", 1);
        spillRows(run, kRecordedRows + 1, kRecordedRows + kSpilledRows, 0, 1, 1);
        settle(run);
        QCOMPARE(warningsOf(run), std::size_t{1});
        QCOMPARE(rowsOf(run), kRecordedRows + kSpilledRows);
    }
    void aPartWhoseFirstOneIsGoneIsTakenInToo() {
        const rundir::RunFolder run = interruptedRun();
        const std::uint64_t before = spillRows(run, kRecordedRows + 1, kRecordedRows + 10);
        spillRows(run, kRecordedRows + 11, kRecordedRows + kSpilledRows, before);
        QVERIFY(stdfs::exists(spillOf(run, 0, ".1")));
        stdfs::rename(spillOf(run), keptOf(run));   // as far as a settling had come
        settle(run);
        QCOMPARE((*store::RunReader::open(run.database()))->points("train/loss", store::RunReader::Line::All)->size(), static_cast<std::size_t>(kRecordedRows + 10));
        QVERIFY(stdfs::exists(keptOf(run)) && !stdfs::exists(spillOf(run, 0, ".1")));
    }
    void aPartThatCannotBeReadNowStays() {
        const rundir::RunFolder run = interruptedRun();
        const std::uint64_t before = spillRows(run, kRecordedRows + 1, kRecordedRows + 10);
        spillRows(run, kRecordedRows + 11, kRecordedRows + kSpilledRows, before);
        const stdfs::path part = spillOf(run, 0, ".1"), aside = workspace() / "aside";
        stdfs::rename(part, aside);
        stdfs::create_symlink(part, part);   // it leads nowhere and cannot be read
        refuses(run);
        QVERIFY(stdfs::is_symlink(part) && stdfs::exists(spillOf(run)));
        stdfs::remove(part);
        stdfs::rename(aside, part);
        settle(run);
        QCOMPARE(rowsOf(run), kRecordedRows + kSpilledRows);
        QVERIFY(stdfs::is_empty(run.spill()));
    }
    /// A settling that was cut off had taken in what the worker left, or a supervisor was lost between its record and its summary.
    /// Else points of the one would be recorded without the summary that belongs to them.
    void whereTheSpillOfOneRankCannotBeReadNowNoneIsTakenIn() {
        const rundir::RunFolder run = interruptedRun();
        spillRows(run, kRecordedRows + 1, kRecordedRows + kSpilledRows);
        const stdfs::path other = spillOf(run, 1);
        stdfs::create_symlink(other, other);   // it leads nowhere and cannot be read
        refuses(run);
        QCOMPARE(rowsOf(run), kRecordedRows);
        stdfs::remove(other);
        settle(run);
        QCOMPARE(rowsOf(run), kRecordedRows + kSpilledRows);
        QCOMPARE(rundir::readSession(run, 1)->counters->globalStep.value(), kRecordedRows + kSpilledRows);
    }
    /// What would free a full disk, or remove a damaged run, is kept from it by nothing that only the record misses.
    void aRunWhoseEndIsOnRecordIsTakenAlsoWhereItsDatabaseIsDamaged() {
        const rundir::RunFolder run = endedRun(workspace());
        QVERIFY(rundir::readSession(run, 1)->state.has_value());
        QVERIFY(rundir::writeLive(disk(), run, lostIn(1)).ok());
        QVERIFY(replaceFile(disk(), run.database(), std::string(100'000, 'x')).ok());
        settle(run);
        QVERIFY(!stdfs::exists(run.liveJson()));
    }
    /// Between its metrics a script's time goes on by the clock.
    void theTimeOfALostScriptIsThatOfItsSummary() {
        const rundir::RunFolder run = interruptedRun();
        rundir::Summary summary = rundir::readSummary(run).value();
        summary.task = rundir::kCommandTask;
        summary.activeSeconds = 10;
        {
            const auto writer = store::RunWriter::open(run.database());
            (*writer)->stageFact("summary/1", rundir::summaryText(summary));
            QVERIFY((*writer)->flush().ok());
        }
        summary.activeSeconds = 5000;
        QVERIFY(rundir::writeSummary(disk(), run, summary).ok());
        settle(run);
        QCOMPARE(rundir::readSummary(run)->activeSeconds, 5000.0);
    }
    void whatIsRecordedCountsWhateverTheSummarySays() {
        const rundir::RunFolder run = lostRollBack(endedRun(workspace()));
        {
            const auto writer = store::RunWriter::open(run.database());
            rundir::Summary summary = rundir::readSummary(run).value();
            launch::FrameBook book(**writer, summary, 2);
            std::vector<std::byte> buffer;
            std::uint64_t sequence = 0;
            const auto take = [&](live::FrameType type) { book.take(0, {type, ++sequence, buffer}); };
            live::encode(live::SeriesFrame{1, "train/loss", ""}, buffer);
            take(live::FrameType::Series);
            live::encode(live::EventFrame{2, 20, 20, 1, "environment", "", R"({"threads": "7"})"}, buffer);
            take(live::FrameType::Event);
            for (int i = 21; i <= 30; ++i) {
                live::encode(live::PointsFrame{2, i, i, i * 1'000'000'000ll, i, {{1, 0.25}}}, buffer);
                take(live::FrameType::Points);
            }
            QVERIFY(book.flush().ok());
        }
        spillRows(run, 31, 35, 0, 2);
        settle(run);
        const auto record = rundir::readSession(run, 2).value();
        QVERIFY(!record.undone);
        QCOMPARE(record.counters->updateAttempts.value(), 35);
        QCOMPARE(record.counters->globalStep.value(), 35);
        QCOMPARE(record.environment.count("threads"), std::size_t{1});
        const auto summary = rundir::readSummary(run).value();
        QCOMPARE(summary.counters.globalStep.value(), 35);
        QCOMPARE(summary.last.at("train/loss"), 1.0 / 35);
        QCOMPARE((*store::RunReader::open(run.database()))->sessions()->back().lastStep, 35);
    }
    void aSummaryThatSaysMoreThanIsRecordedIsNotBelieved() {
        const rundir::RunFolder run = lostRollBack(endedRun(workspace()));
        rundir::Summary summary = rundir::readSummary(run).value();
        summary.counters.updateAttempts = UpdateAttempt(75);
        summary.counters.globalStep = GlobalStep(75);
        QVERIFY(rundir::writeSummary(disk(), run, summary).ok());
        settle(run);
        QVERIFY(rundir::readSession(run, 2)->undone);
        QCOMPARE(rundir::readSession(run, 2)->counters, rundir::readSession(run, 1)->counters);
    }
    /// As the supervisor announces it: what lies behind update 20 is in no summary any more.
    void whatAFailedRollBackTookFromTheSummaryComesBack() {
        const rundir::RunFolder ended = endedRun(workspace());
        rundir::Summary summary = rundir::readSummary(ended).value();
        summary.best = rundir::BestValue{"eval/accuracy", 0.9, 180, true};
        summary.sparkline = {{10, 2.0}, {150, 1.0}};
        summary.plannedUpdates = 777;
        QVERIFY(rundir::writeSummary(disk(), ended, summary).ok());
        {
            const auto writer = store::RunWriter::open(ended.database());
            launch::FrameBook book(**writer, summary, 1);
            std::vector<std::byte> buffer;
            live::encode(live::EventFrame{1, 200, 200, 1, "note", "the last word", {}}, buffer);
            book.take(0, {live::FrameType::Event, (*writer)->recordedSequence(0, 1) + 1, buffer});
            QVERIFY(book.flush().ok());
        }
        const rundir::RunFolder run = lostRollBack(ended);
        const auto comesBack = [&] {
            const auto after = rundir::readSummary(run).value();
            return after.best && after.best->value == 0.9 && after.best->step == 180 && after.sparkline == summary.sparkline && after.plannedUpdates == 777
                   && after.counters.globalStep.value() == kRecordedRows && after.state == State::Interrupted;
        };
        const rundir::Summary announced = rundir::readSummary(run).value();
        QVERIFY(!announced.best && announced.sparkline.size() == 1);
        settle(run);
        QVERIFY(rundir::readSession(run, 2)->undone);
        QVERIFY(comesBack());
        // Cut off behind the record of the session.
        QVERIFY(rundir::writeSummary(disk(), run, announced).ok() && rundir::writeLive(disk(), run, lostIn(2)).ok());
        settle(run);
        QVERIFY(comesBack());
    }
    /// Killed before it announced the session: the summary is that of the session before.
    void aRollBackThatNeverCameUpLeavesTheRunWhereItWas() {
        const rundir::RunFolder ended = endedRun(workspace());
        rundir::Summary summary = rundir::readSummary(ended).value();
        summary.counters.updateAttempts = UpdateAttempt(kRecordedRows);
        summary.counters.globalStep = GlobalStep(kRecordedRows);
        QVERIFY(rundir::writeSummary(disk(), ended, summary).ok());
        const rundir::RunFolder run = lostRollBack(ended, false);
        settle(run);
        QVERIFY(rundir::readSession(run, 2)->undone);
        QCOMPARE(launch::newestOnLine(run), std::string("s001-000000050"));
        QCOMPARE(rundir::readSummary(run)->counters.globalStep.value(), kRecordedRows);
    }
    /// Reading must not take as long as an export, nor keep others waiting meanwhile.
    void readersBookAndLeaveTheBestToWhoTakesTheRun() {
        const rundir::RunFolder run = interruptedRun();
        config::RunConfig config = smallConfig();
        config.evaluation.restoreBest = true;
        QVERIFY(replaceFile(disk(), run.sessionYaml(1), config::toYaml(config)).ok());
        spillRows(run, kRecordedRows + 1, kRecordedRows + kSpilledRows);
        QCOMPARE(launch::settleToRead(run), std::string());
        QVERIFY(rundir::readSession(run, 1)->state == State::Interrupted);
        QCOMPARE(rowsOf(run), kRecordedRows + kSpilledRows);
        QCOMPARE(rundir::readSummary(run)->counters.globalStep.value(), kRecordedRows + kSpilledRows);
        QVERIFY(stdfs::exists(run.liveJson()) && !launch::isUnsettled(run));   // it is not up any more, for nobody
        const auto written = stdfs::last_write_time(run.sessionJson(1));
        QCOMPARE(launch::settleToRead(run), std::string());
        QVERIFY(stdfs::last_write_time(run.sessionJson(1)) == written);
        settle(run);
        QVERIFY(!stdfs::exists(run.liveJson()));
    }
    /// Where it is cut off while the records of the restarts are marked.
    void anUndoingThatWasCutOffGoesOn() {
        const rundir::RunFolder run = lostRollBack(endedRun(workspace()));
        rundir::SessionRecord first = rundir::readSession(run, 2).value();
        first.state = State::Killed;
        first.counters = rundir::readCheckpoint(run.checkpoints() / "s001-000000020")->counters;
        QVERIFY(rundir::writeSession(disk(), run, first).ok());
        QCOMPARE(launch::planRestart(run, false).value().session, 3);
        const auto place = rundir::readSession(run, 1).value();
        first.undone = true;
        first.parentSession = 1;
        first.parentAttempt = place.counters->updateAttempts.value();
        first.counters = place.counters;
        QVERIFY(rundir::writeSession(disk(), run, first).ok());
        settle(run);
        QVERIFY(rundir::readSession(run, 3)->undone);
        QCOMPARE(launch::standingSession(run), 1);
        QCOMPARE(launch::newestOnLine(run), std::string("s001-000000050"));
    }
    /// Whatever pid stands in their names: this process lives.
    void temporaryFilesGoButThoseOfAWriterThatIsAtIt() {
        const rundir::RunFolder run = interruptedRun();
        const std::string tail = ".tmp-" + std::to_string(::getpid()) + "-7";
        const stdfs::path user = run.userJson().string() + tail;
        const std::array<stdfs::path, 4> dead = {run.summaryJson().string() + tail, run.sessionJson(1).string() + tail, run.checkpoints() / "s001-000000050" / ("verified.json" + tail), user};
        for (const auto& file : dead) QVERIFY(replaceFile(disk(), file, "{").ok());
        {
            const auto writes = rundir::RunLock::acquire(run.userLock());
            QVERIFY(writes.ok());
            settle(run);
            for (const auto& file : dead) QCOMPARE(stdfs::exists(file), file == user);
        }
        settle(run);
        QVERIFY(!stdfs::exists(user));
    }
    void whatHasPointsWasUp() {
        const rundir::RunFolder run = interruptedRun();
        QVERIFY(rundir::removeLive(disk(), run).ok());
        const launch::Standing before = launch::standingOf(run);
        QCOMPARE(before.why, std::string("Its supervisor was lost"));
        settle(run);
        QCOMPARE(rundir::readSession(run, 1)->why, before.why);
    }
};

QTEST_GUILESS_MAIN(TestSettle)
#include "tst_settle.moc"
