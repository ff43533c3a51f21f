// labels: process
// timeout: 120
// Runs whose supervisor is gone, or only seems to be: the same truth before and after somebody settles what it left.
#include "launch/verbs.h"
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
};

QTEST_GUILESS_MAIN(TestLostSupervisor)
#include "tst_lost_supervisor.moc"
