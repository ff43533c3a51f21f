// labels: process slow
// timeout: 600
// The real programs on real data: train, record, stop, go on, export, and end at any moment.
#include "base/number_text.h"
#include "config/config.h"
#include "dataset/dataset.h"
#include "launch/run/checkpoint_choice.h"
#include "launch/run/run_settings.h"
#include "launch/run/standing.h"
#include "plan/order.h"
#include "rundir/checkpoint_manifest.h"
#include "store/run_store.h"
#include "trainer_process.h"

#include <QtTest/QTest>

#include <map>
#include <random>

using namespace lathe;
using namespace lathe::test;
using nlohmann::json;
using rundir::State;

static std::vector<store::Point> pointsOf(const rundir::RunFolder& run, const char* series) {
    const auto reader = store::RunReader::open(run.database());
    const auto points = reader ? (*reader)->points(series, store::RunReader::Line::Surviving) : Result<std::vector<store::Point>>(reader.error());
    return points ? *points : std::vector<store::Point>();
}

/// Each step of the line once, from 1 to `last`.
static void everyStepOnce(const rundir::RunFolder& run, std::int64_t last) {
    for (const char* series : {"train/loss", "train/lr", "train/grad_norm", "train/samples_per_second"}) {
        const auto points = pointsOf(run, series);
        QCOMPARE(std::int64_t(points.size()), last);
        for (std::size_t i = 0; i < points.size(); ++i) QCOMPARE(points[i].step, std::int64_t(i) + 1);
    }
}

static void nothingRuns(const rundir::RunFolder& run) {
    QVERIFY(!rundir::RunLock::isHeld(run.lock()) && !rundir::RunLock::isHeld(run.workersLock()));
    QVERIFY(!std::filesystem::exists(run.liveJson()) && !std::filesystem::exists(run.socket()));
}

/// A Python that has numpy and safetensors, or empty.
static QString python() {
    for (const QString& candidate : {qEnvironmentVariable("LATHE_PYTHON"), QStringLiteral(LATHE_SOURCE_DIR "/../venv-torch/bin/python"),
                                     QStringLiteral("python3")}) {
        QProcess process;
        if (candidate.isEmpty()) continue;
        process.start(candidate, {"-c", "import numpy, safetensors.numpy"});
        if (process.waitForFinished() && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0) return candidate;
    }
    return {};
}

class TestWholePath : public QObject {
    Q_OBJECT

    std::unique_ptr<Workspace> m_workspace;
    QStringList m_short = {"--set", "run.epochs=3"};

