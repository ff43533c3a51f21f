// The loop's counts, normalisation, order of events and endings, on a task that can be computed by hand.
#include "loop_fixture.h"

#include <QtTest>

using namespace lathe;
using namespace lathe::engine;
using namespace lathe::engine::test;

namespace {

using Steps = std::vector<std::int64_t>;

std::vector<Batch> ones(int count) {
    std::vector<Batch> batches;
    for (int i = 0; i < count; ++i) batches.push_back(batchOf({{1.0}}, i));
    return batches;
}

}  // namespace

class LoopTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// SEMANTICS A1: eight micro-batches in windows of two are four steps
    void stepsCountAppliedUpdatesOnly() {
        Fixture f;
        f.windows.batches = ones(8);
        f.run(2);
        QCOMPARE(f.recorder.stepsSeen, (Steps{0, 0, 1, 1, 2, 2, 3, 3}));
        QCOMPARE(f.progress.counters.globalStep.value(), 4);
        QCOMPARE(f.progress.counters.microStep.value(), 8);
        QCOMPARE(f.progress.counters.samples.value(), 8);
    }

    /// SEMANTICS A2: saves at 2 and 4 (and at the end, before and after its evaluation), five rows, one evaluation
    void everyIntervalFiresOnceAStep() {
        Fixture f;
        f.windows.batches = ones(20);
        f.evaluation.list = ones(1);
        f.settings.saveEvery = {Interval::Unit::Updates, 2};
        f.settings.evaluateEvery = {Interval::Unit::Updates, 5};
        f.task.script = {1.0};
        f.run(4);
        QCOMPARE(f.recorder.rows.size(), std::size_t(5));
        QCOMPARE(f.saver.steps, (Steps{2, 4, 5, 5}));
        QCOMPARE(f.saver.reasons, (std::vector<std::string>{"interval", "interval", "end", "end"}));
        QCOMPARE(f.recorder.evaluations.size(), std::size_t(1));
    }

    /// SEMANTICS A2: a save that falls on an epoch's end
    void saveAtAnEpochsEndIsMade() {
        Fixture f;
        f.windows.batches = ones(10);
        f.settings.epochs = 2;
        f.settings.saveEvery = {Interval::Unit::Updates, 10};
        f.run(1);
        QCOMPARE(f.saver.steps, (Steps{10, 20}));
    }

    void plannedUpdatesEqualExecutedOnes_data() {
        QTest::addColumn<int>("batches");
        QTest::addColumn<int>("window");
        QTest::addColumn<int>("updates");
        QTest::newRow("tail") << 10 << 4 << 9;
        QTest::newRow("divisible") << 8 << 4 << 6;
    }
    /// SEMANTICS A3: 9 and 6 updates, planned and executed, and the rate of each up to the last point of the curve
    void plannedUpdatesEqualExecutedOnes() {
        QFETCH(int, batches);
        QFETCH(int, window);
        QFETCH(int, updates);
        Fixture f(1, at::kFloat, Fixture::sgd(0.1));
        f.windows.batches = ones(batches);
        f.settings.epochs = 3;
        f.curve = Curve({.name = "linear", .totalUpdates = updates}, 0.1);
        const Ending ending = f.run(window);
        QCOMPARE(f.progress.counters.globalStep.value(), updates);
        QCOMPARE(plan::plannedUpdates(f.shape, 3, {})->value(), updates);
        QCOMPARE(ending.state, rundir::State::Completed);
        for (const Row& row : f.recorder.rows)
            QCOMPARE(row.result.learningRate, 0.1 * plan::factorAt(f.curve.schedule(), GlobalStep(row.counters.globalStep.value() - 1)));
    }

    /// SEMANTICS B1: a loss of 3 over 1 and of 7 over 7 is 10/8
    void lossIsWeightedOverTheWholeWindow() {
        Fixture f;
        f.windows.batches = {batchOf({{3.0}}), batchOf({{1.0}, {1.0}, {1.0}, {1.0}, {1.0}, {1.0}, {1.0}}, 1)};
        f.run(2);
        QCOMPARE(f.recorder.rows.at(0).result.loss, 1.25);
        QCOMPARE(f.p(), 1.0 - 1.25);
    }

    /// SEMANTICS P4: each term is divided by its own weight over the whole window
    void eachTermHasItsOwnWeight() {
        class TwoTerms final : public Task {
        public:
            std::int64_t outputs() const override { return 1; }
            std::vector<double> weightsOf(const Batch& batch) const override { return {static_cast<double>(batch.count()), batch.ids.front() == 0 ? 1.0 : 3.0}; }
            std::vector<LossTerm> loss(const at::Tensor& output, const Batch&) const override { return {LossTerm{output.sum()}, LossTerm{output.sum() * output.sum(), 0.5}}; }
            std::unique_ptr<MetricPool> metrics() const override { return std::make_unique<MeanPool>(); }
            std::vector<config::Metric> metricInfo() const override { return {{"loss", false}}; }
        };
        Fixture f;
        f.windows.batches = {batchOf({{1.0}}, 0), batchOf({{2.0}, {3.0}}, 1)};
        f.shape = {.samples = 2, .batchSize = 1, .accumulation = plan::fixedWindows(2)};
        const plan::OrderShape order(f.shape);
        TwoTerms task;
        TrainerParts parts{.task = &task, .model = &f.model, .storage = &f.storage, .optimizer = f.optimizer.get(), .parallel = f.parallel.get(),
                           .precision = f.precision.get(), .order = &order, .windows = &f.windows, .curve = &f.curve, .best = f.best.get(),
                           .progress = &f.progress, .time = &f.time, .hooks = {&f.recorder}};
        Trainer(parts, f.settings).run();
        // sums 1 and 5, weights 3; squares 1 and 25, weights 4, coefficient 1/2
        QCOMPARE(f.recorder.rows.at(0).result.loss, 6.0 / 3 + 0.5 * 26.0 / 4);
        QVERIFY(std::abs(f.p() - (1 - (6.0 / 3 + 0.5 * 2 * 26.0 / 4))) < 1e-5);
    }

    /// SEMANTICS B1, B6: batches of 8, 4 and 1 samples of uneven weight give one update, one loss and one norm
    void windowSizeDoesNotChangeTheUpdate() {
        const std::vector<double> inputs{0.3, -1.7, 2.9, 0.01, 4.4, -0.6, 1.1, 0.7}, weights{1, 7, 2, 5, 3, 1, 4, 6};
        std::vector<double> results, losses, norms;
        for (const std::int64_t window : {1, 2, 8}) {
            Fixture f(1, at::kFloat, Fixture::sgd(0.5));
            const std::size_t rows = inputs.size() / static_cast<std::size_t>(window);
            for (std::size_t i = 0; i < inputs.size(); i += rows) {
                std::vector<std::vector<double>> samples;
                for (std::size_t j = 0; j < rows; ++j) samples.push_back({inputs[i + j]});
                Batch batch = batchOf(samples, static_cast<std::int64_t>(i));
                batch.weight = at::tensor(std::vector<double>(&weights[i], &weights[i] + rows), at::kFloat);
                f.windows.batches.push_back(std::move(batch));
            }
            f.run(window);
            results.push_back(f.p());
            losses.push_back(f.recorder.rows.at(0).result.loss);
            norms.push_back(f.recorder.rows.at(0).result.gradNorm);
        }
        for (std::size_t i = 1; i < results.size(); ++i) {
            QVERIFY(std::abs(results[i] - results[0]) < 1e-6);
            QVERIFY(std::abs(losses[i] - losses[0]) < 1e-6);
            QVERIFY(std::abs(norms[i] - norms[0]) < 1e-6);
        }
    }

    /// SEMANTICS B4, P2: windows of 4, 4 and 2 move the weight by -3, and the epoch is left behind
    void tailWindowIsNormalisedOverWhatItHolds() {
        Fixture f;
        f.windows.batches = ones(10);
        f.run(4);
        QCOMPARE(f.windows.sizes.at(0), std::size_t(4));
        QCOMPARE(f.windows.sizes.at(2), std::size_t(2));
        QCOMPARE(f.p(), -2.0);  // from 1 by three steps of -1
        QCOMPARE(f.progress.counters.globalStep.value(), 3);
        QCOMPARE(f.progress.counters.epoch.value(), 1);
        QCOMPARE(f.progress.counters.planEntry.value(), 0);
    }

    /// SEMANTICS B8: ten updates of AdamW with decay, in windows of one and of three
    void decayAndBiasCorrectionCountUpdates() {
        config::OptimizerSection adamw;
        adamw.learningRate = 0.01;
        adamw.weightDecay = 0.1;
        std::vector<double> results;
        for (const std::int64_t window : {1, 3}) {
            Fixture f(1, at::kFloat, adamw);
            for (int update = 0; update < 10; ++update)
                for (std::int64_t i = 0; i < window; ++i) {
                    std::vector<std::vector<double>> rows;
                    for (std::int64_t j = 0; j < 12 / window; ++j) rows.push_back({std::sin(update * 12.0 + static_cast<double>(i * (12 / window) + j))});
                    f.windows.batches.push_back(batchOf(rows));
                }
            f.run(window);
            QCOMPARE(f.optimizer->updates(), 10);
            results.push_back(f.p());
        }
        QVERIFY(std::abs(results[0] - results[1]) < 1e-6);
    }

    /// SEMANTICS E3: gradients of a window are summed, then clipped; the norm shown is the one before
    void clippingActsOnTheWholeWindow() {
        Fixture f(2);
        f.settings.maxGradNorm = 1.0;
        f.windows.batches = {batchOf({{4.0, 0.0}}), batchOf({{0.0, 4.0}}, 1)};  // summed and halved: [2, 2]
        f.run(2);
        QVERIFY(std::abs(f.recorder.rows.at(0).result.gradNorm - std::sqrt(8.0)) < 1e-9);
        QVERIFY(std::abs(f.p(0) - (1 - 0.70710678)) < 1e-6);
        QVERIFY(std::abs(f.p(1) - (1 - 0.70710678)) < 1e-6);
    }

    /// SEMANTICS P1: eight steps, nine attempts, one skipped; B6: row 7 says NaN, its neighbours do not
    void nanLossChangesNothingAndIsShown() {
        config::OptimizerSection adamw;
        Fixture f(1, at::kFloat, adamw);
        f.windows.batches = ones(9);
        f.windows.batches[6] = batchOf({{std::nan("")}}, 6);
        std::vector<double> values, momenta;
        f.recorder.act = [&](const HookContext& context, Wishes&) {
            if (context.point != Point::Update) return;
            values.push_back(f.p());
            momenta.push_back(f.optimizer->stateTensors().at(0).tensor.item<double>());
        };
        const Ending ending = f.run(1);
        QCOMPARE(ending.state, rundir::State::Completed);
        QVERIFY(std::isnan(f.recorder.rows.at(6).result.loss));
        QCOMPARE(f.recorder.rows.at(6).result.reason, std::string("the loss is nan"));
        QVERIFY(std::isfinite(f.recorder.rows.at(5).result.loss) && std::isfinite(f.recorder.rows.at(7).result.loss));
        QCOMPARE(values.at(6), values.at(5));
        QCOMPARE(momenta.at(6), momenta.at(5));
        QVERIFY(values.at(7) != values.at(6));
        QCOMPARE(f.progress.counters.skippedUpdates.value(), 1);
        QCOMPARE(f.progress.counters.globalStep.value(), 8);
        QCOMPARE(f.progress.counters.updateAttempts.value(), 9);
        QCOMPARE(f.recorder.rows.at(6).counters.globalStep.value(), 6);
        QCOMPARE(f.model.seen(), 8.0);
    }

    void infiniteGradientIsSkippedAndNamed() {
        Fixture f(2);
        f.windows.batches = {batchOf({{std::numeric_limits<double>::infinity(), 0.0}})};
        f.settings.maxSkippedInARow = 5;
        f.settings.epochs = 1;
        f.run(1);
        QCOMPARE(f.p(0), 1.0);
        QCOMPARE(f.progress.counters.skippedUpdates.value(), 1);
        QVERIFY(!f.recorder.rows.at(0).result.applied);
    }

    /// SEMANTICS D4, P5: after fifty in a row
    void skippedUpdatesInARowEndTheRunAsDiverged() {
        Fixture f;
        f.windows.batches = {batchOf({{std::nan("")}})};
        f.settings.epochs.reset();
        f.settings.maxUpdates = 10;
        f.settings.maxSkippedInARow = 50;
        const Ending ending = f.run(1);
        QCOMPARE(ending.state, rundir::State::Diverged);
        QCOMPARE(f.progress.counters.updateAttempts.value(), 50);
        QVERIFY(f.saver.steps.empty());
        QVERIFY(ending.why.find("loss is nan") != std::string::npos);
        QVERIFY2(ending.why.find("Run again with a lower") != std::string::npos, ending.why.c_str());  // there is nothing to go back to
    }

    /// SEMANTICS P1: a length in updates ends on applied ones, a length in epochs on data, where it says how far the curve went
    void lengthsEndOnWhatTheyCount() {
        for (const bool inUpdates : {true, false}) {
            Fixture f;
            f.windows.batches = ones(4);
            f.windows.batches[1] = batchOf({{std::nan("")}}, 1);
            f.curve = Curve({.name = "linear", .warmupUpdates = 0, .totalUpdates = 4}, 0.1);
            f.settings.epochs = inUpdates ? std::nullopt : std::optional<std::int64_t>(1);
            f.settings.maxUpdates = inUpdates ? std::optional<std::int64_t>(4) : std::nullopt;
            const Ending ending = f.run(1);
            QCOMPARE(ending.state, rundir::State::Completed);
            QCOMPARE(f.progress.counters.globalStep.value(), inUpdates ? 4 : 3);
            QCOMPARE(f.progress.counters.updateAttempts.value(), inUpdates ? 5 : 4);
            const std::string said = inUpdates ? "at update 4 (1 more were skipped)" : "Finished 1 epoch at update 3 (1 more were skipped), learning rate at 0.5 of its peak";
            QVERIFY2(ending.why.find(said) != std::string::npos, ending.why.c_str());
        }
    }

    void windowWithoutWeightIsSkipped() {
        Fixture f;
        Batch empty = batchOf({{1.0}});
        empty.weight = at::zeros({1});
        f.windows.batches = {empty, batchOf({{1.0}}, 1)};
        f.run(1);
        QCOMPARE(f.recorder.rows.at(0).result.reason, std::string("no sample of the window has weight"));
        QCOMPARE(f.progress.counters.globalStep.value(), 1);
        QCOMPARE(f.p(), 0.0);
    }

    /// SEMANTICS P1: a skipped update repeats no evaluation
    void intervalEventsWaitForAnAppliedUpdate() {
        Fixture f;
        f.windows.batches = {batchOf({{1.0}}), batchOf({{std::nan("")}}, 1), batchOf({{1.0}}, 2)};
        f.evaluation.list = ones(1);
        f.task.script = {1.0};
        f.settings.epochs = 2;
        f.settings.evaluateEvery = {Interval::Unit::Updates, 1};
        f.run(1);
        Steps steps;
        for (const auto& [step, value] : f.recorder.evaluations) steps.push_back(step);
        QCOMPARE(steps, (Steps{1, 2, 3, 4}));
    }

    /// SEMANTICS H2: (2, 1) and (90, 9) pool to 9.2; P8: buffers stay as they are
    void evaluationPoolsItsStatistics() {
        Fixture f(1, at::kFloat, Fixture::sgd(0.0));
        f.windows.batches = ones(1);
        Batch one = batchOf({{2.0}}), nine = batchOf({{90.0}}, 1);
        one.weight = at::full({1}, 1.0);
        nine.weight = at::full({1}, 9.0);
        f.evaluation.list = {one, nine};
        f.settings.evaluateEvery = {Interval::Unit::Epochs, 1};
        f.run(1);
        QCOMPARE(f.recorder.evaluations.size(), std::size_t(1));
        QCOMPARE(f.recorder.evaluations[0].second, 9.2);
        QCOMPARE(f.model.seen(), 1.0);
    }

    /// SEMANTICS G7: the checkpoint of a step holds the metric, the best and the patience of that step; P6: also a rate cut at it
    void aCheckpointHoldsWhatItsOwnEvaluationChanged() {
        Fixture f;
        f.windows.batches = ones(4);
        f.evaluation.list = ones(1);
        f.task.script = {0.5, 0.75};
        f.settings.evaluateEvery = f.settings.saveEvery = {Interval::Unit::Updates, 2};
        config::RunConfig config;
        config.optimizer.learningRate = 1;
        config.schedule.name = "plateau";
        config.schedule.patience = 0;
        f.curve = Curve::make(config, {}).value();
        std::vector<StateValues> best;
        std::vector<double> rates;
        f.saver.onSave = [&] {
            if (f.saver.pending.back()) return;  // of the same step, and replaced
            best.push_back(f.best->stateValues());
            rates.push_back(f.curve.rateAt(f.progress.counters.globalStep));
        };
        f.run(1);
        QCOMPARE(f.saver.steps, (Steps{2, 2, 4, 4}));
        QCOMPARE(f.saver.metrics.at(1).at("loss"), 0.5);
        QCOMPARE(f.saver.metrics.at(3).at("loss"), 0.75);
        QCOMPARE(f.saver.best, (std::vector<bool>{false, true, false, false}));
        QVERIFY(best.at(0).at("step") == "2" && best.at(0).at("value") == "0.5" && best.at(0).at("stale") == "0");
        QVERIFY(best.at(1).at("step") == "2" && best.at(1).at("value") == "0.5" && best.at(1).at("stale") == "1");
        QVERIFY(rates.at(0) == 1.0 && rates.at(1) < 1.0);
    }

    /// SEMANTICS P6: the checkpoint of a step takes in what its evaluation changed
    void evaluationComesBeforeTheLastCheckpointOfTheSameStep() {
        Fixture f;
        f.windows.batches = ones(4);
        f.evaluation.list = ones(1);
        f.task.script = {0.5, 0.25};
        f.settings.evaluateEvery = {Interval::Unit::Updates, 2};
        f.settings.saveEvery = {Interval::Unit::Updates, 2};
        f.run(1);
        QCOMPARE(f.saver.steps, (Steps{2, 2, 4, 4}));
        QCOMPARE(f.saver.metrics.at(1).at("loss"), 0.5);
        QCOMPARE(f.saver.metrics.at(3).at("loss"), 0.25);
        QVERIFY(f.saver.best.at(1) && f.saver.best.at(3));
        const std::string order = "update; before save; after save; evaluation start; evaluation batch; evaluation end; before save; after save; ";
        QVERIFY(f.recorder.order.find(order) != std::string::npos);
    }

    void aPauseTakesEffectWithinAnEvaluation() {
        Fixture f;
        f.windows.batches = ones(2);
        f.evaluation.list = ones(3);
        f.settings.evaluateEvery = {Interval::Unit::Epochs, 1};
        f.recorder.act = [&](const HookContext& context, Wishes& wishes) {
            if (context.point == Point::EvalBatch && context.done == 1) wishes.pause = true;
        };
        f.recorder.whilePaused = [&](Wishes& wishes) {
            QCOMPARE(f.recorder.evaluations.size(), std::size_t(0));
            if (f.recorder.pauses == 1) wishes.save = wishes.pause = true;  // a save is asked for meanwhile
        };
        QCOMPARE(f.run(1).state, rundir::State::Completed);
        QCOMPARE(f.recorder.pauses, 2);
        QVERIFY2(f.recorder.order.find("evaluation batch; before save; after save; evaluation batch; evaluation batch; evaluation end; ") != std::string::npos, f.recorder.order.c_str());
        QCOMPARE(f.recorder.evaluations.size(), std::size_t(1));
        QCOMPARE(f.saver.reasons, (std::vector<std::string>{"end", "asked", "end"}));
        QCOMPARE(f.saver.pending, (std::vector<bool>{true, true, false}));
        QVERIFY(!f.saver.probes.at(1).samples.empty());
    }

    void aStopEndsAPauseWithinAnEvaluation() {
        Fixture f;
        f.windows.batches = ones(2);
        f.evaluation.list = ones(3);
        f.settings.evaluateEvery = {Interval::Unit::Updates, 1};
        f.recorder.act = [&](const HookContext& context, Wishes& wishes) { wishes.pause = wishes.pause || context.point == Point::EvalBatch; };
        f.recorder.whilePaused = [&](Wishes& wishes) { wishes.stop = Ending{rundir::State::Stopped, "Stopped, as asked", true}; };
        QCOMPARE(f.run(1).state, rundir::State::Stopped);
        QCOMPARE(f.recorder.pauses, 1);
        QCOMPARE(f.saver.pending.at(0), true);
    }

    /// SEMANTICS P6: such a checkpoint says so, and a resume evaluates first
    void failedEvaluationPublishesACheckpointThatOwesIt() {
        Fixture f;
        f.windows.batches = ones(4);
        f.evaluation.list = ones(1);
        f.evaluation.fail = true;
        f.settings.evaluateEvery = {Interval::Unit::Updates, 2};
        const Ending ending = f.run(1);
        QCOMPARE(ending.state, rundir::State::Failed);
        QVERIFY(ending.why.find("rose/12.jpg") != std::string::npos);
        QCOMPARE(f.saver.steps, (Steps{2}));
        QCOMPARE(f.saver.pending.at(0), true);
        f.evaluation.fail = false;
        f.recorder.order.clear();
        QCOMPARE(f.run(1).state, rundir::State::Completed);
        QCOMPARE(f.recorder.evaluations.at(0).first, 2);
        QVERIFY(f.recorder.order.starts_with("train start; evaluation start; "));
    }

    /// SEMANTICS F11: 1.0 1.1 1.2 | resume | 1.3 stops there, best stays 1.0, and another resume does nothing
    void patienceAndBestSurviveAResume() {
        Fixture f;
        f.windows.batches = ones(8);
        f.evaluation.list = ones(1);
        f.task.script = {1.0, 1.1, 1.2, 1.3};
        f.settings.evaluateEvery = {Interval::Unit::Updates, 1};
        f.settings.epochs.reset();
        f.settings.maxUpdates = 3;
        config::EvaluationSection section;
        section.patience = 3;
        *f.best = BestValue::make(section, f.task.metricInfo()).value();
        f.run(1);
        BestValue again = BestValue::make(section, f.task.metricInfo()).value();
        QVERIFY(again.setStateValues(f.best->stateValues()).ok());
        *f.best = again;
        f.settings.maxUpdates = 100;
        const Ending ending = f.run(1);
        QCOMPARE(f.progress.counters.globalStep.value(), 4);
        QCOMPARE(ending.state, rundir::State::Completed);
        QVERIFY(ending.why.find("No better loss than 1 (update 1)") != std::string::npos);
        QCOMPARE(*f.best->value(), 1.0);
        QCOMPARE(f.run(1).state, rundir::State::Completed);  // does nothing unless extended
        QCOMPARE(f.progress.counters.globalStep.value(), 4);
    }

    void unknownMetricListsTheKnownOnes() {
        config::EvaluationSection section;
        section.bestMetric = "f1";
        const auto best = BestValue::make(section, {{"accuracy", true}, {"loss", false}});
        QVERIFY(!best.ok());
        QCOMPARE(best.error().key, std::string("evaluation.best_metric"));
        QVERIFY(best.error().sentence.find("accuracy, loss") != std::string::npos);
    }

    /// SEMANTICS G5: a save without room is told, and the next one is made
    void failedSaveKeepsTrainingAndTheNextOneTries() {
        Fixture f;
        f.windows.batches = ones(6);
        f.settings.saveEvery = {Interval::Unit::Updates, 2};
        f.saver.failures = 1;
        QCOMPARE(f.run(1).state, rundir::State::Completed);
        QCOMPARE(f.recorder.saveErrors.size(), std::size_t(1));
        QVERIFY(f.recorder.saveErrors[0].find("need 8 MB") != std::string::npos);
        QCOMPARE(f.saver.steps, (Steps{4, 6}));
    }

    void runWhoseLastSaveFailsIsNotCalledCompleted() {
        for (const bool stopped : {false, true}) {
            Fixture f;
            f.windows.batches = ones(4);
            f.saver.failures = 100;
            f.recorder.act = [stopped](const HookContext& context, Wishes& wishes) {
                if (stopped && context.point == Point::Update && context.counters->globalStep.value() == 2) wishes.stop = Ending{rundir::State::Stopped, "asked", true};
            };
            const Ending ending = f.run(1);
            QCOMPARE(ending.state, rundir::State::Failed);
            QVERIFY2(ending.why.find("need 8 MB") != std::string::npos && ending.why.find("could not be saved") != std::string::npos, ending.why.c_str());
        }
    }

    void runWithoutAnyAppliedUpdateHasDiverged() {
        Fixture f;
        f.windows.batches = {batchOf({{std::nan("")}}), batchOf({{std::nan("")}}, 1)};
        f.settings.epochs = 1;
        f.settings.maxSkippedInARow = 50;
        const Ending ending = f.run(1);
        QCOMPARE(ending.state, rundir::State::Diverged);
        QVERIFY2(ending.why.find("each of 2") != std::string::npos, ending.why.c_str());
        QVERIFY(f.saver.steps.empty());
    }

    void aRunThatEndsInARowOfSkipsHasDiverged() {
        for (const int skips : {9, 10}) {
            Fixture f;
            f.windows.batches = ones(4);
            for (int i = 0; i < skips; ++i) f.windows.batches.push_back(batchOf({{std::nan("")}}, 4 + i));
            f.settings.epochs = 1;
            f.settings.maxSkippedInARow = 50;
            const Ending ending = f.run(1);
            QCOMPARE(ending.state, skips < 10 ? rundir::State::Completed : rundir::State::Diverged);
            QVERIFY2(skips < 10 || ending.why.find("last 10 updates") != std::string::npos, ending.why.c_str());
        }
    }

    /// SEMANTICS P10: asked for after the first micro-batch of a window, made after the last
    void aSaveAskedForWithinAWindowWaitsForItsEnd() {
        Fixture f;
        f.windows.batches = ones(12);
        std::int64_t asked = 0, saved = 0;
        f.recorder.act = [&](const HookContext& context, Wishes& wishes) {
            if (context.point == Point::MicroStep && ++asked == 5) wishes.save = true;
        };
        f.saver.onSave = [&] { saved = saved == 0 ? f.progress.counters.microStep.value() : saved; };
        f.run(4);
        QCOMPARE(f.saver.steps, (Steps{2, 3}));
        QCOMPARE(f.saver.reasons, (std::vector<std::string>{"asked", "end"}));
        QCOMPARE(saved, 8);
    }

    /// SEMANTICS P10: a stop asked for within a window
    void stopSavesAtTheUpdateBoundary() {
        Fixture f;
        f.windows.batches = ones(20);
        f.recorder.act = [](const HookContext& context, Wishes& wishes) {
            if (context.point == Point::MicroStep && context.counters->globalStep.value() == 1) wishes.stop = Ending{rundir::State::Stopped, "asked", true};
        };
        const Ending ending = f.run(4);
        QCOMPARE(ending.state, rundir::State::Stopped);
        QCOMPARE(f.saver.steps, (Steps{2}));
        QCOMPARE(f.progress.counters.microStep.value(), 8);
    }

    void discardLeavesNoCheckpoint() {
        Fixture f;
        f.windows.batches = ones(4);
        f.recorder.act = [](const HookContext& context, Wishes& wishes) {
            if (context.point == Point::Update) wishes.stop = Ending{rundir::State::Stopped, "asked", false};
        };
        f.run(1);
        QVERIFY(f.saver.steps.empty());
    }

    void probeForetellsTheNextWindow() {
        Fixture f(1, at::kFloat, config::OptimizerSection{});
        for (int i = 0; i < 6; ++i) f.windows.batches.push_back(batchOf({{0.1 * i + 0.3}}, i));
        f.settings.saveEvery = {Interval::Unit::Updates, 2};
        std::vector<Probe> seen;
        f.recorder.act = [&](const HookContext& context, Wishes&) {
            if (context.point == Point::Update) seen.push_back(probeOf(*context.update));
        };
        f.run(1);
        QCOMPARE(f.saver.steps, (Steps{2, 4, 6}));
        QCOMPARE(firstDifference(f.saver.probes.at(0), seen.at(2)), std::string());
        QCOMPARE(firstDifference(f.saver.probes.at(1), seen.at(4)), std::string());
        QCOMPARE(firstDifference(f.saver.probes.at(0), seen.at(3)), std::string("data order"));
        QCOMPARE(f.model.seen(), 6.0);
        QCOMPARE(f.optimizer->updates(), 6);
    }

    void failingHookIsNamedAndTrainingGoesOn() {
        Fixture f;
        f.windows.batches = ones(3);
        f.recorder.act = [](const HookContext& context, Wishes&) {
            if (context.point == Point::Update) throw std::runtime_error("no luck");
        };
        QCOMPARE(f.run(1).state, rundir::State::Completed);
        QCOMPARE(f.recorder.exceptions.size(), std::size_t(3));
        QVERIFY(f.recorder.exceptions[0].find("recorder at update") != std::string::npos);
        Fixture required;
        required.windows.batches = ones(3);
        required.recorder.isRequired = true;
        required.recorder.act = f.recorder.act;
        QCOMPARE(required.run(1).state, rundir::State::Failed);
        QCOMPARE(required.progress.counters.globalStep.value(), 1);
    }

    void placeAfterAnyNumberOfUpdatesIsExact_data() {
        QTest::addColumn<int>("updates");
        QTest::addColumn<int>("epoch");
        QTest::addColumn<int>("entry");
        QTest::newRow("whole epochs") << 500 << 20 << 0;
        QTest::newRow("mid-epoch") << 30 << 1 << 20;
    }
    /// SEMANTICS F5: of 100 batches in windows of four, update 500 is (20, 0) and update 30 is (1, 20)
    void placeAfterAnyNumberOfUpdatesIsExact() {
        QFETCH(int, updates);
        QFETCH(int, epoch);
        QFETCH(int, entry);
        Fixture f(1, at::kFloat, Fixture::sgd(0.0));
        f.windows.batches = ones(100);
        f.settings.epochs.reset();
        f.settings.maxUpdates = updates;
        f.run(4);
        QCOMPARE(f.progress.counters.epoch.value(), epoch);
        QCOMPARE(f.progress.counters.planEntry.value(), entry);
    }
};

QTEST_MAIN(LoopTest)
#include "tst_loop.moc"
