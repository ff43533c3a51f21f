// labels: process
// The live handle on a run: history, shared memory, refill when lapped, requests, restart of the window. Rings are written
// by threads and by a second process.
#include "fixture_run.h"

#include "base/file_system.h"
#include "session/background.h"
#include "session/run_session.h"

#include <QFile>
#include <QScopeGuard>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <fcntl.h>
#include <limits>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace lathe;
using session::RunSession;
using session::Series;
using session::XAxis;
using tests::FixtureRun;
using tests::LiveSession;

namespace {

constexpr int kPatience = 60000;  // ms: far more than ever needed, also on a busy machine

double lossAt(std::int64_t attempt) { return 1.0 / double(attempt + 1); }

/// Every attempt from 1 to `last` once, in order, with its own value.
bool isWhole(const RunSession& session, std::int32_t number, std::int64_t last, QString& why) {
    const Series* series = session.data().find("train/loss", number);
    if (!series) {
        why = QStringLiteral("no series");
        return false;
    }
    for (std::size_t i = 0; i < series->size(); ++i)
        if (series->attemptAt(i) != std::int64_t(i) + 1 || series->at(i) != float(lossAt(std::int64_t(i) + 1))) {
            why = QStringLiteral("point %1 is attempt %2").arg(i).arg(series->attemptAt(i));
            return false;
        }
    why = QStringLiteral("%1 points").arg(series->size());
    return series->size() == std::size_t(last);
}

std::int64_t newest(const RunSession& session, std::int32_t number = 1) { return session.data().newestAttempt("train/loss", number); }

QString write(const QString& path, const QByteArray& content, bool executable = false) {
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size()) qFatal("cannot write %s", qPrintable(path));
    if (executable) file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return path;
}

}  // namespace

