// One attempt at an update, in its corners: windows that are broken off, terms and windows without weight, numbers that ranks
// do not share, statistics on another device, and what counts as skipped in a row.
#include "engine/train/statistics.h"
#include "loop_fixture.h"
#include "rank_threads.h"

#include <QtTest>

#include <limits>

using namespace lathe;
using namespace lathe::engine;
using namespace lathe::engine::test;

namespace {

/// A loss of its own and a second term that has no weight in any window.
class WeightlessTerm final : public Task {
public:
    explicit WeightlessTerm(double value) : m_value(value) {}
    std::int64_t outputs() const override { return 1; }
    std::vector<double> weightsOf(const Batch& batch) const override { return {static_cast<double>(batch.count()), 0}; }
    std::vector<LossTerm> loss(const at::Tensor& output, const Batch&) const override { return {LossTerm{output.sum()}, LossTerm{output.sum() * m_value}}; }
    std::unique_ptr<MetricPool> metrics() const override { return std::make_unique<MeanPool>(); }
    std::vector<config::Metric> metricInfo() const override { return {{"loss", false}}; }

private:
    double m_value;
};

/// Ranks whose norms differ in their last bits, as those of unlike GPUs do.
class UnlikeDevices final : public Parallel {
public:
    explicit UnlikeDevices(Parallel& ranks) : m_ranks(ranks) {}
    const plan::Sharing& sharing() const override { return m_ranks.sharing(); }
    std::string layout() const override { return m_ranks.layout(); }
    void runWindow(FlatStorage& storage, std::size_t microBatches, const MicroStep& step) override { m_ranks.runWindow(storage, microBatches, step); }
    GradientNorm globalNorm(const FlatStorage& storage) override {
        GradientNorm norm = m_ranks.globalNorm(storage);
        if (rank() == 0) return norm;
        if (overflows) return {std::numeric_limits<double>::infinity(), "p"};
        return {std::nextafter(norm.value, 1e300), norm.notFinite};
    }
    void gather(std::vector<double>& values) override { m_ranks.gather(values); }
    std::vector<at::Tensor> gather(const at::Tensor& mine) override { return m_ranks.gather(mine); }
    std::uint64_t agree(std::uint64_t mine) override { return m_ranks.agree(mine); }
    void broadcast(const std::vector<at::Tensor>& tensors) override { m_ranks.broadcast(tensors); }
    bool overflows = false;

private:
    Parallel& m_ranks;
};

Batch weighing(double value, double weight, std::int64_t id = 0) {
    Batch batch = batchOf({{value}}, id);
    batch.weight = at::full({1}, weight);
    return batch;
}

}  // namespace

class AttemptTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aWindowThatWasBrokenOffLeavesNothingInTheTree_data() {
        QTest::addColumn<int>("world");
        QTest::newRow("one process") << 1;
        QTest::newRow("two ranks") << 2;
    }
    void aWindowThatWasBrokenOffLeavesNothingInTheTree() {
        QFETCH(int, world);
        config::ParallelSection section = ranks(world);
        section.reduction = "tree";
        asRanks(section, [](Parallel& parallel) {
            ScaleModel model;
            const ParamTable table(model);
            FlatStorage storage(table);
            const std::size_t batches = 6;
            const auto share = parallel.sharing().of(batches);
            const auto leaf = [&](std::size_t microBatch) { (model.p() * static_cast<double>(microBatch + 1)).sum().backward(); };
            bool isBroken = false;
            try {
                parallel.runWindow(storage, batches, [&](std::size_t microBatch) {
                    if (microBatch == share.begin + 1) throw std::runtime_error("broken off");
                    leaf(microBatch);
                });
            } catch (const std::runtime_error&) {
                isBroken = true;
            }
            QVERIFY(isBroken);
            parallel.runWindow(storage, batches, leaf);
            QCOMPARE(storage.views()[0].gradient[0].item<double>(), 21.0);
        });
    }

    void aTermWithoutWeightCountsForNothingWhateverItsValue_data() {
        QTest::addColumn<double>("value");
        QTest::newRow("nan") << std::nan("");
        QTest::newRow("inf") << std::numeric_limits<double>::infinity();
        QTest::newRow("finite") << 1e6;
    }
    void aTermWithoutWeightCountsForNothingWhateverItsValue() {
        QFETCH(double, value);
        Fixture f;
        f.windows.batches = {batchOf({{2.0}})};
        WeightlessTerm task(value);
        f.other = &task;
        f.run(1);
        QVERIFY2(f.recorder.rows.at(0).result.applied, f.recorder.rows.at(0).result.reason.c_str());
        QCOMPARE(f.recorder.rows.at(0).result.loss, 2.0);
        QCOMPARE(f.p(), -1.0);
    }

    /// SEMANTICS E1: what the first rank found is what all act on
    void normAndVerdictAreThoseOfTheFirstRank() {
        for (const bool overflows : {false, true}) {
            std::vector<double> norms(2), weights(2);
            std::vector<std::int64_t> skipped(2);
            asRanks(ranks(2), [&](Parallel& parallel) {
                UnlikeDevices unlike(parallel);
                unlike.overflows = overflows;
                Fixture f;
                f.group = &unlike;
                f.settings.maxGradNorm = 0.1;
                f.windows.batches = {batchOf({{0.7}}), batchOf({{0.1}}, 1), batchOf({{0.3}}, 2), batchOf({{0.9}}, 3), batchOf({{1.1}}, 4)};
                f.run(5);
                const auto rank = static_cast<std::size_t>(parallel.rank());
                norms[rank] = f.recorder.rows.at(0).result.gradNorm;
                weights[rank] = f.p();
                skipped[rank] = f.progress.counters.skippedUpdates.value();
            });
            QCOMPARE(norms[1], norms[0]);
            QCOMPARE(weights[1], weights[0]);
            QCOMPARE(skipped, (std::vector<std::int64_t>{0, 0}));
        }
    }

    /// A model on another device; ranks exchange statistics over main memory.
    void gatheredStatisticsLieWhereTheirBlockKeepsThem() {
        config::ModelSection section;
        section.name = "convnet";
        section.filters = {4};
        section.batchNorm = true;
        const auto model = makeModel(section, {.features = 36, .channels = 1, .height = 6, .width = 6, .outputs = 3}, 1, at::kFloat, at::kMeta).value();
        Block* normed = nullptr;
        for (const auto& block : model->blocks())
            if (!normed && !block->buffers().empty()) normed = block.get();
        QVERIFY(normed);
        const std::int64_t channels = normed->buffers().front().tensor.numel();
        std::vector<StatisticsUpdate> statistics{{normed, 0, at::zeros({channels}), at::ones({channels})}};
        const auto parallel = makeSingleProcess();
        gatherStatistics(*parallel, *model, statistics);
        QCOMPARE(statistics.size(), std::size_t(1));
        QVERIFY(statistics[0].mean.is_meta() && statistics[0].variance.is_meta());
        QCOMPARE(statistics[0].mean.scalar_type(), at::kFloat);
        normed->applyStatistics(statistics[0]);  // throws where devices differ
    }

    void windowsWithoutWeightAreNoDivergence() {
        Fixture f;
        for (int i = 0; i < 60; ++i) f.windows.batches.push_back(weighing(1.0, 0.0, i));
        f.windows.batches.push_back(weighing(1.0, 1.0, 60));
        f.settings.maxSkippedInARow = 3;
        const Ending ending = f.run(1);
        QVERIFY2(ending.state == rundir::State::Completed, ending.why.c_str());
        QCOMPARE(f.progress.counters.skippedUpdates.value(), 60);
        QCOMPARE(f.progress.skippedInARow, 0);
    }

    void skipsOnBothSidesOfAWindowWithoutWeightAreInARow() {
        Fixture f;
        f.windows.batches = {weighing(std::nan(""), 1.0), weighing(1.0, 0.0, 1), weighing(std::nan(""), 1.0, 2), weighing(1.0, 1.0, 3)};
        f.settings.maxSkippedInARow = 2;
        const Ending ending = f.run(1);
        QCOMPARE(ending.state, rundir::State::Diverged);
        QVERIFY2(ending.why.starts_with("2 updates in a row"), ending.why.c_str());
    }

    void aRunThatDivergedWithACheckpointIsToldToGoBack() {
        for (const bool saves : {false, true}) {
            Fixture f;
            f.windows.batches = {batchOf({{1.0}}), batchOf({{std::nan("")}}, 1), batchOf({{std::nan("")}}, 2)};
            f.settings.maxSkippedInARow = 2;
            if (saves) f.settings.saveEvery = {Interval::Unit::Updates, 1};
            const Ending ending = f.run(1);
            QCOMPARE(ending.state, rundir::State::Diverged);
            QVERIFY2(ending.why.find(saves ? "Go back to a checkpoint and lower" : "Run again with a lower") != std::string::npos, ending.why.c_str());
        }
    }

    void skipsOfTheGuardNameItsLimits() {
        Fixture f(1, at::kFloat, Fixture::sgd(0.001));
        f.windows.batches = {batchOf({{1.0}}), batchOf({{1.1}}, 1), batchOf({{500.0}}, 2), batchOf({{500.0}}, 3)};
        config::GuardSection section;
        section.window = 2;
        section.onLossSpike = "skip";
        f.guard = std::make_unique<TrajectoryGuard>(section);
        f.settings.maxSkippedInARow = 2;
        const Ending ending = f.run(1);
        QVERIFY2(ending.why.starts_with("2 updates in a row") && ending.why.ends_with("look at the limits of the guard"), ending.why.c_str());
    }

    void anEpochWithoutWeightEndsARunThatCountsUpdates() {
        Fixture f;
        f.windows.batches = {weighing(1.0, 0.0), weighing(1.0, 0.0, 1)};
        f.settings.epochs.reset();
        f.settings.maxUpdates = 5;
        const Ending ending = f.run(1);
        QCOMPARE(ending.state, rundir::State::Failed);
        QVERIFY2(ending.why.find("No sample of a whole epoch has weight") != std::string::npos, ending.why.c_str());
        QVERIFY2(ending.why.find("learning_rate") == std::string::npos, ending.why.c_str());
    }

    void aRunWithoutAnyWeightSaysSo() {
        Fixture f;
        f.windows.batches = {weighing(1.0, 0.0), weighing(1.0, 0.0, 1)};
        const Ending ending = f.run(1);
        QCOMPARE(ending.state, rundir::State::Failed);
        QVERIFY2(ending.why.find("No sample has weight") != std::string::npos, ending.why.c_str());
    }

    /// SEMANTICS G8: best is what is better; min_delta is for patience, over all small gains together
    void minDeltaDecidesPatienceAndNotWhatIsBest() {
        config::EvaluationSection section;
        section.patience = 2;
        section.minDelta = 0.01;
        BestValue best = BestValue::make(section, {{"loss", false}}).value();
        const auto take = [&](double loss, std::int64_t step) { return best.take({{"loss", loss}}, GlobalStep(step)); };
        QVERIFY(take(1.0, 1));
        QVERIFY(take(0.995, 2));
        QVERIFY(!best.patienceUsedUp());
        QVERIFY(take(0.985, 3));           // 0.015 better than when patience last began anew
        QVERIFY(!take(0.985, 4) && !best.patienceUsedUp());
        QVERIFY(take(0.98, 5));
        QVERIFY(best.patienceUsedUp());
        QCOMPARE(*best.value(), 0.98);
        QCOMPARE(best.step().value(), 5);
        QVERIFY2(best.sentence().find("No better loss than 0.985 by more than 0.01 in 2 evaluations; the best is 0.98 (update 5)") == 0, best.sentence().c_str());
        BestValue again = BestValue::make(section, {{"loss", false}}).value();
        QVERIFY(again.setStateValues(best.stateValues()).ok());
        QCOMPARE(again.stateValues(), best.stateValues());
        QVERIFY(again.patienceUsedUp());
        QVERIFY(again.take({{"loss", 0.97}}, GlobalStep(6)) && !again.patienceUsedUp());
    }
};

QTEST_GUILESS_MAIN(AttemptTest)
#include "tst_attempt.moc"
