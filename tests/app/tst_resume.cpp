// labels: process
// timeout: 300
// Whole worker processes: an interrupted run equals an uninterrupted one, bit for bit.
#include "worker_run.h"

#include "base/file_system.h"

#include <QtTest>

#include <bit>
#include <csignal>

using namespace lathe;
using namespace lathe::tests;

namespace {

const std::vector<std::string> kExact{"train/loss", "train/lr", "train/grad_norm"};

/// Everything that can break exactness at once: dropout, augmentation, shuffling, accumulation 3, a window tail.
config::RunConfig hardConfig() {
    config::RunConfig config = digitsConfig();
    config.model.dropout = 0.1;
    config.data.augmentFlip = true;
    config.data.augmentShift = 1;
    config.data.batchSize = 8;
    config.accumulation.microBatches = 3;
    return config;
}

config::RunConfig upTo(config::RunConfig config, std::int64_t updates) {
    config.run.maxUpdates = updates;
    return config;
}

void append(std::vector<RecordedRow>& all, const std::vector<RecordedRow>& more) {
    all.insert(all.end(), more.begin(), more.end());
}

std::string bitsText(double value) { return QString::number(std::bit_cast<quint64>(value), 16).toStdString(); }

/// Empty when rows are equal in attempt, step and the bits of every exact series.
std::string firstDifference(const std::vector<RecordedRow>& a, const std::vector<RecordedRow>& b) {
    if (a.size() != b.size()) return std::to_string(a.size()) + " rows against " + std::to_string(b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].attempt != b[i].attempt || a[i].step != b[i].step) return "keys of row " + std::to_string(i);
        for (const std::string& name : kExact)
            if (bitsText(a[i].values.at(name)) != bitsText(b[i].values.at(name))) return name + " at attempt " + std::to_string(a[i].attempt);
    }
    return {};
}

std::string fileContent(const std::filesystem::path& path) { return readFile(path, 1u << 30).value(); }

/// Empty when both checkpoints hold the same bytes of weights and optimizer.
std::string tensorDifference(const WorkerRun& a, const WorkerRun& b) {
    for (const char* name : {"model-00000.safetensors", "optimizer-00000.safetensors"})
        if (fileContent(a.folder.checkpoints() / a.newestCheckpoint() / name) != fileContent(b.folder.checkpoints() / b.newestCheckpoint() / name))
            return name;
    return {};
}

std::string reportOf(const WorkerRun& run) {
    const auto reports = run.events("resume_report");
    return reports.empty() ? "none" : reports.front().json;
}

}  // namespace

class ResumeTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { QVERIFY(m_folder.isValid()); }

    void resumeEqualsStraightRun_data() {
        QTest::addColumn<int>("loaderThreads");
        QTest::newRow("threads 0") << 0;
        QTest::newRow("threads 1") << 1;
        QTest::newRow("threads 2") << 2;
    }
    void resumeEqualsStraightRun() {
        QFETCH(int, loaderThreads);
        config::RunConfig config = hardConfig();
        WorkerRun& straight = straightRun();
        config.data.loaderThreads = loaderThreads;
        WorkerRun run(workspace(), config);
        std::vector<RecordedRow> rows;
        for (const int updates : {20, 40, 60}) {
            run.start(upTo(config, updates), run.newestCheckpoint());
            QVERIFY(run.wait());
            QCOMPARE(run.exitCode(), 0);
            append(rows, run.rows());
            if (updates > 20) QVERIFY2(reportOf(run).find("continues exactly") != std::string::npos, reportOf(run).c_str());
        }
        QCOMPARE(firstDifference(straight.rows(), rows), std::string());
        QCOMPARE(tensorDifference(straight, run), std::string());
    }

    void killedRunEqualsStraightRun() {
        config::RunConfig config = hardConfig();
        config.checkpoint.every = {Interval::Unit::Updates, 10};
        WorkerRun run(workspace(), config);
        run.start(upTo(config, 60));
        const auto killAfter = [&](std::size_t count) {
            while (run.running() && run.rows().size() < count) run.record();
            run.signal(SIGKILL);
            return run.wait();
        };
        QVERIFY(killAfter(35));
        QCOMPARE(run.exitCode(), -SIGKILL);
        std::vector<RecordedRow> rows = run.rows();
        const std::string checkpoint = run.newestCheckpoint();
        QVERIFY(!checkpoint.empty());
        const auto step = rundir::parseCheckpointName(checkpoint)->step.value();
        QVERIFY(step >= 20);  // that of update 30 may have been on its way to the disk; it began when the one before was there
        rows.resize(static_cast<std::size_t>(step));  // what came after the checkpoint is lost and done again
        run.start(upTo(config, 60), checkpoint);
        QVERIFY(run.wait());
        append(rows, run.rows());
        QCOMPARE(firstDifference(straightRun().rows(), rows), std::string());
        QCOMPARE(tensorDifference(straightRun(), run), std::string());
        QVERIFY(reportOf(run).find("continues exactly") != std::string::npos);
    }

    void batchNormAndEvaluationResumeExactly() {
        config::RunConfig config = digitsConfig();
        config.model.name = "convnet";
        config.model.filters = {4, 8};
        config.model.batchNorm = true;
        config.model.dropout = 0.2;
        config.data.batchSize = 16;
        config.accumulation.microBatches = 2;
        config.evaluation.every = {Interval::Unit::Epochs, 1};
        config.optimizer.name = "sgd";
        config.optimizer.learningRate = 0.05;
        WorkerRun straight(workspace(), config), parts(workspace(), config);
        straight.start(upTo(config, 60));
        QVERIFY(straight.wait());
        std::vector<RecordedRow> rows;
        for (const int updates : {23, 60}) {
            parts.start(upTo(config, updates), parts.newestCheckpoint());
            QVERIFY(parts.wait());
            append(rows, parts.rows());
        }
        QCOMPARE(firstDifference(straight.rows(), rows), std::string());
        QCOMPARE(tensorDifference(straight, parts), std::string());
    }

    /// SEMANTICS G1: the worker killed at ten random moments of one run that saves at each update
    void killAtAnyMomentOfSavingLeavesUsableCheckpoints() {
        config::RunConfig config = digitsConfig();
        config.run.maxUpdates = 1'000'000'000;
        config.checkpoint.every = {Interval::Unit::Updates, 1};
        const unsigned seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        QRandomGenerator random(seed);
        WorkerRun run(workspace(), config);
        std::int64_t newest = 0;
        for (int round = 0; round < 10; ++round) {
            run.start(config, run.newestCheckpoint());
            const auto wanted = static_cast<std::size_t>(3 + random.bounded(4));  // the second save begins when the first is on the disk
            while (run.running() && run.rows().size() < wanted) run.record();
            QElapsedTimer pause;  // to land anywhere within an update and its save
            pause.start();
            const qint64 nanoseconds = random.bounded(20'000'000);
            while (run.running() && pause.nsecsElapsed() < nanoseconds) run.record();
            run.signal(SIGKILL);
            QVERIFY(run.wait());
            QCOMPARE(run.exitCode(), -SIGKILL);
            for (const auto& info : run.checkpoints())
                if (!info.folder.starts_with('.')) QVERIFY2(rundir::verifyCheckpoint(run.folder.checkpoints() / info.folder)->ok(), info.folder.c_str());
            const auto step = rundir::parseCheckpointName(run.newestCheckpoint())->step.value();
            QVERIFY(step > newest);
            newest = step;
        }
        run.start(upTo(config, newest + 1), run.newestCheckpoint());
        QVERIFY(run.wait());
        QCOMPARE(run.exitCode(), 0);
        QVERIFY(reportOf(run).find("continues exactly") != std::string::npos);
    }

private:
    std::filesystem::path workspace() { return std::filesystem::path(m_folder.path().toStdString()) / std::to_string(m_next++); }
    WorkerRun& straightRun() {
        if (!m_straight) {
            m_straight = std::make_unique<WorkerRun>(workspace(), hardConfig());
            m_straight->start(upTo(hardConfig(), 60));
            if (!m_straight->wait() || m_straight->exitCode() != 0) qFatal("the straight run failed: %s", fileContent(m_straight->folder.rankLog(0)).c_str());
        }
        return *m_straight;
    }

    QTemporaryDir m_folder;
    int m_next = 0;
    std::unique_ptr<WorkerRun> m_straight;
};

QTEST_GUILESS_MAIN(ResumeTest)
#include "tst_resume.moc"
