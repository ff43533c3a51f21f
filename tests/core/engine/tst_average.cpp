// The running mean of the weights, clipping, and what is shown of gradients and weights.
#include "engine/train/distribution.h"
#include "engine/train/weight_average.h"
#include "loop_fixture.h"

#include <QtTest>

#include <cmath>
#include <numeric>

using namespace lathe;
using namespace lathe::engine;
using namespace lathe::engine::test;

namespace {

config::OptimizerSection averaged(double decay, bool warmsUp) {
    config::OptimizerSection section = Fixture::sgd(0.5);
    section.ema = true;
    section.emaDecay = decay;
    section.emaWarmup = warmsUp;
    return section;
}

/// A run of a ScaleModel with a mean of its weights; the gradient of p is the mean input.
struct AveragedRun {
    AveragedRun(double decay, bool warmsUp) : f(1, at::kDouble, averaged(decay, warmsUp)), average(f.storage, f.section) {
        f.average = &average;
        state.add(f.curve);
        state.add(f.progress);
        state.add(*f.optimizer);
        state.add(average);
        for (int i = 0; i < 12; ++i) f.windows.batches.push_back(batchOf({{std::sin(i + 1.0)}}, i, at::kDouble));
    }
    double mean() const { return average.stateTensors()[0].tensor.item<double>(); }
    Fixture f;
    WeightAverage average;
    TrainState state;
};

}  // namespace

class AverageTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void meanIsThatOfItsFormula_data() {
        QTest::addColumn<bool>("warmsUp");
        QTest::newRow("plain") << false;
        QTest::newRow("warming up") << true;
    }
    void meanIsThatOfItsFormula() {
        QFETCH(bool, warmsUp);
        AveragedRun run(0.9, warmsUp);
        run.f.run(1);
        double weight = 1, mean = 1;
        for (int n = 0; n < 12; ++n) {
            weight -= 0.5 * std::sin(n + 1.0);
            const double decay = warmsUp ? std::min(0.9, (1.0 + n) / (10.0 + n)) : 0.9;
            mean = decay * mean + (1 - decay) * weight;
        }
        QVERIFY(std::abs(run.f.p() - weight) < 1e-12);
        QVERIFY2(std::abs(run.mean() - mean) < 1e-12, qPrintable(QString("%1, should be %2").arg(run.mean()).arg(mean)));
    }
    /// SEMANTICS B8: by updates, not by micro-batches; and a skipped update leaves it
    void meanMovesOncePerAppliedUpdate() {
        AveragedRun run(0.9, false);
        run.f.windows.batches = {batchOf({{1.0}}, 0, at::kDouble), batchOf({{1.0}}, 1, at::kDouble), batchOf({{1.0}}, 2, at::kDouble),
                                 batchOf({{std::nan("")}}, 3, at::kDouble), batchOf({{1.0}}, 4, at::kDouble)};
        run.f.run(2);
        QCOMPARE(run.f.progress.counters.skippedUpdates.value(), 1);
        QCOMPARE(run.average.stateValues().at("updates"), std::string("2"));
        QVERIFY(std::abs(run.mean() - (0.9 * (0.9 + 0.1 * 0.5) + 0.1 * 0.0)) < 1e-12);
    }
    void interruptedMeanGoesOnExactly() {
        AveragedRun straight(0.99, true), first(0.99, true), second(0.99, true);
        straight.f.run(1);
        first.f.settings.maxUpdates = 7;
        first.f.run(1);
        QVERIFY(second.state.setValues(first.state.values()).ok());
        {
            const at::NoGradGuard noGrad;
            second.f.model.p().copy_(first.f.model.p());
            const auto from = first.state.tensors(), to = second.state.tensors();
            QCOMPARE(from.size(), to.size());
            for (std::size_t i = 0; i < from.size(); ++i) to[i].tensor.copy_(from[i].tensor);
        }
        second.f.run(1);
        QCOMPARE(second.f.p(), straight.f.p());
        QCOMPARE(second.mean(), straight.mean());
        QCOMPARE(second.state.digest(), straight.state.digest());
    }
    void evaluationTakesTheMeanWhenAskedAndLeavesTheWeights() {
        for (const bool asked : {false, true}) {
            AveragedRun run(0.9, false);
            run.f.evaluation.list = {batchOf({{2.0}}, 0, at::kDouble)};
            run.f.settings.evaluatesAverage = asked;
            run.f.settings.evaluateEvery = {Interval::Unit::Updates, 12};
            std::vector<double> saved;
            run.f.saver.onSave = [&] { saved.push_back(run.f.p()); };   // also in the middle of an evaluation
            run.f.recorder.act = [&](const HookContext& context, Wishes& wishes) { wishes.pause = wishes.pause || context.point == Point::EvalStart; };
            run.f.recorder.whilePaused = [](Wishes& wishes) { wishes.save = true; };
            run.f.run(1);
            QCOMPARE(run.f.recorder.evaluations.back().second, 2.0 * (asked ? run.mean() : run.f.p()));
            QVERIFY(!saved.empty());
            for (const double p : saved) QCOMPARE(p, run.f.p());
            QVERIFY(run.mean() != run.f.p());
            QCOMPARE(run.f.model.p().const_data_ptr(), run.f.storage.flats()[0].value.const_data_ptr());
        }
    }
    void damagedStateOfTheMeanIsRefused() {
        AveragedRun run(0.9, false);
        QVERIFY(!run.average.setStateValues({{"updates", "-1"}}).ok());
        QVERIFY(!run.average.setStateValues({{"updates", "many"}}).ok());
        QVERIFY(!run.average.setStateValues({}).ok());
    }

    void valuesAreClippedEachForItselfAndTheNormIsThatBefore() {
        Fixture f(3, at::kDouble, Fixture::sgd(1.0));
        f.windows.batches = {batchOf({{3.0, -0.25, -4.0}}, 0, at::kDouble)};
        f.settings.maxGradValue = 0.5;
        f.run(1);
        QCOMPARE(f.p(0), 0.5);
        QCOMPARE(f.p(1), 1.25);
        QCOMPARE(f.p(2), 1.5);
        QVERIFY(std::abs(f.recorder.rows.at(0).result.gradNorm - std::sqrt(9 + 0.0625 + 16)) < 1e-12);
        Fixture off(3, at::kDouble, Fixture::sgd(1.0));
        off.windows.batches = f.windows.batches;
        off.run(1);
        QCOMPARE(off.p(2), 5.0);
        QCOMPARE(off.recorder.rows.at(0).result.gradNorm, f.recorder.rows.at(0).result.gradNorm);
    }
    void normsAndHistogramsComeAtTheirIntervalBeforeClipping() {
        Fixture f(3, at::kDouble, Fixture::sgd(1.0));
        for (int i = 0; i < 6; ++i) f.windows.batches.push_back(batchOf({{3.0, 0.0, -4.0}}, i, at::kDouble));
        f.windows.batches[3] = batchOf({{std::nan(""), 0.0, 0.0}}, 3, at::kDouble);   // left out: it shifts what follows
        f.settings.maxGradNorm = 0.1;
        f.settings.normsEvery = {Interval::Unit::Updates, 2};
        f.settings.histogramsEvery = {Interval::Unit::Updates, 5};
        f.run(1);
        std::vector<std::int64_t> norms, histograms;
        for (const Row& row : f.recorder.rows) {
            if (!row.result.distributions) continue;
            const Distributions& seen = *row.result.distributions;
            if (!seen.groupNorms.empty()) {
                norms.push_back(row.counters.globalStep.value());
                QCOMPARE(seen.groupNorms, std::vector<double>{5.0});
            }
            if (seen.histograms.empty()) continue;
            histograms.push_back(row.counters.globalStep.value());
            QCOMPARE(seen.histograms.size(), std::size_t(2));
            QCOMPARE(seen.histograms[0].name, std::string("gradients/p"));
            QCOMPARE(seen.histograms[0].edges.front(), -4.0);
            QCOMPARE(seen.histograms[0].edges.back(), 3.0);
            QCOMPARE(seen.histograms[1].name, std::string("weights/p"));
        }
        QCOMPARE(norms, (std::vector<std::int64_t>{2, 4}));
        QCOMPARE(histograms, std::vector<std::int64_t>{5});
    }
    void histogramCountsEveryFiniteValueOnce() {
        const at::Tensor values = at::arange(-320, 320, at::kFloat).div(10);
        const Histogram even = histogramOf("x", values);
        QCOMPARE(even.counts.size() + 1, even.edges.size());
        QCOMPARE(std::accumulate(even.counts.begin(), even.counts.end(), 0.0), 640.0);
        for (const double count : even.counts) QVERIFY(std::abs(count - 10) <= 1);
        for (std::size_t i = 0; i + 1 < even.edges.size(); ++i) QVERIFY(even.edges[i] < even.edges[i + 1]);
        const double inf = std::numeric_limits<double>::infinity(), big = std::numeric_limits<double>::max();
        const auto total = [](const std::vector<double>& list) {
            const Histogram histogram = histogramOf("x", at::tensor(list, at::kDouble));
            for (std::size_t i = 0; i + 1 < histogram.edges.size(); ++i)
                if (!(histogram.edges[i] < histogram.edges[i + 1])) return -1.0;
            return std::accumulate(histogram.counts.begin(), histogram.counts.end(), 0.0);
        };
        QCOMPARE(total({0, 0, 0}), 3.0);
        QCOMPARE(total({1e300, 1e300}), 2.0);
        QCOMPARE(total({-big, big, 0}), 3.0);
        QCOMPARE(total({std::nan(""), inf, -inf, 2}), 1.0);
        QCOMPARE(total({std::nan("")}), 0.0);
        QCOMPARE(total({}), 0.0);
    }
};

QTEST_GUILESS_MAIN(AverageTest)
#include "tst_average.moc"
