// labels: process
// timeout: 300
// evaluation.restore_best: however a run ends, its export folder holds the weights of its best evaluation (SEMANTICS G8).
#include "launch/run/checkpoint_choice.h"
#include "launch/run/settle.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/safetensors_header.h"
#include "store/run_store.h"
#include "trainer_process.h"

#include <QtTest>

#include <algorithm>
#include <csignal>

using namespace lathe;
using namespace lathe::test;

namespace {

/// The bytes of a tensor in a safetensors file.
std::string tensorBytes(const std::filesystem::path& file, const std::string& name) {
    const auto header = rundir::readSafetensorsHeader(file.string()).value();
    const auto range = header.tensors.at(name);
    return readFile(file, 1u << 26).value().substr(range.begin, range.end - range.begin);
}

}  // namespace

class RestoreBestTest : public QObject {
    Q_OBJECT

    std::unique_ptr<Workspace> m_work;

    /// Small, and best early: a rate that is far too high from some update on would need a schedule; a metric that counts the
    /// other way does it simply. The first evaluation has the highest loss.
    static QStringList settings(const QStringList& more) {
        QStringList words;
        for (const QString& one : QStringList{"evaluation.restore_best=true", "evaluation.every=10 updates", "evaluation.best_metric=loss", "evaluation.best_direction=max",
                                              "checkpoint.every=10 updates", "checkpoint.keep_last=1", "schedule.name=constant", "parallel.device=cpu"} + more)
            words << "--set" << one;
        return words;
    }
    Answer ask(const QStringList& words) const { return m_work->ask(words, 120'000); }
    rundir::RunFolder run() const { return m_work->latest(); }

    /// The export holds the best checkpoint's weights, which are not the newest ones.
    void bestIsLeft() const {
        const auto best = launch::bestCheckpoint(run());
        QVERIFY(best.ok());
        const auto newest = launch::newestOnLine(run());
        QVERIFY(*best != newest);
        const std::string left = tensorBytes(run().exportFolder() / "model.safetensors", "0.weight");
        const auto weightsIn = [&](const std::string& folder) { return tensorBytes(run().checkpoints() / folder / "model-00000.safetensors", "0.weight"); };
        QVERIFY(left == weightsIn(*best));
        QVERIFY(left != weightsIn(newest));
        QCOMPARE(nlohmann::json::parse(readFile(run().exportFolder() / "model.json", 10000).value())["checkpoint"].get<std::string>(), *best);
    }

    QStringList eventKinds() const {
        QStringList kinds;
        const auto reader = store::RunReader::open(run().database()).value();
        const std::vector<store::EventRow> rows = reader->events().value();
        for (const store::EventRow& row : rows) kinds << QString::fromStdString(row.event.kind);
        return kinds;
    }

    std::unique_ptr<QProcess> endless() const {
        auto process = m_work->start(QStringList{"run", "digits-mlp", "--json"} + settings({"run.epochs=none", "run.max_updates=100000000", "run.restarts_per_hour=0"}));
        const auto wholeOnes = [&] {
            const auto all = rundir::listCheckpoints(run().checkpoints());
            return std::count_if(all.begin(), all.end(), [](const rundir::CheckpointInfo& info) { return info.problem.empty(); });
        };
        if (!eventually([&] { return !rundir::listRuns(m_work->folder()).empty() && wholeOnes() > 1; }, 60'000)) qFatal("no checkpoints");
        return process;
    }

private Q_SLOTS:
    void init() { m_work = std::make_unique<Workspace>(); }

    void aCompletedRunLeavesTheBest() {
        QCOMPARE(ask(QStringList{"run", "digits-mlp"} + settings({"run.max_updates=40"})).code, 0);
        bestIsLeft();
        QVERIFY(eventKinds().contains("exported"));
        // and goes on from where it ended, not from there
        QCOMPARE(ask({"continue", "latest", "--set", "run.max_updates=50"}).code, 0);
        QCOMPARE(rundir::parseCheckpointName(launch::newestOnLine(run()))->step.value(), 50);
        bestIsLeft();
    }

    /// SEMANTICS F11: a run that stopped early does nothing more unless extended, and its best checkpoint stays the same to the byte
    void patienceLeavesTheBest() {
        QCOMPARE(ask(QStringList{"run", "digits-mlp"} + settings({"run.max_updates=4000", "evaluation.patience=2"})).code, 0);
        QCOMPARE(rundir::parseCheckpointName(launch::newestOnLine(run()))->step.value(), 30);
        bestIsLeft();
        const std::filesystem::path best = run().checkpoints() / launch::bestCheckpoint(run()).value() / "model-00000.safetensors";
        const std::string before = readFile(best, 1u << 26).value();
        QCOMPARE(ask({"continue", "latest"}).code, 0);
        QCOMPARE(rundir::parseCheckpointName(launch::newestOnLine(run()))->step.value(), 30);
        QCOMPARE(ask({"continue", "latest", "--set", "evaluation.patience=4"}).code, 0);
        QCOMPARE(rundir::parseCheckpointName(launch::newestOnLine(run()))->step.value(), 50);
        QCOMPARE(readFile(best, 1u << 26).value(), before);
        bestIsLeft();
    }

    void aStoppedRunLeavesTheBest() {
        const auto process = endless();
        QCOMPARE(ask({"stop", "latest"}).code, 0);
        QCOMPARE(Workspace::finish(*process).code, 4);
        bestIsLeft();
    }

    void aKilledWorkerLeavesTheBest() {
        const auto process = endless();
        const auto live = rundir::readLive(run()).value();
        QVERIFY(live.has_value());
        QCOMPARE(::kill(static_cast<pid_t>(live->workers.at(0).pid), SIGKILL), 0);
        QCOMPARE(Workspace::finish(*process).code, 5);
        bestIsLeft();
    }

    void aDivergedRunLeavesTheBest() {
        QCOMPARE(ask(QStringList{"run", "digits-mlp"} + settings({"run.max_updates=30"})).code, 0);
        std::filesystem::remove_all(run().exportFolder());
        QCOMPARE(ask({"continue", "latest", "--set", "optimizer.learning_rate=1000", "--set", "optimizer.max_grad_norm=none", "--set", "optimizer.weight_decay=100",
                      "--set", "precision.max_skipped_in_a_row=2", "--set", "run.max_updates=4000", "--set", "evaluation.every=never", "--set", "evaluation.restore_best=true"}).code, 2);
        QCOMPARE(ask({"continue", "latest", "--set", "optimizer.learning_rate=1000", "--set", "optimizer.max_grad_norm=none", "--set", "optimizer.weight_decay=100",
                      "--set", "precision.max_skipped_in_a_row=2", "--set", "run.max_updates=4000", "--set", "evaluation.every=1000000 updates"}).code, 6);
        bestIsLeft();
    }

    void aLostSupervisorLeavesTheBestToWhoSettles() {
        const auto process = endless();
        process->kill();
        QVERIFY(process->waitForFinished());
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(run().workersLock()); }, 60'000));
        QVERIFY(!std::filesystem::exists(run().exportFolder()));
        QCOMPARE(ask({"pin", QString::fromStdString(run().name()) + "@best"}).code, 0);   // takes the run, and settles what was left
        const auto settled = launch::takeRun(run());
        QVERIFY(settled.ok());
        bestIsLeft();
    }

    void withoutAnEvaluationNothingIsLeft() {
        QCOMPARE(ask(QStringList{"run", "digits-mlp"} + settings({"run.max_updates=100000000", "run.epochs=none", "evaluation.every=1000000 updates", "precision.max_skipped_in_a_row=1",
                                                                   "optimizer.learning_rate=1000", "optimizer.max_grad_norm=none", "optimizer.weight_decay=100"})).code, 6);
        QVERIFY(!std::filesystem::exists(run().exportFolder()));
        QVERIFY(!eventKinds().contains("exported"));
    }

    void whatCannotBeRestoredIsRefused() {
        const Answer none = ask({"check", "digits-mlp", "--set", "evaluation.restore_best=true", "--set", "checkpoint.keep_best=0"});
        QVERIFY(none.code == 2 && (none.out + none.err).find("keep_best") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(RestoreBestTest)
#include "tst_restore_best.moc"
