// labels: process
// timeout: 300
// Runs whose supervisor is gone, or only seems to be: the same truth before and after somebody settles what it left.
#include "base/file_system.h"
#include "launch/run/checkpoint_choice.h"
#include "launch/run/standing.h"
#include "rundir/checkpoint_manifest.h"
#include "supervised.h"

#include <QtTest/QTest>

#include <csignal>

using namespace lathe;
using namespace lathe::test;
using rundir::State;
namespace stdfs = std::filesystem;

class TestLostSupervisor : public QObject {
    Q_OBJECT

    static void killSupervisor(const rundir::RunFolder& run) {
        const auto live = *rundir::readLive(run);
        ::kill(static_cast<pid_t>(live->supervisor.pid), SIGKILL);
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(run.lock()); }));
    }

private Q_SLOTS:
    void theWorkersWordStands_data() {
        QTest::addColumn<QByteArray>("ending");
        QTest::addColumn<int>("state");
        QTest::newRow("diverged") << QByteArray("end diverged, 6") << int(State::Diverged);
        QTest::newRow("completed") << QByteArray("end completed, 0") << int(State::Completed);
        QTest::newRow("killed") << QByteArray("signal 9") << int(State::Interrupted);
    }
    void theWorkersWordStands() {
        QFETCH(QByteArray, ending);
        QFETCH(int, state);
        const auto workspace = fresh({});
        const stdfs::path flag = workspace->scratch() / "flag";
        workspace->setScript("points 20; hold " + flag.string() + "; " + ending.toStdString());
        const auto run = running(*workspace);
        killSupervisor(run);
        QVERIFY(launch::standingOf(run).state == State::Stopping);
        QVERIFY(replaceFile(FileSystem::real(), flag, "go").ok());
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(run.workersLock()); }));
        const launch::Standing before = launch::standingOf(run);
        QCOMPARE(int(before.state), state);
        QVERIFY2(before.why.find("supervisor was lost") != std::string::npos, before.why.c_str());
        workspace->setScript("points 1; end completed, 0");
        QCOMPARE(workspace->ask({"continue", "latest"}).code, 0);
        const auto settled = rundir::readSession(run, 1);
        QCOMPARE(int(*settled->state), state);
        QCOMPARE(settled->why, before.why);
    }
    void aRestartOfTheMachineIsTold() {
        const auto workspace = fresh("points 20; hold /nowhere");
        const auto run = running(*workspace);
        auto live = **rundir::readLive(run);
        const auto worker = live.workers.at(0).pid;
        killSupervisor(run);
        ::kill(static_cast<pid_t>(worker), SIGKILL);
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(run.workersLock()); }));
        live.supervisor.bootId = "another";
        QVERIFY(rundir::writeLive(FileSystem::real(), run, live).ok());
        const launch::Standing before = launch::standingOf(run);
        QVERIFY(before.state == State::Interrupted);
        QCOMPARE(before.why, std::string("The machine was restarted while it ran"));
    }
    void aReplacedLockFileDoesNotMakeItLost() {
        const auto workspace = fresh("train");
        const auto run = running(*workspace);
        stdfs::remove(run.lock());
        QVERIFY(replaceFile(FileSystem::real(), run.lock(), "").ok());
        QVERIFY(!rundir::RunLock::isHeld(run.lock()));
        QVERIFY(launch::standingOf(run).state == State::Running);
        const Answer refused = workspace->ask({"continue", "latest"});
        QVERIFY2(refused.code == 8, (std::to_string(refused.code) + refused.err).c_str());
        QCOMPARE(workspace->ask({"stop", "latest"}).code, 0);
        QVERIFY(eventually([&] { return launch::standingOf(run).state == State::Stopped; }));
    }
    /// The leftover worker is stopped: it is ended by the same ladder, and what became of the run is told truly.
    void aStopEndsWhatALostSupervisorLeft() {
        const auto workspace = fresh("train");
        const auto run = running(*workspace);
        const auto worker = (*rundir::readLive(run))->workers.at(0).pid;
        ::kill(static_cast<pid_t>(worker), SIGSTOP);
        killSupervisor(run);
        const std::string note = "kill -CONT " + std::to_string(worker);
        QVERIFY(launch::standingOf(run).state == State::Stopping);
        QVERIFY2(launch::standingOf(run).why.find(note) != std::string::npos, launch::standingOf(run).why.c_str());
        const Answer stopped = workspace->ask({"stop", "latest", "--discard"});
        QVERIFY2(stopped.code == 5, (std::to_string(stopped.code) + stopped.err).c_str());
        QVERIFY2(stopped.err.find("SIGTERM in ") != std::string::npos && stopped.err.find(note) != std::string::npos, stopped.err.c_str());
        QVERIFY(!processLives(worker));
        QVERIFY(launch::standingOf(run).state == State::Interrupted && rundir::readSession(run, 1)->state == State::Interrupted);
        QVERIFY(!stdfs::exists(run.liveJson()));
    }
    void aStoppedSupervisorIsNamed() {
        const auto workspace = fresh("train");
        const auto run = running(*workspace);
        const auto supervisor = static_cast<pid_t>((*rundir::readLive(run))->supervisor.pid);
        const std::string note = "kill -CONT " + std::to_string(supervisor);
        ::kill(supervisor, SIGSTOP);
        const Answer refused = workspace->ask({"stop", "latest"});
        QVERIFY2(refused.code != 0 && refused.err.find(note) != std::string::npos && refused.err.find("heeded when it goes on") != std::string::npos, refused.err.c_str());
        const Answer busy = workspace->ask({"continue", "latest"});
        QVERIFY2(busy.code == 8 && busy.err.find(note) != std::string::npos, busy.err.c_str());
        ::kill(supervisor, SIGCONT);
        QVERIFY(eventually([&] { return launch::standingOf(run).state == State::Stopped; }));   // as was said
    }
    void whoReadsARunFindsItsLastUpdates() {
        const auto workspace = fresh("train");
        const auto run = running(*workspace);
        killSupervisor(run);
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(run.workersLock()); }));
        const auto saved = rundir::parseCheckpointName(launch::newestOnLine(run));
        QVERIFY(saved.has_value());
        const auto row = workspace->ask({"runs", "--json"}).json().at(0);
        QCOMPARE(row.value("step", std::int64_t{-1}), saved->step.value());
        QCOMPARE(std::int64_t(pointsOf(run, "train/loss")), saved->step.value());
        QCOMPARE(row.value("state", ""), std::string("interrupted"));
        QVERIFY(!stdfs::exists(run.liveJson()));
    }
    void whileItsWorkerIsThereSomeIsSaidToBeMissing() {
        const auto workspace = fresh({});
        const stdfs::path flag = workspace->scratch() / "flag";
        workspace->setScript("points 20; hold " + flag.string() + "; end completed, 0");
        const auto run = running(*workspace);
        const auto watcher = workspace->start({"attach", "latest", "--json"});
        QVERIFY(watcher->waitForReadyRead(20'000));
        killSupervisor(run);
        QCOMPARE(Workspace::finish(*watcher).code, 5);
        const Answer shown = workspace->ask({"series", "latest"});
        QVERIFY2(shown.code == 0 && shown.err.find("may be missing") != std::string::npos, shown.err.c_str());
        QVERIFY(replaceFile(FileSystem::real(), flag, "go").ok());
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(run.workersLock()); }));
        const Answer whole = workspace->ask({"series", "latest"});
        QVERIFY2(whole.code == 0 && whole.err.empty(), whole.err.c_str());
        QVERIFY(!stdfs::exists(run.liveJson()));
    }
};

QTEST_GUILESS_MAIN(TestLostSupervisor)
#include "tst_lost_supervisor.moc"
