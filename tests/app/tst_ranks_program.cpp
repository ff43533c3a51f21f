// labels: process fault
// timeout: 300
// lathe-trainer with two real workers: SEMANTICS F2, F7, H1, L1, L2. What ranks compute is compared bit for bit.
#include "worker_run.h"

#include "base/file_system.h"
#include "store/run_store.h"
#include "trainer_process.h"

#include <QtTest>

#include <bit>
#include <csignal>
#include <tuple>

using namespace lathe;
using namespace lathe::test;
using lathe::tests::digitsConfig;

namespace {

using Points = std::vector<std::tuple<std::int64_t, std::int64_t, std::uint64_t>>;   ///< attempt, step, bits

Points pointsOf(const rundir::RunFolder& run, const std::string& series) {
    Points all;
    const auto reader = store::RunReader::open(run.database()).value();
    const std::vector<store::Point> points = reader->points(series, store::RunReader::Line::Surviving).value();
    for (const store::Point& point : points) all.emplace_back(point.attempt, point.step, std::bit_cast<std::uint64_t>(point.value));
    return all;
}

QStringList reportsOf(const rundir::RunFolder& run) {
    QStringList reports;
    const auto reader = store::RunReader::open(run.database()).value();
    const std::vector<store::EventRow> events = reader->events().value();
    for (const store::EventRow& row : events)
        if (row.event.kind == "resume_report") reports << QString::fromStdString(nlohmann::json::parse(row.event.json)["outcome"]);
    return reports;
}

std::string newestOf(const rundir::RunFolder& run) {
    std::string newest;
    for (const auto& info : rundir::listCheckpoints(run.checkpoints()))
        if (info.problem.empty()) newest = info.folder;
    return newest;
}

std::string weightsOf(const rundir::RunFolder& run) {
    return readFile(run.checkpoints() / newestOf(run) / "model-00000.safetensors", 1u << 26).value();
}

}  // namespace

class RanksProgramTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        config::RunConfig config = digitsConfig();
        config.model.dropout = 0.1;
        config.data.batchSize = 8;
        config.accumulation.microBatches = 2;
        config.run.maxUpdates = 30;
        config.evaluation.every = {Interval::Unit::Updates, 10};
        m_config = QString::fromStdString((m_work.scratch() / "config.yaml").string());
        QVERIFY(replaceFile(FileSystem::real(), m_config.toStdString(), config::toYaml(config)).ok());
        m_straight = finished({"run.name=straight"});
    }

    void twoRanksWriteWhatOneProcessWrites_data() {
        QTest::addColumn<QString>("extra");
        QTest::newRow("window") << "parallel.reduce_at=window";
        QTest::newRow("micro_step") << "parallel.reduce_at=micro_step";
        QTest::newRow("tree") << "parallel.reduction=tree";
    }
    void twoRanksWriteWhatOneProcessWrites() {
        QFETCH(QString, extra);
        const auto run = finished({"parallel.ranks=2", extra, "parallel.check_replicas=5"});
        compare(run, 30);
        QVERIFY(std::filesystem::exists(run.rankLog(1)));
        QVERIFY(!std::filesystem::exists(run.rendezvous(1)));
        QVERIFY(rundir::readCheckpoint(run.checkpoints() / newestOf(run))->layout != "single");
    }

    /// SEMANTICS F7: another number of ranks goes on with the same samples; with the reduction tree it is even the same run
    void anotherNumberOfRanksGoesOn_data() {
        QTest::addColumn<QString>("reduction");
        QTest::addColumn<QString>("report");
        QTest::newRow("ring") << "ring" << "not comparable";
        QTest::newRow("tree") << "tree" << "continues exactly";
    }
    void anotherNumberOfRanksGoesOn() {
        QFETCH(QString, reduction);
        QFETCH(QString, report);
        const QString reduces = "parallel.reduction=" + reduction;
        const auto run = finished({"parallel.ranks=2", reduces, "run.max_updates=20"});
        const Answer answer = m_work.ask({"continue", name(run), "--json", "--set", "parallel.ranks=1", "--set", "run.max_updates=30"});
        QVERIFY2(answer.code == 0, answer.err.c_str());
        compare(run, 30);
        QCOMPARE(reportsOf(run), QStringList{report});
    }

    /// SEMANTICS F2: three micro-batches an update, dropout, a short format with its loss scale
    void shortFormatsContinueExactly_data() {
        QTest::addColumn<QString>("mode");
        QTest::newRow("bf16") << "bf16";
        QTest::newRow("fp16") << "fp16";
    }
    void shortFormatsContinueExactly() {
        QFETCH(QString, mode);
        const QStringList recipe{"precision.mode=" + mode, "precision.scale_growth_updates=4", "accumulation.micro_batches=3"};
        const auto straight = finished(recipe);
        const auto parts = finished(recipe + QStringList{"run.max_updates=10"});
        for (const char* updates : {"run.max_updates=20", "run.max_updates=30"}) QCOMPARE(m_work.ask({"continue", name(parts), "--json", "--set", updates}).code, 0);
        for (const std::string series : {"train/loss", "train/lr", "train/grad_norm", "eval/loss"}) QVERIFY2(pointsOf(parts, series) == pointsOf(straight, series), series.c_str());
        if (mode == "fp16") {
            QVERIFY(pointsOf(straight, "precision/scale").size() >= 30);  // more where attempts overflowed and were skipped
            QVERIFY(pointsOf(parts, "precision/scale") == pointsOf(straight, "precision/scale"));
        }
        QVERIFY(weightsOf(parts) == weightsOf(straight));
        QCOMPARE(reportsOf(parts), (QStringList{"continues exactly", "continues exactly"}));
    }

    /// SEMANTICS D4, and what JSON says of skips
    void scaleAtItsFloorEndsTheRunAsDiverged() {
        const Answer answer = Workspace::finish(*launch({"precision.mode=fp16", "optimizer.learning_rate=1000", "optimizer.max_grad_norm=none", "data.batch_size=8"}));
        QCOMPARE(answer.code, static_cast<int>(ExitCode::Diverged));
        const auto shown = m_work.ask({"show", "latest", "--json"}).json();
        QVERIFY(!shown["skipped"].empty());
        QVERIFY(std::string(shown["skipped"][0]["reason"]).find("finite") != std::string::npos || std::string(shown["skipped"][0]["reason"]).find("nan") != std::string::npos);
    }

    /// SEMANTICS L1
    void killedRankEndsTheRunWithItsNameFirst() {
        auto process = started({"parallel.ranks=2", "checkpoint.every=5", "run.restarts_per_hour=0"});
        const auto run = running(10);
        ::kill(pidOf(run, 1), SIGKILL);
        QElapsedTimer timer;
        timer.start();
        const Answer answer = Workspace::finish(*process, 15'000);
        QCOMPARE(answer.code, static_cast<int>(ExitCode::Interrupted));
        const auto record = rundir::readSession(run, 1).value();
        QCOMPARE(record.state, rundir::State::Killed);
        QVERIFY2(record.why.starts_with("Rank 1"), record.why.c_str());
        QVERIFY(rundir::verifyCheckpoint(run.checkpoints() / newestOf(run))->ok());
        const Answer again = m_work.ask({"continue", name(run), "--json", "--set", "run.max_updates=" + QString::number(stepOf(run) + 5)});
        QVERIFY2(again.code == 0, again.err.c_str());
    }

    /// SEMANTICS L1: one that hangs
    void stoppedRankEndsTheRun() {
        auto process = started({"parallel.ranks=2", "parallel.wait_seconds=3", "guard.on_hang=stop"});
        const auto run = running(5);
        const pid_t other = pidOf(run, 0);
        ::kill(pidOf(run, 1), SIGSTOP);
        const Answer answer = Workspace::finish(*process, 25'000);
        QCOMPARE(answer.code, static_cast<int>(ExitCode::Interrupted));
        const auto record = rundir::readSession(run, 1).value();
        QVERIFY2(record.why.starts_with("Rank 1") && record.why.find("sign of life") != std::string::npos, record.why.c_str());
        QVERIFY(!processLives(other));
    }

    /// SEMANTICS L2
    void stopSignalOfOneRankStopsAllAtOneUpdate() {
        auto process = started({"parallel.ranks=2"});
        const auto run = running(5);
        ::kill(pidOf(run, 1), SIGTERM);
        const Answer answer = Workspace::finish(*process, 30'000);
        QCOMPARE(answer.code, static_cast<int>(ExitCode::Stopped));
        QCOMPARE(rundir::readCheckpoint(run.checkpoints() / newestOf(run))->counters.globalStep.value(), stepOf(run));
    }

    void pausedRanksSaveAndGoOn() {
        auto process = started({"parallel.ranks=2"});
        const auto run = running(5);
        QCOMPARE(m_work.ask({"pause", name(run)}).code, 0);
        QVERIFY(eventually([&] { return rundir::readSummary(run)->state == rundir::State::Paused; }));
        QCOMPARE(m_work.ask({"save", name(run)}).code, 0);
        const auto savedHere = [&] {
            const std::string newest = newestOf(run);
            const auto checkpoint = newest.empty() ? Result<rundir::CheckpointManifest>(Error{}) : rundir::readCheckpoint(run.checkpoints() / newest);
            return checkpoint && checkpoint->counters.globalStep.value() == stepOf(run);
        };
        QVERIFY(eventually(savedHere));
        QCOMPARE(m_work.ask({"unpause", name(run)}).code, 0);
        const std::int64_t step = rundir::readCheckpoint(run.checkpoints() / newestOf(run))->counters.globalStep.value();
        QVERIFY(eventually([&] { return rundir::readSummary(run)->counters.globalStep.value() > step; }));
        QCOMPARE(m_work.ask({"stop", name(run)}).code, 0);
        QCOMPARE(Workspace::finish(*process).code, static_cast<int>(ExitCode::Stopped));
    }

    void whatRanksCannotDoIsSaid_data() {
        QTest::addColumn<QStringList>("settings");
        QTest::addColumn<QString>("part");
        QTest::newRow("too few batches") << QStringList{"parallel.ranks=4"} << "accumulation.micro_batches";
        QTest::newRow("single") << QStringList{"parallel.ranks=2", "parallel.strategy=single"} << "parallel.strategy";
        QTest::newRow("three in a tree") << QStringList{"parallel.ranks=3", "accumulation.micro_batches=3", "parallel.reduction=tree"} << "parallel.reduction";
        QTest::newRow("more ranks than data") << QStringList{"parallel.ranks=4", "accumulation.micro_batches=4", "data.batch_size=600"} << "parallel.ranks";
    }
    void whatRanksCannotDoIsSaid() {
        QFETCH(QStringList, settings);
        QFETCH(QString, part);
        QStringList words{"run", m_config, "--json"};
        for (const QString& setting : settings) words << "--set" << setting;
        const Answer answer = m_work.ask(words, 30'000);
        QVERIFY2(answer.code == static_cast<int>(ExitCode::Usage) || answer.code == static_cast<int>(ExitCode::Failed), answer.err.c_str());
        QVERIFY2(QString::fromStdString(answer.err + answer.out).contains(part), (answer.err + answer.out).c_str());
    }

    void explainTellsTheOrderOfAnUpdate() {
        const Answer answer = m_work.ask({"explain", m_config, "--json", "--set", "parallel.ranks=2", "--set", "precision.mode=fp16"});
        QCOMPARE(answer.code, 0);
        std::vector<std::string> names;
        for (const auto& event : answer.json()) names.push_back(event["event"]);
        QCOMPARE(names, (std::vector<std::string>{"window", "share", "weights", "forward", "loss", "backward", "reduce", "unscale", "norm", "verdict", "clip",
                                                  "optimizer", "buffers", "counters", "scale", "log", "agree", "evaluate", "save"}));
    }

private:
    std::unique_ptr<QProcess> launch(const QStringList& settings) const {
        QStringList words{"run", m_config, "--json"};
        for (const QString& setting : settings) words << "--set" << setting;
        return m_work.start(words);
    }
    rundir::RunFolder finished(const QStringList& settings) const {
        const Answer answer = Workspace::finish(*launch(settings));
        if (answer.code != 0) qWarning("%s", (answer.err + answer.out).c_str());
        return rundir::RunFolder(std::string(answer.json()["folder"]));
    }
    /// A run without an end.
    std::unique_ptr<QProcess> started(QStringList settings) { return launch(settings << "run.max_updates=1000000"); }
    /// Of the newest run, once so many updates are recorded.
    rundir::RunFolder running(std::int64_t updates) const {
        std::optional<rundir::RunFolder> found;
        const bool there = eventually([&] {
            for (const rundir::RunFolder& run : rundir::listRuns(m_work.folder())) {
                const auto live = rundir::readLive(run);
                const auto summary = rundir::readSummary(run);
                if (!live || !*live || !summary || summary->counters.globalStep.value() < updates) continue;
                found = run;
                return true;
            }
            return false;
        });
        if (!there) qFatal("The run does not come up");
        return *found;
    }
    static pid_t pidOf(const rundir::RunFolder& run, std::size_t rank) { return static_cast<pid_t>((*rundir::readLive(run).value()).workers.at(rank).pid); }
    static std::int64_t stepOf(const rundir::RunFolder& run) { return rundir::readSummary(run)->counters.globalStep.value(); }
    static QString name(const rundir::RunFolder& run) { return QString::fromStdString(run.root().string()); }
    void compare(const rundir::RunFolder& run, std::size_t updates) const {
        for (const char* series : {"train/loss", "train/lr", "train/grad_norm", "eval/accuracy", "eval/loss"}) {
            const Points points = pointsOf(run, series);
            QCOMPARE(points.size(), std::string(series).starts_with("eval") ? updates / 10 : updates);
            QVERIFY2(points == pointsOf(*m_straight, series), series);
        }
        QVERIFY(weightsOf(run) == weightsOf(*m_straight));
    }

    Workspace m_work;
    QString m_config;
    std::optional<rundir::RunFolder> m_straight;
};

QTEST_GUILESS_MAIN(RanksProgramTest)
#include "tst_ranks_program.moc"