    Answer ask(const QStringList& words) const { return m_workspace->ask(words, 240'000); }

    /// A run without an end of its own that has made some steps and saved once.
    rundir::RunFolder endless() const {
        const Answer answer = ask({"run", "digits-mlp", "--detach", "--set", "run.epochs=none", "--set", "run.max_updates=1000000000", "--set", "checkpoint.every=20 updates", "--set", "run.restarts_per_hour=0"});
        if (answer.code != 0) qFatal("did not start: %s", answer.err.c_str());
        const auto run = m_workspace->latest();
        if (!eventually([&] { return pointsOf(run, "train/loss").size() > 30 && !launch::newestOnLine(run).empty(); }, 120'000)) qFatal("no steps");
        return run;
    }

private Q_SLOTS:
    void init() { m_workspace = std::make_unique<Workspace>(); }

    void aRunRecordsEveryUpdate() {
        const Answer answer = ask(QStringList{"run", "digits-mlp", "--json"} + m_short);
        QVERIFY2(answer.code == 0, answer.err.c_str());
        const auto run = m_workspace->latest();
        everyStepOnce(run, 135);
        QCOMPARE(answer.json()["counters"]["global_step"], json(135));
        QCOMPARE(answer.json()["counters"]["epoch"], json(3));
        QCOMPARE(pointsOf(run, "eval/accuracy").size(), std::size_t{3});
        QCOMPARE(answer.json()["best"]["metric"], json("eval/accuracy"));
        QVERIFY((*store::RunReader::open(run.database()))->verify().ok());
        QCOMPARE(ask({"verify", "latest@latest"}).code, 0);
        nothingRuns(run);
        // What is in the exit record is what was promised for bit-equal numbers.
        QVERIFY(!rundir::readSession(run, 1)->environment.empty());
        // The last one is there before its evaluation and has what that found afterwards.
        std::map<std::string, int> told;
        const auto events = (*store::RunReader::open(run.database()))->events();
        for (const store::EventRow& row : *events)
            if (row.event.kind == "checkpoint") ++told[row.event.text.substr(0, row.event.text.find(" ("))];
        for (const char* saved : {"Saved checkpoint s001-000000135", "Its evaluation was added to checkpoint s001-000000135"}) QCOMPARE(told[saved], 1);
        for (const auto& [text, times] : told) QVERIFY2(times == 1, text.c_str());
    }
    void theEffectiveConfigurationIsWhatWasSet() {
        QCOMPARE(ask({"run", "digits-mlp", "--set", "run.max_updates=2", "--set", "optimizer.learning_rate=0.00123"}).code, 0);
        const auto config = launch::configOf(m_workspace->latest(), 1);
        QVERIFY(config.ok());
        QCOMPARE(config->optimizer.learningRate, 0.00123);
        QCOMPARE(*readFile(m_workspace->latest().configYaml(), 1 << 20), *readFile(m_workspace->latest().sessionYaml(1), 1 << 20));
        // The rate that was set is the rate that was used: warm-up over 45 updates.
        QVERIFY(qAbs(pointsOf(m_workspace->latest(), "train/lr").at(1).value - 0.00123 * 2 / 45) < 1e-12);
    }
    void aKilledWorkerIsReportedAndContinued() {
        const auto run = endless();
        const auto live = *rundir::readLive(run);
        ::kill(static_cast<pid_t>(live->workers.at(0).pid), SIGKILL);
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(run.lock()); }));
        QVERIFY(launch::standingOf(run).state == State::Killed);
        nothingRuns(run);
        const std::string newest = launch::newestOnLine(run);
        QVERIFY(!newest.empty());
        const std::int64_t target = rundir::parseCheckpointName(newest)->step.value() + 10;
        const Answer next = ask({"continue", "latest", "--set", "run.max_updates=" + QString::number(target)});
        QVERIFY2(next.code == 0, next.err.c_str());
        everyStepOnce(run, target);
    }
    void aLostSupervisorLosesNothing() {
        const auto run = endless();
        const auto live = *rundir::readLive(run);
        ::kill(static_cast<pid_t>(live->supervisor.pid), SIGKILL);
        QVERIFY(eventually([&] { return !processLives(live->workers.at(0).pid); }, 60'000));
        QVERIFY(launch::standingOf(run).state == State::Interrupted);
        const auto saved = rundir::parseCheckpointName(launch::newestOnLine(run));
        QVERIFY(saved.has_value());
        const Answer next = ask({"continue", "latest", "--set", "run.max_updates=" + QString::number(saved->step.value() + 5)});
        QVERIFY2(next.code == 0, next.err.c_str());
        everyStepOnce(run, saved->step.value() + 5);
        QVERIFY(rundir::readSession(run, 1)->state == State::Interrupted);
        nothingRuns(run);
    }
    void aSignalAtAnyMomentEndsCleanly() {
        const unsigned seed = qEnvironmentVariableIsSet("LATHE_SEED") ? qEnvironmentVariable("LATHE_SEED").toUInt() : std::random_device{}();
        qInfo("LATHE_SEED=%u", seed);
        std::mt19937 random(seed);
        for (int round = 0; round < 6; ++round) {
            const auto process = m_workspace->start(QStringList{"run", "digits-mlp", "--json"} + m_short);
            QVERIFY(process->waitForStarted());
            process->waitForFinished(static_cast<int>(random() % 3000));
            const int number = random() % 2 == 0 ? SIGINT : SIGTERM;
            if (process->state() == QProcess::Running) ::kill(static_cast<pid_t>(process->processId()), number);
            const Answer answer = Workspace::finish(*process, 120'000);
            const auto runs = rundir::listRuns(m_workspace->folder());
            if (static_cast<int>(runs.size()) == round) continue;  // before there was a run
            const auto standing = launch::standingOf(runs.front());
            QVERIFY2(!rundir::isAlive(standing.state), std::string(rundir::name(standing.state)).c_str());
            QVERIFY2(answer.code == 4 || answer.code == 0 || answer.code == -1, (std::to_string(answer.code) + answer.err).c_str());
            QVERIFY(!rundir::RunLock::isHeld(runs.front().lock()));
            for (const auto& info : rundir::listCheckpoints(runs.front().checkpoints())) QVERIFY2(info.problem.empty(), info.problem.c_str());
        }
    }
    void theExportedModelIsTheTrainedOne_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QStringList>("settings");
        QTest::newRow("mlp") << "digits-mlp" << QStringList{"--set", "run.epochs=3"};
        QTest::newRow("convnet") << "digits-convnet" << QStringList{"--set", "run.epochs=1", "--set", "model.batch_norm=true"};
        QTest::newRow("resnet") << "digits-resnet" << QStringList{"--set", "run.max_updates=8"};
    }
    void theExportedModelIsTheTrainedOne() {
        QFETCH(QString, preset);
        QFETCH(QStringList, settings);
        const QString program = python();
        if (program.isEmpty()) QSKIP("no Python with numpy and safetensors here");
        const Answer trained = ask(QStringList{"run", preset} + settings);
        QVERIFY2(trained.code == 0, trained.err.c_str());
        const auto run = m_workspace->latest();
        QCOMPARE(ask({"export", "latest@latest"}).code, 0);
        const auto manifest = rundir::readCheckpoint(run.checkpoints() / launch::newestOnLine(run));
        // The held-out pictures as raw bytes, for a program that knows nothing of Lathe.
        const auto config = *launch::configOf(run, 1);
        const auto data = *dataset::open(config.data, config.task, dataset::Part::Train);
        const auto held = plan::split(data->info().samples, config.data.evalFraction, static_cast<std::uint64_t>(config.data.splitSeed)).eval;
        json pictures = json::array(), labels = json::array();
        std::vector<double> values(static_cast<std::size_t>(data->info().inputElements()));
        for (const std::int64_t sample : held) {
            QVERIFY(data->input(sample, nullptr, std::span(values)).ok());
            json picture = json::array();
            for (const double value : values) picture.push_back(qRound(value * 255));
            pictures.push_back(std::move(picture));
            labels.push_back(data->label(sample));
        }
        QVERIFY(replaceFile(FileSystem::real(), run.exportFolder() / "held.json", json{{"pictures", pictures}, {"labels", labels}}.dump()).ok());
        QProcess process;
        process.setWorkingDirectory(QString::fromStdString(run.exportFolder().string()));
        process.start(program, {"-c", QStringLiteral("import json, numpy as np\n"
                                                      "from load import load\n"
                                                      "held = json.load(open('held.json'))\n"
                                                      "m = load()\n"
                                                      "r = m.preprocessing\n"
                                                      "x = np.array(held['pictures'], dtype=np.uint8).reshape(-1, r['height'], r['width'], r['channels'])\n"
                                                      "found = m.predict(m.prepare(x)).argmax(axis=1)\n"
                                                      "print(float((found == np.array(held['labels'])).mean()))\n")});
        QVERIFY(process.waitForFinished(120'000));
        const auto accuracy = readDouble(process.readAllStandardOutput().trimmed().toStdString());
        QVERIFY2(accuracy.has_value(), process.readAllStandardError().constData());
        const auto reported = readDouble(manifest->metrics.at("eval/accuracy"));
        QVERIFY2(reported && std::abs(*reported - *accuracy) < 1e-9, (exactText(*accuracy) + " is not " + manifest->metrics.at("eval/accuracy")).c_str());
    }
    void checkKnowsTheModel() {
        const Answer fits = ask({"check", "digits-mlp"});
        QVERIFY2(fits.code == 0 && fits.out.find("8970 parameters") != std::string::npos, (fits.out + fits.err).c_str());
    }
    void selftestPasses() {
        const Answer answer = ask({"selftest"});
        QVERIFY2(answer.code == 0 && answer.out.find("LibTorch 2.") != std::string::npos, (answer.out + answer.err).c_str());
    }
};

QTEST_GUILESS_MAIN(TestWholePath)
#include "tst_whole_path.moc"
