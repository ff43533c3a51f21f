// labels: process fault
// timeout: 300
// The worker's side of its contract: what it hears, what it says, and how it ends, in real processes.
#include "worker_run.h"

#include "base/file_system.h"
#include "base/program_paths.h"

#include <QtTest>

#include <cmath>
#include <csignal>
#include <fstream>
#include <sys/mount.h>
#include <sys/stat.h>

using namespace lathe;
using namespace lathe::tests;

namespace {

namespace stdfs = std::filesystem;

/// Goes on until something ends it.
config::RunConfig endlessConfig() {
    config::RunConfig config = digitsConfig();
    config.run.maxUpdates = 1'000'000'000;
    return config;
}

template <typename Condition>
bool recordUntil(WorkerRun& run, const Condition& condition, int seconds = 60) {
    QElapsedTimer timer;
    timer.start();
    while (!condition()) {
        if (!run.running() || timer.elapsed() > seconds * 1000) return condition();
        run.record();
        QTest::qWait(1);
    }
    return true;
}

bool reached(WorkerRun& run, std::size_t rows) {
    return recordUntil(run, [&] { return run.rows().size() >= rows; });
}

QString endedText(const WorkerRun& run) {
    const auto ended = run.events("ended");
    return ended.empty() ? QString("no ended event") : QString::fromStdString(ended.back().json);
}

QString firstText(const std::vector<live::EventFrame>& events) {
    return events.empty() ? QString("none") : QString::fromStdString(events.front().text);
}

}  // namespace

class WorkerTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_workspace = m_folder->path().toStdString();
    }

    void completedRunTellsEverything() {
        config::RunConfig config = digitsConfig();
        config.evaluation.every = {Interval::Unit::Updates, 10};
        WorkerRun run(m_workspace, config);
        run.start(config);
        QVERIFY(run.wait());
        QCOMPARE(run.exitCode(), static_cast<int>(ExitCode::Completed));
        QCOMPARE(run.rows().size(), std::size_t(20));
        for (const char* name : {"train/loss", "train/lr", "train/grad_norm", "train/samples_per_second", "train/skipped"})
            QVERIFY2(run.rows()[4].values.contains(name), name);
        QVERIFY(run.rows()[9].values.contains("eval/accuracy") && run.rows()[9].values.contains("eval/loss"));
        QCOMPARE(run.events("evaluation").size(), std::size_t(2));
        QVERIFY(run.events("plan").at(0).json.find("\"planned_updates\":20") != std::string::npos);
        QVERIFY(run.events("environment").at(0).json.find("LibTorch") != std::string::npos);
        QVERIFY2(endedText(run).contains("\"state\":\"completed\""), qPrintable(endedText(run)));
        QVERIFY(endedText(run).contains("s001-000000020"));
        QCOMPARE(run.heartbeat()->phase, live::Phase::Ended);
        QCOMPARE(run.heartbeat()->step, 20);
        const auto checkpoint = run.folder.checkpoints() / "s001-000000020";
        QVERIFY(rundir::verifyCheckpoint(checkpoint)->ok());
        QVERIFY(rundir::readCheckpoint(checkpoint)->metrics.contains("eval/accuracy"));
    }

    void controlsAreObeyed() {
        config::RunConfig config = endlessConfig();
        WorkerRun run(m_workspace, config);
        run.start(config);
        QVERIFY(reached(run, 3));
        live::Control control = run.currentControl();
        control.number = 1;
        control.saveRequests = 1;
        run.control(control);
        QVERIFY(recordUntil(run, [&] { return run.events("checkpoint").size() == 1; }));
        QVERIFY(run.events("checkpoint")[0].json.find("\"reason\":\"asked\"") != std::string::npos);

        control = run.currentControl();
        control.number = 2;
        control.pause = true;
        run.control(control);
        QVERIFY(recordUntil(run, [&] { return run.heartbeat()->phase == live::Phase::Paused; }));
        QCOMPARE(run.heartbeat()->acknowledged, 2);
        run.record();
        const auto paused = run.rows().back().attempt;
        control = run.currentControl();
        control.number = 3;
        control.saveRequests = 2;
        run.control(control);  // a save works while paused, and does not end the pause
        QVERIFY(recordUntil(run, [&] { return run.events("checkpoint").size() == 2; }));
        QVERIFY(recordUntil(run, [&] { return run.heartbeat()->phase == live::Phase::Paused; }));
        QCOMPARE(run.rows().back().attempt, paused);
        QCOMPARE(run.events("paused").size(), std::size_t(1));
        control = run.currentControl();
        control.number = 4;
        control.pause = false;
        run.control(control);
        QVERIFY(recordUntil(run, [&] { return run.rows().back().attempt > paused; }));
        QCOMPARE(run.events("resumed").size(), std::size_t(1));

        control = run.currentControl();
        control.number = 5;
        control.stop = live::Control::Stop::SaveAndStop;
        run.control(control);
        QVERIFY(run.wait());
        QCOMPARE(run.exitCode(), static_cast<int>(ExitCode::Stopped));
        QVERIFY(endedText(run).contains("\"state\":\"stopped\""));
        const auto named = rundir::parseCheckpointName(run.newestCheckpoint());
        QCOMPARE(named->step.value(), run.rows().back().step);
    }

    void discardSavesNothing() {
        config::RunConfig config = endlessConfig();
        WorkerRun run(m_workspace, config);
        run.start(config);
        QVERIFY(reached(run, 2));
        live::Control control = run.currentControl();
        control.number = 1;
        control.stop = live::Control::Stop::Discard;
        run.control(control);
        QVERIFY(run.wait());
        QCOMPARE(run.exitCode(), static_cast<int>(ExitCode::Stopped));
        QCOMPARE(run.newestCheckpoint(), std::string());
    }

    void signalSavesAndStops_data() {
        QTest::addColumn<int>("number");
        QTest::newRow("SIGTERM") << SIGTERM;
        QTest::newRow("SIGINT") << SIGINT;
        QTest::newRow("SIGHUP") << SIGHUP;
    }
    void signalSavesAndStops() {
        QFETCH(int, number);
        config::RunConfig config = endlessConfig();
        WorkerRun run(m_workspace, config);
        run.start(config);
        QVERIFY(reached(run, 2));
        run.signal(number);
        QVERIFY(run.wait());
        QCOMPARE(run.exitCode(), static_cast<int>(ExitCode::Stopped));
        QVERIFY(rundir::verifyCheckpoint(run.folder.checkpoints() / run.newestCheckpoint())->ok());
    }

    void secondSignalLeavesAtOnce() {
        config::RunConfig config = endlessConfig();
        WorkerRun run(m_workspace, config);
        run.start(config);
        QVERIFY(reached(run, 2));
        run.signal(SIGTERM);
        run.signal(SIGINT);
        QVERIFY(run.wait());
        QCOMPARE(run.exitCode(), static_cast<int>(ExitCode::Interrupted));
        QVERIFY(run.events("ended").empty());
        QCOMPARE(run.newestCheckpoint(), std::string());
    }

    void lostSupervisorLosesNothing() {
        config::RunConfig config = endlessConfig();
        WorkerRun run(m_workspace, config);
        run.start(config);
        QVERIFY(reached(run, 5));
        run.closeLifeline();  // and from here on nobody records
        QElapsedTimer timer;
        timer.start();
        while (run.running() && timer.elapsed() < 60'000) QTest::qWait(1);
        QCOMPARE(run.exitCode(), static_cast<int>(ExitCode::Interrupted));
        QVERIFY(!run.newestCheckpoint().empty());
        const auto recorded = run.currentControl().recordedSeq.at(0);
        const auto spilled = live::readSpill(run.folder.spill(), 1, 0, 1);
        QVERIFY(spilled.ok() && !spilled->damage);
        const std::vector<live::Frame>& frames = spilled->frames;
        QVERIFY(!frames.empty());
        QVERIFY(frames.front().sequence <= recorded + 1);
        QVERIFY(frames.back().type == live::FrameType::Event);
        QCOMPARE(live::decodeEvent(frames.back().payload)->kind, std::string("ended"));
        for (std::size_t i = 1; i < frames.size(); ++i) QCOMPARE(frames[i].sequence, frames[i - 1].sequence + 1);
    }

    void stoppedRecorderDoesNotStopTraining() {
        config::RunConfig config = digitsConfig();
        config.run.maxUpdates = 40;
        config.checkpoint.every = {Interval::Unit::Updates, 20};
        WorkerRun run(m_workspace, config);
        run.start(config);
        run.stopReporting();
        QVERIFY(run.wait());
        QCOMPARE(run.exitCode(), 0);
        QCOMPARE(run.rows().size(), std::size_t(40));
        QCOMPARE(run.newestCheckpoint(), std::string("s001-000000040"));
        QVERIFY(!live::readSpill(run.folder.spill(), 1, 0, 1)->frames.empty());
    }

    void damagedCheckpointIsRefusedByName() {
        config::RunConfig config = digitsConfig();
        WorkerRun run(m_workspace, config);
        run.start(config);
        QVERIFY(run.wait());
        const stdfs::path file = run.folder.checkpoints() / "s001-000000020" / "optimizer-00000.safetensors";
        std::string content = readFile(file, 1u << 26).value();
        content[content.size() - 9] = static_cast<char>(content[content.size() - 9] ^ 1);
        std::ofstream(file, std::ios::binary) << content;
        run.start(config, "s001-000000020");
        QVERIFY(run.wait());
        QCOMPARE(run.exitCode(), static_cast<int>(ExitCode::Failed));
        QVERIFY2(endedText(run).contains("optimizer-00000.safetensors is damaged"), qPrintable(endedText(run)));
        QVERIFY(run.rows().empty());
        QCOMPARE(run.events("ended").at(0).step, 20);  // where it stood, not at the start of the run
    }

    void otherShapesAreRefusedByName() {
        config::RunConfig config = digitsConfig();
        WorkerRun run(m_workspace, config);
        run.start(config);
        QVERIFY(run.wait());
        config.model.hidden = {64, 32};
        run.start(config, "s001-000000020");
        QVERIFY(run.wait());
        QCOMPARE(run.exitCode(), static_cast<int>(ExitCode::Failed));
        QVERIFY2(endedText(run).contains("2.weight has shape [64 x 64], this model needs [32 x 64]"), qPrintable(endedText(run)));
    }

    void missingDataNamesTheKey() {
        config::RunConfig config = digitsConfig();
        config.data.train = "/nowhere/images.idx3-ubyte";
        WorkerRun run(m_workspace, config);
        run.start(config);
        QVERIFY(run.wait());
        QCOMPARE(run.exitCode(), static_cast<int>(ExitCode::Failed));
        QVERIFY2(endedText(run).contains("/nowhere/images.idx3-ubyte") && endedText(run).contains("data.train"), qPrintable(endedText(run)));
    }

    void exhaustedMemorySaysWhatToChange() {
        config::RunConfig config = digitsConfig();
        config.model.hidden = {65536, 65536};
        config.parallel.threads = 1;
        WorkerRun run(m_workspace, config);
        run.limitMemory(std::uint64_t{4} << 30);
        run.start(config);
        QVERIFY(run.wait());
        QCOMPARE(run.exitCode(), static_cast<int>(ExitCode::OutOfMemory));
        QVERIFY2(endedText(run).contains("choose a smaller one") && endedText(run).contains("out of memory"), qPrintable(endedText(run)));
    }

    void divergenceEndsTheRunAndKeepsTheLastGoodCheckpoint() {
        config::RunConfig config = endlessConfig();
        config.precision.maxSkippedInARow = 7;
        config.checkpoint.every = {Interval::Unit::Updates, 1};
        config.optimizer.name = "sgd";
        config.optimizer.learningRate = 1000;
        config.optimizer.weightDecay = 1;
        config.optimizer.maxGradNorm.reset();
        config.schedule.name = "constant";
        config.schedule.warmupUpdates = 0;
        WorkerRun run(m_workspace, config);
        run.start(config);
        QVERIFY(run.wait());
        QVERIFY2(run.exitCode() == static_cast<int>(ExitCode::Diverged), qPrintable(endedText(run)));
        QCOMPARE(run.events("skipped").size(), std::size_t(7));
        QVERIFY(!std::isfinite(run.rows().back().values.at("train/loss")));
        QCOMPARE(run.rows().back().attempt - run.rows().back().step, 7);
        QVERIFY(rundir::verifyCheckpoint(run.folder.checkpoints() / run.newestCheckpoint())->ok());
    }

    /// SEMANTICS G5: a full disk is told with what is needed and what is there; with room again, the next save works
    void fullDiskKeepsTrainingAndSavesLater() {
        const std::string disk = (m_workspace / "disk").string();
        stdfs::create_directories(disk);
        if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=4m,mode=700") != 0) QSKIP("a small disk cannot be mounted here");
        const auto unmount = qScopeGuard([&] { ::umount2(disk.c_str(), MNT_DETACH); });
        config::RunConfig config = endlessConfig();
        config.checkpoint.every = {Interval::Unit::Updates, 50};
        config.telemetry.logEvery = {Interval::Unit::Updates, 10};
        WorkerRun run(disk, config);
        const std::string ballast = disk + "/ballast";
        std::ofstream(ballast) << std::string(3'300'000, 'x');
        run.start(config);
        QVERIFY(recordUntil(run, [&] { return run.events("save_failed").size() >= 2; }));
        QVERIFY2(firstText(run.events("save_failed")).contains("need 1.") && firstText(run.events("save_failed")).contains("have "),
                 qPrintable(firstText(run.events("save_failed"))));
        QVERIFY(run.checkpoints().empty());
        stdfs::remove(ballast);
        QVERIFY(recordUntil(run, [&] { return !run.events("checkpoint").empty(); }));
        run.signal(SIGKILL);
        QVERIFY(run.wait());
        QVERIFY(rundir::verifyCheckpoint(run.folder.checkpoints() / run.newestCheckpoint())->ok());
    }

    void forkTakesTheEntireStateAndWeightsStartAnew() {
        config::RunConfig config = digitsConfig();
        WorkerRun origin(m_workspace, config);
        origin.start(config);
        QVERIFY(origin.wait());
        config.run.maxUpdates = 30;
        WorkerRun fork(m_workspace, config, origin, "s001-000000020", false);
        QVERIFY(fork.wait());
        QCOMPARE(fork.rows().front().step, 21);
        QVERIFY(firstText(fork.events("resume_report")).contains("continues exactly"));
        WorkerRun weights(m_workspace, config, origin, "s001-000000020", true);
        QVERIFY(weights.wait());
        QCOMPARE(weights.rows().front().step, 1);
        QCOMPARE(weights.rows().back().step, 30);
        QVERIFY(weights.rows().front().values.at("train/loss") < origin.rows().front().values.at("train/loss"));
        QVERIFY(weights.events("resume_report").empty());
    }

    void changesAreToldAndNotComparable() {
        config::RunConfig config = digitsConfig();
        config.schedule.totalUpdates.reset();
        WorkerRun run(m_workspace, config);
        run.start(config);
        QVERIFY(run.wait());
        config.run.maxUpdates = 40;
        config.optimizer.learningRate = 1e-4;
        config.parallel.threads = 2;
        run.start(config, run.newestCheckpoint());
        QVERIFY(run.wait());
        QString told;
        for (const auto& event : run.events("warning")) told += QString::fromStdString(event.text) + "\n";
        QVERIFY2(told.contains("The run is now 40 updates long; its learning-rate curve keeps 20"), qPrintable(told));
        QVERIFY2(told.contains("optimizer.learning_rate"), qPrintable(told));
        const QString report = firstText(run.events("resume_report"));
        QVERIFY2(report.contains("threads 1 → 2") && report.contains("optimizer.learning_rate"), qPrintable(report));
        for (const RecordedRow& row : run.rows()) QCOMPARE(row.values.at("train/lr"), 0.0);  // the curve's end value
    }

    /// SEMANTICS F5: stopped within an epoch, the rest of it is trained and evaluated as in the straight run
    void evaluationsOfAStoppedRunEqualTheStraightOnes() {
        config::RunConfig config = digitsConfig();
        config.run.maxUpdates.reset();
        config.run.epochs = 4;
        config.evaluation.every = {Interval::Unit::Epochs, 1};
        const auto evaluations = [](const WorkerRun& run) {
            std::vector<std::pair<std::int64_t, double>> all;
            for (const RecordedRow& row : run.rows())
                if (row.values.contains("eval/loss")) all.emplace_back(row.step, row.values.at("eval/loss"));
            return all;
        };
        WorkerRun straight(m_workspace, config), stopped(m_workspace, config);
        straight.start(config);
        QVERIFY(straight.wait());
        stopped.start(config);
        QVERIFY(reached(stopped, 30));
        stopped.signal(SIGTERM);
        QVERIFY(stopped.wait());
        auto parts = evaluations(stopped);
        stopped.start(config, stopped.newestCheckpoint());
        QVERIFY(stopped.wait());
        const auto rest = evaluations(stopped);
        parts.insert(parts.end(), rest.begin(), rest.end());
        QCOMPARE(evaluations(straight).size(), std::size_t(4));
        QVERIFY(parts == evaluations(straight));
    }

    void evalVerbRepeatsTheRecordedEvaluation() {
        config::RunConfig config = digitsConfig();
        config.evaluation.every = {Interval::Unit::Updates, 20};
        WorkerRun run(m_workspace, config);
        run.start(config);
        QVERIFY(run.wait());
        QProcess eval;
        eval.start(LATHE_BIN_DIR "/lathe-worker", {"eval", "--run", QString::fromStdString(run.folder.root().string()), "--checkpoint", "s001-000000020"});
        QVERIFY(eval.waitForFinished());
        QCOMPARE(eval.exitCode(), 0);
        const auto answer = QJsonDocument::fromJson(eval.readAllStandardOutput()).object();
        QCOMPARE(answer["metrics"].toObject()["eval/loss"].toString().toDouble(), run.rows().back().values.at("eval/loss"));
        QCOMPARE(answer["samples"].toInt(), 359);
    }

    void describeCountsParameters() {
        QProcess describe;
        describe.start(LATHE_BIN_DIR "/lathe-worker", {"describe", "--config", "digits-mlp"});
        QVERIFY(describe.waitForFinished());
        const auto answer = QJsonDocument::fromJson(describe.readAllStandardOutput()).object();
        QCOMPARE(answer["parameters"].toInt(), 64 * 64 + 64 + 64 * 64 + 64 + 64 * 10 + 10);
        QCOMPARE(answer["updates_per_epoch"].toInt(), 45);
    }

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    stdfs::path m_workspace;
};

QTEST_GUILESS_MAIN(WorkerTest)
#include "tst_worker.moc"
