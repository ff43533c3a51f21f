// labels: process slow
// timeout: 300
// A worker that does not leave when its supervisor is lost: it is waited for, then ended, and only it.
#include "base/file_system.h"
#include "launch/run/checkpoint_choice.h"
#include "launch/run/standing.h"
#include "trainer_process.h"

#include <QtTest/QTest>

using namespace lathe;
using namespace lathe::test;
using rundir::State;

class TestLeftovers : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void aDeafWorkerIsEndedBeforeTheNextSession() {
        Workspace workspace;
        workspace.useFakeWorker(LATHE_BIN_DIR);
        workspace.setScript("points 5; save; points 5; deaf");
        QCOMPARE(workspace.ask({"run", "digits-mlp", "--detach"}).code, 0);
        const auto run = workspace.latest();
        QVERIFY(eventually([&] { return !launch::newestOnLine(run).empty(); }));
        const auto live = *rundir::readLive(run);
        ::kill(static_cast<pid_t>(live->supervisor.pid), SIGKILL);
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(run.lock()); }));
        QVERIFY(rundir::RunLock::isHeld(run.workersLock()));
        QVERIFY(launch::standingOf(run).state == State::Stopping);

        // Who waits for it can give up, and nothing has changed.
        const auto impatient = workspace.start({"continue", "latest"});
        QVERIFY(eventually([&] { return impatient->readAllStandardError().contains("Waiting") || impatient->state() == QProcess::NotRunning; }));
        ::kill(static_cast<pid_t>(impatient->processId()), SIGINT);
        QCOMPARE(Workspace::finish(*impatient).code, 4);
        QVERIFY(processLives(live->workers.at(0).pid));
        QCOMPARE(rundir::newestSession(run), 1);

        workspace.setScript("points 1; end completed, 0");
        const Answer next = workspace.ask({"continue", "latest"}, 120'000);
        QVERIFY2(next.code == 0, next.err.c_str());
        QVERIFY(!processLives(live->workers.at(0).pid));
        QVERIFY(rundir::readSession(run, 1)->state == State::Interrupted);
    }
    /// Its last save may take longer than the 75 s after which one that does nothing is ended.
    void aWorkerThatSavesIsGivenTheTimeForIt() {
        Workspace workspace;
        workspace.useFakeWorker(LATHE_BIN_DIR);
        const auto flag = workspace.scratch() / "saved";
        workspace.setScript("points 5; saving " + flag.string() + "; save; end interrupted, 5");
        QCOMPARE(workspace.ask({"run", "digits-mlp", "--detach"}).code, 0);
        const auto run = workspace.latest();
        QVERIFY(eventually([&] { return (*rundir::readLive(run)).has_value(); }));
        const auto live = *rundir::readLive(run);
        ::kill(static_cast<pid_t>(live->supervisor.pid), SIGKILL);
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(run.lock()); }));

        const auto next = workspace.start({"stop", "latest"});
        QByteArray said;
        QVERIFY(eventually([&] { next->waitForReadyRead(10); return (said += next->readAllStandardError()).contains("its worker is") || next->state() == QProcess::NotRunning; }));
        QVERIFY2(said.contains("asked to save and stop, saving; SIGTERM at the latest in 8"), said.constData());   // of 900 s
        QVERIFY(replaceFile(FileSystem::real(), flag, "go").ok());
        QCOMPARE(Workspace::finish(*next).code, 5);
        QCOMPARE(launch::newestOnLine(run), std::string("s001-000000005"));
        QVERIFY(rundir::readSession(run, 1)->state == State::Interrupted);
    }
    /// The others notice when one is gone, and save without it; what it said last holds up nobody.
    void aRankThatIsGoneTakesNoTimeFromTheOneThatSaves() {
        Workspace workspace;
        workspace.useFakeWorker(LATHE_BIN_DIR);
        const auto flag = workspace.scratch() / "saved";
        workspace.setScript("points 5; rank 1 hold /nowhere; saving " + flag.string() + "; save; end interrupted, 5");
        QCOMPARE(workspace.ask({"run", "digits-mlp", "--detach", "--set", "parallel.ranks=2", "--set", "accumulation.micro_batches=2"}).code, 0);
        const auto run = workspace.latest();
        QVERIFY(eventually([&] { return (*rundir::readLive(run)).has_value(); }));
        const auto live = *rundir::readLive(run);
        for (const auto pid : {live->supervisor.pid, live->workers.at(1).pid}) ::kill(static_cast<pid_t>(pid), SIGKILL);
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(run.lock()); }));

        const auto next = workspace.start({"stop", "latest"});
        QByteArray said;
        // told every 5 s; from then on its last beat is older than that of a rank that lives
        QVERIFY(eventually([&] { next->waitForReadyRead(10); return (said += next->readAllStandardError()).count("its worker is") >= 2 || next->state() == QProcess::NotRunning; }));
        QCOMPARE(said.count("asked to save and stop, saving; SIGTERM at the latest in 8"), 2);   // of 900 s
        QVERIFY(replaceFile(FileSystem::real(), flag, "go").ok());
        QCOMPARE(Workspace::finish(*next).code, 5);
        QCOMPARE(launch::newestOnLine(run), std::string("s001-000000005"));
    }
};

QTEST_GUILESS_MAIN(TestLeftovers)
#include "tst_leftovers.moc"
