// labels: process
// A roll-back that fails before its first update leaves the run where it was: line, checkpoints, settings and counters.
#include "launch/run/checkpoint_choice.h"
#include "launch/run/run_settings.h"
#include "launch/run/undo.h"
#include "trainer_process.h"

#include <QtTest/QTest>

using namespace lathe;
using namespace lathe::test;
using nlohmann::json;

class TestUndo : public QObject {
    Q_OBJECT
    std::unique_ptr<Workspace> m_work;

    json shown() const { return m_work->ask({"show", "latest", "--json"}).json(); }
    rundir::RunFolder run() const { return m_work->latest(); }
    /// 40 updates, checkpoints of 20 and 40.
    void begin() {
        m_work = std::make_unique<Workspace>();
        m_work->useFakeWorker(LATHE_BIN_DIR);
        m_work->setScript("until 20; save; until 40; best 0.5; save; until 45; end stopped, 4");
        QCOMPARE(m_work->ask({"run", "digits-mlp", "--json"}).code, 4);
    }

private Q_SLOTS:
    void aFailedRollBackLeavesTheRunWhereItWas_data() {
        QTest::addColumn<QString>("script");
        QTest::newRow("it says why") << "end failed, 3";
        QTest::newRow("it only leaves") << "exit 3";
        QTest::newRow("it crashes, also in its restart") << "signal 11";
        QTest::newRow("it saved what it began with") << "save; end failed, 3";
    }
    void aFailedRollBackLeavesTheRunWhereItWas() {
        QFETCH(QString, script);
        begin();
        const std::string newest = launch::newestOnLine(run());
        const json before = shown();
        for (int time = 0; time < 2; ++time) {   // whoever fails tries again
            m_work->setScript(script.toStdString());
            const Answer failed = m_work->ask({"roll-back", "latest@20", "--json", "--set", "optimizer.learning_rate=7"});
            QVERIFY2(failed.code == 3 || failed.code == 5, failed.err.c_str());
            const json after = shown();
            QVERIFY2(after["why"].get<std::string>().ends_with("The run stays where it was, at step 45"), after["why"].dump().c_str());
            QCOMPARE(launch::newestOnLine(run()), newest);
            QCOMPARE(after["counters"], before["counters"]);
            QCOMPARE(after["best"], before["best"]);
            QVERIFY(std::filesystem::remove(run().summaryJson()));   // made again it tells the same
            const json again = shown();
            QCOMPARE(again["counters"], before["counters"]);
            QCOMPARE(again["best"], before["best"]);
        }
        QCOMPARE(m_work->ask({"series", "latest", "train/loss", "--csv"}).out, m_work->ask({"series", "latest", "train/loss", "--csv", "--all-branches"}).out);

        m_work->setScript("until 50; save; end completed, 0");
        QCOMPARE(m_work->ask({"continue", "latest", "--json"}).code, 0);
        const int session = rundir::newestSession(run());
        QCOMPARE(rundir::readSession(run(), session)->checkpoint, newest);
        QVERIFY(launch::configOf(run(), session)->optimizer.learningRate < 1);   // the roll-back's own settings went with it
        QCOMPARE(launch::standingSession(run()), session);
    }

    void oneThatMadeUpdatesStands() {
        begin();
        m_work->setScript("until 21; end failed, 3");
        QCOMPARE(m_work->ask({"roll-back", "latest@20"}).code, 3);
        QVERIFY(launch::newestOnLine(run()).ends_with("-000000020"));
        QVERIFY(shown()["why"].get<std::string>().find("stays where") == std::string::npos);
    }

    void oneThatWasAskedToStopStands() {
        begin();
        m_work->setScript("end stopped, 4");
        QCOMPARE(m_work->ask({"roll-back", "latest@20"}).code, 4);
        QVERIFY(launch::newestOnLine(run()).ends_with("-000000020"));
    }
};

QTEST_GUILESS_MAIN(TestUndo)
#include "tst_undo.moc"
