// labels: process
// A trial of everything: fast_dev_run of the flat form, and check --dry-run.
#include "base/file_system.h"
#include "store/run_store.h"
#include "trainer_process.h"

#include <QtTest>

#include <set>

using namespace lathe;
using lathe::test::Answer;
using lathe::test::Workspace;

namespace {

const std::string kDigits = LATHE_SOURCE_DIR "/resources/samples/digits/";
const std::string kFlat = "model_name: mlp\nnum_classes: 10\npretrained: false\nuse_amp: false\nbatch_size: 16\nwarmup_steps: 0\n"
                          "data.train: " + kDigits + "images.idx3-ubyte\ndata.train_labels: " + kDigits + "labels.idx1-ubyte\n";

}  // namespace

class TrialTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { QVERIFY(makeFolders(FileSystem::real(), m_work.scratch()).ok()); }

    void fastDevRunTrainsEvaluatesSavesAndGoesOn_data() {
        QTest::addColumn<bool>("detached");
        QTest::newRow("here") << false;
        QTest::newRow("in the background") << true;
    }
    void fastDevRunTrainsEvaluatesSavesAndGoesOn() {
        QFETCH(bool, detached);
        const QString file = written("fast_dev_run: 4\nlog_every_n_steps: 2\n");
        const Answer answer = m_work.ask(QStringList{"run", file, "--json"} + (detached ? QStringList{"--detach"} : QStringList{}));
        QVERIFY2(answer.code == 0, (answer.out + answer.err).c_str());
        const rundir::RunFolder run(answer.json()["folder"].get<std::string>());
        QVERIFY(test::eventually([&] { return rundir::newestSession(run) == 2 && !rundir::RunLock::isHeld(run.lock()); }));
        const nlohmann::json shown = m_work.ask({"show", QString::fromStdString(run.root().string()), "--json"}).json();
        QCOMPARE(shown["state"], "completed");
        QCOMPARE(shown["counters"]["global_step"], 8);
        QCOMPARE(shown["sessions"][1]["resume"]["outcome"], "continues exactly");
        std::set<std::int64_t> saved, evaluated, logged;
        for (const auto& checkpoint : shown["checkpoints"]) saved.insert(checkpoint["step"].get<std::int64_t>());
        QCOMPARE(saved, (std::set<std::int64_t>{4, 8}));
        const auto reader = store::RunReader::open(run.database()).value();
        const auto losses = reader->points("eval/loss", store::RunReader::Line::All).value();
        for (const store::Point& point : losses) evaluated.insert(point.step);
        QCOMPARE(evaluated, (std::set<std::int64_t>{4, 8}));
        const auto rows = reader->points("train/loss", store::RunReader::Line::All).value();
        for (const store::Point& point : rows) logged.insert(point.step);
        QCOMPARE(logged, (std::set<std::int64_t>{2, 4, 6, 8}));
        const auto events = reader->events().value();
        for (const store::EventRow& row : events)
            if (row.event.kind == "evaluation") QCOMPARE(nlohmann::json::parse(row.event.json)["samples"], 4 * 16);
    }

    void aDryRunTellsWhatCameOfItAndLeavesNothing() {
        const Answer text = m_work.ask({"check", "digits-convnet", "--dry-run"});
        QVERIFY2(text.code == 0, (text.out + text.err).c_str());
        for (const char* part : {"Trained 6 updates", "Evaluated 96 samples", "Saved a checkpoint of", "Went on from it: continues exactly"})
            QVERIFY2(text.out.find(part) != std::string::npos, text.out.c_str());
        const Answer facts = m_work.ask({"check", "digits-convnet", "--dry-run", "--json"});
        QCOMPARE(facts.json()["ok"], true);
        QCOMPARE(facts.json()["updates"], 6);
        QCOMPARE(facts.json()["resume"]["outcome"], "continues exactly");
        QVERIFY(!std::filesystem::exists(m_work.folder() / "scratch"));
    }

    // lengths, rates and intervals are those of the run that is tried, not of the few updates that are made of it
    void aDryRunSpeaksOfTheConfiguredRun() {
        const Answer text = m_work.ask({"check", "digits-convnet", "--dry-run", "--set", "schedule.warmup_updates=10", "--set", "run.epochs=2"});
        QVERIFY2(text.code == 0, (text.out + text.err).c_str());
        QVERIFY2(text.out.find("in all") != std::string::npos && text.out.find("Trained 6 updates of the run for a trial") != std::string::npos, text.out.c_str());
        for (const char* part : {"the run has 3", "the run has 6", "/3 ", "/6 ", "curve is now", "never reaches"}) QVERIFY2((text.out + text.err).find(part) == std::string::npos, (text.out + text.err).c_str());
        const Answer doubted = m_work.ask({"check", "digits-convnet", "--dry-run", "--set", "schedule.warmup_updates=10", "--set", "run.max_updates=2"});
        QVERIFY2(doubted.code == 0 && doubted.err.find("10 updates and the run has 2") != std::string::npos, (doubted.out + doubted.err).c_str());
    }

    void whatOnlyRealStepsShowIsTold() {
        const std::filesystem::path table = m_work.scratch() / "huge.csv";
        std::string text = "a,y\n";
        for (int i = 0; i < 80; ++i) text += "1e30," + std::to_string(i) + "\n";
        QVERIFY(replaceFile(FileSystem::real(), table, text).ok());
        const QStringList words{"check", "csv-regression", "--dry-run", "--set", QString::fromStdString("data.train=" + table.string()), "--set", "data.target=y", "--set",
                                "data.standardize=false", "--set", "precision.max_skipped_in_a_row=2"};
        const Answer answer = m_work.ask(words);
        QCOMPARE(answer.code, static_cast<int>(ExitCode::Failed));
        QVERIFY2(answer.out.find("It did not come through: 2 updates in a row were skipped") != std::string::npos, (answer.out + answer.err).c_str());
        const Answer unusable = m_work.ask({"check", "digits-convnet", "--dry-run", "--set", "data.batch_size=0"});
        QCOMPARE(unusable.code, static_cast<int>(ExitCode::Usage));
        QVERIFY(!std::filesystem::exists(m_work.folder() / "scratch"));
    }

private:
    QString written(const std::string& more) {
        const std::filesystem::path file = m_work.scratch() / "flat.yaml";
        if (!replaceFile(FileSystem::real(), file, kFlat + more).ok()) qFatal("cannot write %s", file.c_str());
        return QString::fromStdString(file.string());
    }
    Workspace m_work;
};

QTEST_GUILESS_MAIN(TrialTest)
#include "tst_trial.moc"
