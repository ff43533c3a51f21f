// labels: process fault
// timeout: 300
// lathe-trainer drill: a run of its own is killed at random moments and comes back; nothing is left, also when it is interrupted.
#include "trainer_process.h"

#include "base/file_system.h"

#include <QtTest>

#include <csignal>

using namespace lathe;
using lathe::test::Answer;
using lathe::test::Workspace;

class DrillTest : public QObject {
    Q_OBJECT

    static QStringList words(int kills) {
        const QByteArray seed = qgetenv("LATHE_SEED");
        QStringList all{"drill", "--json", "--kills", QString::number(kills), "--every", "0.7"};
        if (!seed.isEmpty()) all += {"--seed", QString::fromLatin1(seed)};
        return all;
    }
    /// Processes of any drill in this workspace.
    static bool anyLeft(const Workspace& work) {
        const auto names = listFolder("/proc");
        for (const std::string& name : *names) {
            const auto environment = readFile("/proc/" + name + "/environ", 1u << 20);
            if (environment && environment->find("LATHE_DRILL=") != std::string::npos && environment->find(work.scratch().string()) != std::string::npos
                && test::processLives(QByteArray::fromStdString(name).toLongLong()))
                return true;
        }
        return false;
    }

private Q_SLOTS:
    /// RELIABILITY F19, R1, R7
    void whatWasPromisedIsSeen() {
        const Workspace work;
        const bool isFull = qEnvironmentVariableIsSet("LATHE_FULL");
        const Answer answer = work.ask(words(isFull ? 100 : 6), isFull ? 1'500'000 : 280'000);
        const auto told = answer.json();
        qInfo("%s", answer.out.c_str());
        QVERIFY2(answer.code == 0, (answer.out + answer.err).c_str());
        QVERIFY(told["broken"].empty() && told["left"].empty());
        QVERIFY(told["kills"].get<int>() >= 6 && told["updates"].get<int>() >= 30);
        QVERIFY(!std::filesystem::exists(work.folder() / "scratch"));
        QVERIFY(!std::filesystem::exists(work.folder() / "runs"));  // the workspace's own runs were not touched
        QVERIFY(!anyLeft(work));
    }

    void anInterruptedDrillLeavesNothing() {
        const Workspace work;
        const auto process = work.start({"drill", "--folder", QString::fromStdString(work.scratch().string()), "--every", "3"});
        QVERIFY(test::eventually([&] { return std::filesystem::exists(work.scratch() / "scratch") && anyLeft(work); }));
        ::kill(static_cast<pid_t>(process->processId()), SIGINT);
        const Answer answer = Workspace::finish(*process);
        QCOMPARE(answer.code, static_cast<int>(ExitCode::Stopped));
        QVERIFY2(answer.out.find("Stopped on request") != std::string::npos, answer.out.c_str());
        QVERIFY(!std::filesystem::exists(work.scratch() / "scratch"));
        QVERIFY(!anyLeft(work));
    }

    // the run that it leaves has no end of its own
    void whatAKilledDrillLeftIsEndedByTheNext() {
        const Workspace work;
        const QString folder = QString::fromStdString(work.scratch().string());
        const auto process = work.start({"drill", "--folder", folder, "--every", "30"});
        QVERIFY(test::eventually([&] {
            const auto drills = listFolder(work.scratch() / "scratch");
            return drills && !drills->empty() && !rundir::listRuns(work.scratch() / "scratch" / drills->front()).empty() && anyLeft(work);
        }));
        process->kill();
        QVERIFY(process->waitForFinished());
        QVERIFY(anyLeft(work));
        const Answer next = work.ask({"drill", "--folder", folder, "--kills", "1", "--every", "0.5"}, 120'000);
        QVERIFY2(next.err.find("Ends what an earlier drill left") != std::string::npos, (next.out + next.err).c_str());
        QVERIFY2(next.code == 0, (next.out + next.err).c_str());   // its one kill hit a run that was there
        QVERIFY(!anyLeft(work));
        QVERIFY(!std::filesystem::exists(work.scratch() / "scratch"));
    }

    // kills that come faster than a run comes up wait for it: one at least hits a run
    void aDrillOfOneKillTestsSomething() {
        const Workspace work;
        for (const int kills : {1, 3}) {
            const Answer early = work.ask({"drill", "--json", "--kills", QString::number(kills), "--every", "0.01"}, 120'000);
            QVERIFY2(early.code == 0, (early.out + early.err).c_str());
            QCOMPARE(early.json()["kills"].get<int>(), kills);
            QVERIFY(early.json()["updates"] >= 30);
        }
    }

    void whatCannotBeDrilledIsTold() {
        Workspace work;
        const Answer nowhere = work.ask({"drill", "--folder", QString::fromStdString((work.scratch() / "nowhere").string())});
        QVERIFY2(nowhere.code > 0 && nowhere.err.find("There is no folder") != std::string::npos && !std::filesystem::exists(work.scratch() / "nowhere"), nowhere.err.c_str());
        const Answer file = work.ask({"drill", "--folder", "/proc/self/status"});
        QVERIFY2(file.code > 0 && file.err.find("/proc/self/status") != std::string::npos, file.err.c_str());
        work.setEnvironment("LATHE_PROGRAMS", work.scratch().string());
        const Answer worker = work.ask({"drill"});
        QVERIFY2(worker.code > 0 && worker.err.find("nothing can be trained in a drill") != std::string::npos, worker.err.c_str());
        QCOMPARE(work.ask({"drill", "--kills", "0"}).code, 2);
        QCOMPARE(work.ask({"drill", "--every", "-1"}).code, 2);
    }
};

QTEST_GUILESS_MAIN(DrillTest)
#include "tst_drill.moc"