class tst_session : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::filesystem::path workspace() const { return m_folder->path().toStdString(); }

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void finishedRunIsReadWhole() {
        FixtureRun run(workspace());
        run.beginSession(1);
        for (int i = 1; i <= 5000; ++i) run.points(i, {{"train/loss", lossAt(i)}, {"train/lr", 0.1}});
        run.event("checkpoint", "Saved", 5000);
        run.endSession();
        run.summary([](rundir::Summary& summary) { summary.counters.globalStep = GlobalStep(5000); });
        run.checkpoint(1, 5000, {{"eval/accuracy", "0.5"}}, true);
        RunSession session(run.folder());
        QSignalSpy loaded(&session, &RunSession::loaded);
        QVERIFY(loaded.wait(kPatience));
        QTRY_COMPARE_WITH_TIMEOUT(session.standing().state, rundir::State::Completed, kPatience);
        QString why;
        QVERIFY2(isWhole(session, 1, 5000, why), qPrintable(why));
        QCOMPARE(session.name(), QStringLiteral("digits-mlp"));
        QCOMPARE(session.events().size(), std::size_t(1));
        QTRY_COMPARE_WITH_TIMEOUT(session.checkpoints().size(), std::size_t(1), kPatience);
        QCOMPARE(session.counters().globalStep.value(), std::int64_t(5000));
        QVERIFY(!session.isAlive());
        QVERIFY(!session.eta().measuring && session.eta().text().isEmpty());
    }

    void runWithoutAnyDatabaseIsEmptyAndNoError() {
        FixtureRun run(workspace());
        RunSession session(run.folder());
        QSignalSpy loaded(&session, &RunSession::loaded);
        QVERIFY(loaded.wait(kPatience));
        QVERIFY(session.problem().isEmpty());
        QCOMPARE(session.data().points(), std::size_t(0));
    }

    void brokenDatabaseGivesASentence() {
        FixtureRun run(workspace());
        write(QString::fromStdString(run.folder().database()), QByteArray(5000, 'x'));
        RunSession session(run.folder());
        QSignalSpy loaded(&session, &RunSession::loaded);
        QVERIFY(loaded.wait(kPatience));
        QVERIFY2(session.problem().contains(QStringLiteral("run.sqlite")), qPrintable(session.problem()));
    }

    void folderThatIsNoRunGivesASentence() {
        RunSession session(rundir::RunFolder(workspace() / "nothing"));
        QTRY_VERIFY_WITH_TIMEOUT(session.isLoaded() && !session.problem().isEmpty(), kPatience);
    }

    void livePointsFollowTheHistoryWithoutHoleOrDouble() {
        FixtureRun run(workspace());
        run.beginSession(1);
        LiveSession live(run.folder(), 1);
        run.summary([](rundir::Summary& summary) { summary.state = rundir::State::Running; summary.plannedUpdates = 100000; });
        live.beat(live::Phase::Training);
        for (int i = 1; i <= 500; ++i) live.points(i, {{"train/loss", lossAt(i)}});
        live.record(run.writer());
        for (int i = 501; i <= 800; ++i) live.points(i, {{"train/loss", lossAt(i)}});  // in the ring only
        RunSession session(run.folder());
        QTRY_COMPARE_WITH_TIMEOUT(newest(session), 800, kPatience);
        for (int i = 801; i <= 1200; ++i) live.points(i, {{"train/loss", lossAt(i)}});
        live.event("warning", "Something", 1200);
        live.beat(live::Phase::Training, 0, 0, 1200);
        QTRY_COMPARE_WITH_TIMEOUT(newest(session), 1200, kPatience);
        QTRY_COMPARE_WITH_TIMEOUT(session.events().size(), std::size_t(1), kPatience);
        live.record(run.writer());
        session.refresh();
        QString why;
        QVERIFY2(isWhole(session, 1, 1200, why), qPrintable(why));
        QTRY_COMPARE_WITH_TIMEOUT(session.standing().state, rundir::State::Running, kPatience);
        QVERIFY(session.standing().attached);
        QTRY_COMPARE_WITH_TIMEOUT(session.counters().globalStep.value(), std::int64_t(1200), kPatience);
        // 10 ms an update.
        QVERIFY(std::abs(*session.eta().updatesPerSecond - 100) < 1);
        QVERIFY(std::abs(*session.eta().seconds - 988) < 12);
    }

    void aFolderThatIsMovedIsFollowed() {
        FixtureRun run(workspace());
        run.beginSession(1);
        LiveSession live(run.folder(), 1);
        live.beat(live::Phase::Training);
        live.points(1, {{"train/loss", lossAt(1)}});
        RunSession session(run.folder());
        QTRY_COMPARE_WITH_TIMEOUT(newest(session), 1, kPatience);
        const auto moved = run.folder().root().parent_path() / "renamed";
        std::filesystem::rename(run.folder().root(), moved);
        const auto back = qScopeGuard([&] { std::filesystem::rename(moved, run.folder().root()); });
        QSignalSpy looks(&session, &RunSession::stateChanged);
        session.refresh();
        QVERIFY(looks.wait(kPatience));
        live.points(2, {{"train/loss", lossAt(2)}});
        QTRY_COMPARE_WITH_TIMEOUT(newest(session), 2, kPatience);
        QVERIFY(session.isAlive() && session.standing().attached);
        QCOMPARE(session.run().name(), std::string("renamed"));
        QSignalSpy edited(&session, &RunSession::userChanged);
        session.editUser([](rundir::UserRecord& user) { user.note = "moved"; });
        QVERIFY(edited.wait(kPatience));
        QVERIFY(std::filesystem::exists(moved / "user.json"));
    }

    void phaseIsToldWhileOneWaits() {
        FixtureRun run(workspace());
        run.beginSession(1);
        LiveSession live(run.folder(), 1);
        live.beat(live::Phase::LoadingData, 210, 300);
        RunSession session(run.folder());
        QTRY_COMPARE_WITH_TIMEOUT(session.standing().phase.text(), QStringLiteral("loading data 210/300"), kPatience);
        QCOMPARE(session.standing().state, rundir::State::Starting);
        QCOMPARE(session.eta().text(), QStringLiteral("measuring"));
        live.beat(live::Phase::Paused);
        QTRY_COMPARE_WITH_TIMEOUT(session.standing().state, rundir::State::Paused, kPatience);
        live::Control control;
        control.number = 1;
        control.stop = live::Control::Stop::SaveAndStop;
        live.segment().setControl(control);
        QTRY_COMPARE_WITH_TIMEOUT(session.standing().state, rundir::State::Stopping, kPatience);
    }

    // The ring is small and the window does not get to read for a while: what was overwritten comes from run.sqlite.
    void lappedReaderRefillsFromTheDatabase() {
        FixtureRun run(workspace());
        run.beginSession(1);
        LiveSession live(run.folder(), 1, 4096);
        live.beat(live::Phase::Training);
        for (int i = 1; i <= 20; ++i) live.points(i, {{"train/loss", lossAt(i)}});
        RunSession session(run.folder());
        QTRY_COMPARE_WITH_TIMEOUT(newest(session), 20, kPatience);
        // The GUI thread is busy here; the recorder, a thread of its own in life, keeps up.
        for (int i = 21; i <= 3000; ++i) {
            live.points(i, {{"train/loss", lossAt(i)}});
            if (i % 20 == 0) live.record(run.writer());
        }
        QTRY_COMPARE_WITH_TIMEOUT(newest(session), 3000, kPatience);
        QString why;
        QVERIFY2(isWhole(session, 1, 3000, why), qPrintable(why));
        for (int i = 3001; i <= 3020; ++i) live.points(i, {{"train/loss", lossAt(i)}});
        QTRY_COMPARE_WITH_TIMEOUT(newest(session), 3020, kPatience);
        QVERIFY2(isWhole(session, 1, 3020, why), qPrintable(why));
    }

    // As above, but the recorder is late too: nothing is shown out of order meanwhile, and all of it in the end.
    void lateRecorderDelaysButLosesNothing() {
        FixtureRun run(workspace());
        run.beginSession(1);
        LiveSession live(run.folder(), 1, 4096);
        live.points(1, {{"train/loss", lossAt(1)}});
        RunSession session(run.folder());
        QTRY_COMPARE_WITH_TIMEOUT(newest(session), 1, kPatience);
        live.record(run.writer());
        std::vector<live::Frame> kept;
        live::RingReader reader = live.segment().reader(0);
        for (int i = 2; i <= 600; ++i) {
            live.points(i, {{"train/loss", lossAt(i)}});
            for (live::Frame& frame : reader.read().frames) kept.push_back(std::move(frame));
        }
        QSignalSpy looks(&session, &RunSession::stateChanged);
        QTRY_VERIFY_WITH_TIMEOUT(looks.count() >= 2, kPatience);  // it had time to take what it must not take yet
        QCOMPARE(newest(session), 1);
        for (const live::Frame& frame : kept) run.writer().take(0, 1, frame.sequence, frame.type, frame.payload);
        run.flush();
        QTRY_COMPARE_WITH_TIMEOUT(newest(session), 600, kPatience);
        QString why;
        QVERIFY2(isWhole(session, 1, 600, why), qPrintable(why));
    }

    void declarationThatWasOverwrittenIsLookedUp() {
        FixtureRun run(workspace());
        run.beginSession(1);
        LiveSession live(run.folder(), 1, 4096);
        for (int i = 1; i <= 400; ++i) {
            live.points(i, {{"train/loss", lossAt(i)}});
            if (i % 20 == 0) live.record(run.writer());
        }
        RunSession session(run.folder());
        QTRY_COMPARE_WITH_TIMEOUT(newest(session), 400, kPatience);
        live.points(401, {{"train/loss", lossAt(401)}});
        QTRY_COMPARE_WITH_TIMEOUT(newest(session), 401, kPatience);
        QString why;
        QVERIFY2(isWhole(session, 1, 401, why), qPrintable(why));
    }

    void writerThreadAndRecorderThreadGiveEveryPointOnce() {
        FixtureRun run(workspace());
        run.beginSession(1);
        LiveSession live(run.folder(), 1, 1u << 16);
        constexpr int kLast = 40'000;
        std::atomic<bool> done{false};
        std::atomic<std::uint64_t> recorded{0};
        std::thread writer([&] {
            for (int i = 1; i <= kLast; ++i) {
                live.points(i, {{"train/loss", lossAt(i)}});
                if (i % 50 == 0) std::this_thread::yield();
                while (i % 100 == 0 && live.segment().lastSequence(0) > recorded + 600 && !done) std::this_thread::yield();
            }
            done = true;
        });
        std::thread recorder([&] {
            while (recorded < live.segment().lastSequence(0) || !done) {
                live.record(run.writer());
                recorded = run.writer().recordedSequence(0, 1);
            }
        });
        RunSession session(run.folder());
        QTRY_COMPARE_WITH_TIMEOUT(newest(session), kLast, kPatience);
        writer.join();
        recorder.join();
        QString why;
        QVERIFY2(isWhole(session, 1, kLast, why), qPrintable(why));
    }

    void anotherProcessWritesTheRing() {
        FixtureRun run(workspace());
        run.beginSession(1);
        LiveSession live(run.folder(), 1);
        RunSession session(run.folder());
        QTRY_VERIFY_WITH_TIMEOUT(session.standing().attached, kPatience);
        const pid_t child = ::fork();
        if (child == 0) {  // the mapping is shared: as an inherited descriptor in a worker
            for (int i = 1; i <= 2000; ++i) live.points(i, {{"train/loss", lossAt(i)}});
            ::_exit(0);
        }
        int status = 0;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QCOMPARE(status, 0);
        QTRY_COMPARE_WITH_TIMEOUT(newest(session), 2000, kPatience);
        QString why;
        QVERIFY2(isWhole(session, 1, 2000, why), qPrintable(why));
    }

    void restartedWindowFindsTheWholeCurve() {
        FixtureRun run(workspace());
        run.beginSession(1);
        LiveSession live(run.folder(), 1);
        live.beat(live::Phase::Training);
        int i = 0;
        for (int window = 0; window < 3; ++window) {
            for (int k = 0; k < 700; ++k) {
                ++i;
                live.points(i, {{"train/loss", lossAt(i)}});
            }
            if (window != 1) live.record(run.writer());
            RunSession session(run.folder());
            QTRY_COMPARE_WITH_TIMEOUT(newest(session), i, kPatience);
            QString why;
            QVERIFY2(isWhole(session, 1, i, why), qPrintable(why));
            QTRY_VERIFY_WITH_TIMEOUT(session.eta().updatesPerSecond.has_value(), kPatience);  // measured from what is recorded, not from nothing
        }
    }

    void endIsNoticedAndEverythingIsThere() {
        FixtureRun run(workspace());
        run.beginSession(1);
        auto live = std::make_unique<LiveSession>(run.folder(), 1);
        live->beat(live::Phase::Training);
        RunSession session(run.folder());
        QSignalSpy ended(&session, &RunSession::runEnded);
        for (int i = 1; i <= 100; ++i) live->points(i, {{"train/loss", lossAt(i)}});
        QTRY_COMPARE_WITH_TIMEOUT(newest(session), 100, kPatience);
        for (int i = 101; i <= 150; ++i) live->points(i, {{"train/loss", lossAt(i)}});
        live->record(run.writer());
        run.endSession(rundir::State::Stopped, "Stopped on request");
        live.reset();
        QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, kPatience);
        QCOMPARE(session.standing().state, rundir::State::Stopped);
        QCOMPARE(session.standing().why, QStringLiteral("Stopped on request"));
        QString why;
        QVERIFY2(isWhole(session, 1, 150, why), qPrintable(why));
        // It goes on as session 2: attached again without being asked.
        run.beginSession(2, "roll-back", 1, 100);
        LiveSession again(run.folder(), 2);
        again.beat(live::Phase::Training);
        again.points(101, {{"train/loss", 5}});
        QTRY_COMPARE_WITH_TIMEOUT(newest(session, 2), 101, kPatience);
        QCOMPARE(session.data().pieces("train/loss").size(), std::size_t(3));
        QVERIFY(!session.data().onSurvivingLine(1, 101));
    }

    // A short run that is made longer is over again before the window has looked once.
    void sessionThatEndsBetweenTwoLooksIsThereWhole() {
        FixtureRun run(workspace());
        run.beginSession(1);
        for (int i = 1; i <= 200; ++i) run.points(i, {{"train/loss", lossAt(i)}});
        run.checkpoint(1, 200);
        run.endSession();
        RunSession session(run.folder());
        QSignalSpy ended(&session, &RunSession::runEnded);
        QTRY_VERIFY_WITH_TIMEOUT(session.checkpoints().size() == 1 && session.checkpoints()[0].onSurvivingLine, kPatience);
        run.beginSession(2, "continue", 1, 200);
        for (int i = 201; i <= 400; ++i) run.points(i, {{"train/loss", lossAt(i)}});
        run.checkpoint(2, 400);
        run.endSession();
        QTRY_COMPARE_WITH_TIMEOUT(newest(session, 2), 400, kPatience);
        QTRY_COMPARE_WITH_TIMEOUT(session.checkpoints().size(), std::size_t(2), kPatience);
        QTRY_VERIFY_WITH_TIMEOUT(session.checkpoints()[0].onSurvivingLine && session.checkpoints()[1].onSurvivingLine, kPatience);
        QCOMPARE(session.data().sessions().back().verb, std::string("continue"));
        QCOMPARE(session.data().sessions().back().end, std::string("completed"));
        const auto pieces = session.data().pieces("train/loss");
        QVERIFY(pieces.size() == 2 && pieces[1].joined);
        QCOMPARE(ended.count(), 1);
    }

    void runOnAnotherHostIsFollowedThroughItsDatabase() {
        FixtureRun run(workspace());
        run.beginSession(1);
        rundir::LiveRecord elsewhere;
        elsewhere.supervisor = {"gpu1", "boot", 4711, 1, "token"};
        elsewhere.session = 1;
        QVERIFY(rundir::writeLive(FileSystem::real(), run.folder(), elsewhere).ok());
        run.summary([](rundir::Summary& summary) { summary.state = rundir::State::Running; });
        for (int i = 1; i <= 100; ++i) run.points(i, {{"train/loss", lossAt(i)}});
        run.flush();
        RunSession session(run.folder());
        QTRY_COMPARE_WITH_TIMEOUT(newest(session), 100, kPatience);
        QTRY_COMPARE_WITH_TIMEOUT(session.standing().state, rundir::State::Running, kPatience);
        QVERIFY(!session.standing().onThisHost && !session.standing().attached);
        QVERIFY2(session.standing().why.contains(QStringLiteral("gpu1")), qPrintable(session.standing().why));
        for (int i = 101; i <= 150; ++i) run.points(i, {{"train/loss", lossAt(i)}});
        run.event("warning", "w", 150);
        run.flush();
        QTRY_COMPARE_WITH_TIMEOUT(newest(session), 150, kPatience);
        QTRY_COMPARE_WITH_TIMEOUT(session.events().size(), std::size_t(1), kPatience);
        QString why;
        QVERIFY2(isWhole(session, 1, 150, why), qPrintable(why));
    }

    void lostSupervisorIsInterruptedNotRunning() {
        FixtureRun run(workspace());
        run.beginSession(1);
        run.summary([](rundir::Summary& summary) { summary.state = rundir::State::Running; });
        run.flush();
        RunSession session(run.folder());
        QTRY_COMPARE_WITH_TIMEOUT(session.standing().state, rundir::State::Interrupted, kPatience);
    }

    void requestsAreAnsweredWithTheirSentence() {
        FixtureRun run(workspace());
        run.beginSession(1);
        LiveSession live(run.folder(), 1);
        live.setReply("A checkpoint will be written after this update", true);
        RunSession session(run.folder());
        QTRY_VERIFY_WITH_TIMEOUT(session.isAlive(), kPatience);
        QSignalSpy answered(&session, &RunSession::requestAnswered);
        session.request(RunSession::Request::SaveNow);
        QVERIFY(answered.wait(kPatience));
        QCOMPARE(answered[0][0].value<RunSession::Request>(), RunSession::Request::SaveNow);
        QVERIFY(answered[0][1].toBool());
        QCOMPARE(answered[0][2].toString(), QStringLiteral("A checkpoint will be written after this update"));
        live.setReply("It is stopping already", false);
        session.request(RunSession::Request::Pause);
        QVERIFY(answered.wait(kPatience));
        QVERIFY(!answered[1][1].toBool());
        const auto seen = live.requests();
        QVERIFY(std::count(seen.begin(), seen.end(), live::Verb::SaveNow) == 1 && std::count(seen.begin(), seen.end(), live::Verb::Pause) == 1);
    }

    void requestToARunThatIsOverIsRefusedWithASentence() {
        FixtureRun run(workspace());
        run.beginSession(1);
        run.endSession();
        RunSession session(run.folder());
        QTRY_COMPARE_WITH_TIMEOUT(session.standing().state, rundir::State::Completed, kPatience);
        QSignalSpy answered(&session, &RunSession::requestAnswered);
        session.request(RunSession::Request::Stop);
        QVERIFY(answered.wait(kPatience));
        QVERIFY(!answered[0][1].toBool() && !answered[0][2].toString().isEmpty());
    }

    void handleThatIsGoneLeavesNothingBehind() {
        FixtureRun run(workspace());
        run.beginSession(1);
        LiveSession live(run.folder(), 1);
        for (int i = 0; i < 30; ++i) {
            RunSession session(run.folder());
            for (int k = 0; k < i; ++k) QCoreApplication::processEvents(QEventLoop::AllEvents, 1);
            session.request(RunSession::Request::SaveNow);
        }
        session::jobPool().waitForDone();
        QCoreApplication::processEvents();  // late results find nobody
    }

    void userFileIsChangedAndSeen() {
        FixtureRun run(workspace());
        RunSession session(run.folder());
        QSignalSpy changed(&session, &RunSession::userChanged);
        QTRY_VERIFY_WITH_TIMEOUT(session.isLoaded(), kPatience);
        session.editUser([](rundir::UserRecord& user) { user.name = "my best", user.tags = {"a", "b"}; });
        QTRY_COMPARE_WITH_TIMEOUT(session.name(), QStringLiteral("my best"), kPatience);
        QVERIFY(changed.count() >= 1);
    }

};

QTEST_GUILESS_MAIN(tst_session)
#include "tst_session.moc"
