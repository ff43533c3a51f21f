// labels: process fault
// timeout: 300
// lathe-trainer and a real worker whose checkpoints take a while to write: saves in a row, stops and kills meanwhile. What is
// listed is whole, nothing is left, and what goes on from it is what never stopped, bit for bit. LATHE_FULL=1: more kills.
#include "worker_run.h"

#include "base/file_system.h"
#include "store/run_store.h"
#include "trainer_process.h"

#include <QRandomGenerator>
#include <QtTest>

#include <bit>
#include <csignal>
#include <map>
#include <random>

using namespace lathe;
using namespace lathe::test;
using lathe::tests::digitsConfig;

namespace {

using Losses = std::map<std::int64_t, std::uint64_t>;   ///< by attempt, as bits

Losses lossesOf(const rundir::RunFolder& run) {
    Losses all;
    const auto reader = store::RunReader::open(run.database()).value();
    const std::vector<store::Point> points = reader->points("train/loss", store::RunReader::Line::Surviving).value();
    for (const store::Point& point : points) all[point.attempt] = std::bit_cast<std::uint64_t>(point.value);
    return all;
}

std::vector<rundir::CheckpointInfo> usable(const rundir::RunFolder& run) {
    auto all = rundir::listCheckpoints(run.checkpoints());
    std::erase_if(all, [](const auto& info) { return !info.problem.empty(); });
    return all;
}

}  // namespace

class SaveBehindTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// Checkpoints of about 20 MB beside updates of a few milliseconds.
    void initTestCase() {
        config::RunConfig config = digitsConfig();
        config.model.name = "mlp";
        config.model.hidden = {1000, 1000};
        config.data.batchSize = 8;
        config.run.maxUpdates = kUpdates;
        config.evaluation.every = {Interval::Unit::Never, 0};
        config.checkpoint.every = {Interval::Unit::Updates, 3};
        config.checkpoint.keepLast = 1'000;
        m_config = QString::fromStdString((m_work.scratch() / "config.yaml").string());
        QVERIFY(replaceFile(FileSystem::real(), m_config.toStdString(), config::toYaml(config)).ok());
        const Answer answer = Workspace::finish(*launch({"run.name=straight", "checkpoint.every=never"}), 120'000);
        QVERIFY2(answer.code == 0, answer.err.c_str());
        m_straight = lossesOf(m_work.latest());
        QCOMPARE(m_straight.size(), std::size_t(kUpdates));
    }

    /// The points that a checkpoint stands on are recorded before it is seen, and training went on while it was written
    void savesAreAllThereAndTrainingGoesOnMeanwhile() {
        const Answer answer = Workspace::finish(*launch({"run.name=saving"}), 120'000);
        QVERIFY2(answer.code == 0, answer.err.c_str());
        const rundir::RunFolder run = m_work.latest();
        QVERIFY(lossesOf(run) == m_straight);
        const auto all = usable(run);
        QCOMPARE(all.size(), std::size_t(kUpdates / 3));
        for (const auto& info : all) QVERIFY2(rundir::verifyCheckpoint(run.checkpoints() / info.folder)->ok(), info.folder.c_str());
    }

    void twoSavesInARowAreBothAnswered() {
        auto process = started({"checkpoint.every=never"});
        const auto run = running(3);
        auto first = m_work.start({"save", name(run), "--json"}), second = m_work.start({"save", name(run), "--json"});
        for (auto* save : {&first, &second}) {
            const Answer answer = Workspace::finish(**save);
            QVERIFY2(answer.code == 0, (answer.out + answer.err).c_str());
            const auto folder = run.checkpoints() / std::string(answer.json()["checkpoint"]);   // durable once it is answered
            QVERIFY2(rundir::verifyCheckpoint(folder)->ok(), folder.c_str());
        }
        QCOMPARE(m_work.ask({"stop", name(run), "--discard"}).code, 0);
        Workspace::finish(*process);
    }

    /// A stop while a save is being written: both are there, and the run goes on as if it had not stopped
    void aStopWaitsForTheWriter_data() {
        QTest::addColumn<int>("signal");
        QTest::newRow("stop") << 0;
        QTest::newRow("SIGTERM") << SIGTERM;
    }
    void aStopWaitsForTheWriter() {
        QFETCH(int, signal);
        auto process = started({"checkpoint.every=1"});
        const auto run = running(4);
        if (signal == 0) QCOMPARE(m_work.ask({"stop", name(run)}).code, 0);
        else ::kill(static_cast<pid_t>(process->processId()), signal);
        const Answer answer = Workspace::finish(*process);
        QCOMPARE(answer.code, static_cast<int>(ExitCode::Stopped));
        const auto all = usable(run);
        QCOMPARE(all.back().step.value(), stepOf(run));
        QCOMPARE(rundir::listCheckpoints(run.checkpoints()).size(), all.size());
        for (const auto& info : all) QVERIFY2(rundir::verifyCheckpoint(run.checkpoints() / info.folder)->ok(), info.folder.c_str());
        continuesExactly(run);
    }

    /// Killed at random moments, nearly all of them while something is being written
    void killedWhileItIsWrittenTheRestIsExact() {
        const int kills = qEnvironmentVariableIsSet("LATHE_FULL") ? 40 : 4;
        std::mt19937 random(static_cast<unsigned>(QRandomGenerator::global()->generate() & 0xffff));
        int torn = 0;
        for (int kill = 0; kill < kills; ++kill) {
            auto process = started({"checkpoint.every=1"});
            const auto run = running(std::uniform_int_distribution(2, 20)(random));
            ::kill(workerOf(run), SIGKILL);
            QCOMPARE(Workspace::finish(*process).code, static_cast<int>(ExitCode::Interrupted));
            const auto all = rundir::listCheckpoints(run.checkpoints());
            torn += static_cast<int>(all.size() - usable(run).size());
            for (const auto& info : usable(run)) QVERIFY2(rundir::verifyCheckpoint(run.checkpoints() / info.folder)->ok(), info.folder.c_str());
            continuesExactly(run);
            const std::vector<std::string> names = listFolder(run.checkpoints()).value();
            for (const std::string& left : names) QVERIFY2(!left.starts_with('.'), left.c_str());
        }
        qInfo("%d of %d kills left a torn checkpoint", torn, kills);
    }

    /// One of two ranks dies while the first one writes
    void aRankThatDiesWhileTheFirstOneWritesLosesNoCheckpoint() {
        auto process = started({"parallel.ranks=2", "accumulation.micro_batches=2", "checkpoint.every=1"});
        const auto run = running(4);
        ::kill(workerOf(run, 1), SIGKILL);
        QCOMPARE(Workspace::finish(*process).code, static_cast<int>(ExitCode::Interrupted));
        QVERIFY(!usable(run).empty());
        for (const auto& info : usable(run)) QVERIFY2(rundir::verifyCheckpoint(run.checkpoints() / info.folder)->ok(), info.folder.c_str());
        const Answer again = m_work.ask({"continue", name(run), "--json", "--set", "checkpoint.every=never", "--set", "run.max_updates=" + QString::number(stepOf(run) + 3)}, 120'000);
        QVERIFY2(again.code == 0, again.err.c_str());
    }

private:
    static constexpr int kUpdates = 30;

    std::unique_ptr<QProcess> launch(const QStringList& settings) const {
        QStringList words{"run", m_config, "--json"};
        for (const QString& setting : settings) words << "--set" << setting;
        return m_work.start(words);
    }
    std::unique_ptr<QProcess> started(QStringList settings) const { return launch(settings << "run.restarts_per_hour=0" << "run.max_updates=100000" << "checkpoint.keep_last=3"); }
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
    /// What it makes of the first updates of the straight run, gone on until their end.
    void continuesExactly(const rundir::RunFolder& run) const {
        const std::int64_t end = std::max<std::int64_t>(stepOf(run) + 3, 5);
        const Answer again = m_work.ask({"continue", name(run), "--json", "--set", "checkpoint.every=never", "--set", "run.max_updates=" + QString::number(end)}, 120'000);
        QVERIFY2(again.code == 0, (again.out + again.err).c_str());
        const Losses losses = lossesOf(run);
        QCOMPARE(losses.size(), static_cast<std::size_t>(end));
        for (const auto& [attempt, bits] : m_straight)
            if (attempt <= end) QVERIFY2(losses.at(attempt) == bits, std::to_string(attempt).c_str());
    }
    static pid_t workerOf(const rundir::RunFolder& run, std::size_t rank = 0) { return static_cast<pid_t>((*rundir::readLive(run).value()).workers.at(rank).pid); }
    static std::int64_t stepOf(const rundir::RunFolder& run) { return rundir::readSummary(run)->counters.globalStep.value(); }
    static QString name(const rundir::RunFolder& run) { return QString::fromStdString(run.root().string()); }

    Workspace m_work;
    QString m_config;
    Losses m_straight;
};

QTEST_GUILESS_MAIN(SaveBehindTest)
#include "tst_save_behind.moc"
