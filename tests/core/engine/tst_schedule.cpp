// The learning rate in the loop: interrupted, lengthened, and cut where evaluations get no better.
#include "config/schema.h"
#include "engine/checkpoint/trainer_record.h"
#include "loop_fixture.h"

#include <QtTest>

using namespace lathe;
using namespace lathe::engine;
using namespace lathe::engine::test;

namespace {

constexpr std::int64_t kUpdates = 20;

config::RunConfig configOf(const std::string& kind) {
    config::RunConfig config;
    config.optimizer.learningRate = 0.3;
    config.schedule.name = kind;
    config.schedule.warmupUpdates = 3;
    config.schedule.finalFactor = 0.01;
    config.schedule.cycles = kind == "cosine" ? 2 : 1;
    config.schedule.cycleGrowth = kind == "cosine" ? 1.5 : 1;
    config.schedule.decayFactor = 0.7;
    config.schedule.decayUpdates = 4;
    config.schedule.patience = 1;
    config.schedule.cooldown = 1;
    return config;
}

/// One process of a run: trains until `stopAt` applied updates; what it was given before comes as a checkpoint's text.
struct Process {
    Process(const config::RunConfig& config, const std::string& checkpoint) : config(config) {
        f.curve = Curve::make(config, GlobalStep(kUpdates)).value();
        state.add(f.curve);
        state.add(f.progress);
        state.add(*f.best);
        if (!checkpoint.empty()) {
            QVERIFY(state.setValues(parseTrainerRecord(checkpoint)->state).ok());
            QVERIFY(f.curve.reconcile(config, GlobalStep(kUpdates), f.progress.counters.globalStep, false).empty());
        }
        for (int i = 0; i < kUpdates; ++i) f.windows.batches.push_back(batchOf({{0.001}}, i));
        f.evaluation.list = {batchOf({{1.0}})};
        f.settings.maxUpdates = kUpdates;
        f.settings.evaluateEvery = {Interval::Unit::Updates, 2};
        f.task.script = {1.0, 1.1, 1.2, 1.3, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0};
        f.task.evaluations = static_cast<std::size_t>(f.progress.counters.globalStep.value() / 2);
    }
    std::string run(std::int64_t stopAt) {
        f.recorder.act = [=](const HookContext& context, Wishes& wishes) {
            if (context.point == Point::Update && context.counters->globalStep.value() == stopAt) wishes.stop = Ending{rundir::State::Stopped, "asked", false};
        };
        f.run(1);
        return trainerRecordJson({.state = state.values(), .probe = {}, .environment = {}, .configYaml = {}, .dataFingerprint = {}});
    }
    std::vector<double> rates() const {
        std::vector<double> all;
        for (const Row& row : f.recorder.rows) all.push_back(row.result.learningRate);
        return all;
    }

    config::RunConfig config;
    Fixture f;
    TrainState state;
};

}  // namespace

class ScheduleTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// SEMANTICS C4, for every kind
    void ratesOfAnInterruptedRunEqualThoseOfAStraightOne_data() {
        QTest::addColumn<std::string>("kind");
        for (const std::string& kind : config::Schema::builtin().find("schedule.name")->choices) QTest::newRow(kind.c_str()) << kind;
    }
    void ratesOfAnInterruptedRunEqualThoseOfAStraightOne() {
        QFETCH(std::string, kind);
        const config::RunConfig config = configOf(kind);
        Process straight(config, {});
        straight.run(kUpdates);
        QCOMPARE(straight.rates().size(), std::size_t(kUpdates));
        if (kind == "plateau") QVERIFY2(straight.rates().back() < 0.3 * 0.5, "it should have been cut twice or more");
        for (const std::vector<std::int64_t>& stops : {std::vector<std::int64_t>{12, kUpdates}, {3, 5, 13, kUpdates}}) {
            std::vector<double> rates;
            std::string checkpoint;
            for (const std::int64_t stop : stops) {
                Process part(config, checkpoint);
                checkpoint = part.run(stop);
                const std::vector<double> here = part.rates();
                rates.insert(rates.end(), here.begin(), here.end());
            }
            QCOMPARE(rates, straight.rates());
        }
    }
    /// SEMANTICS C6, in the loop: patience 2, an evaluation every 50 updates
    void plateauCutsOnceAtTheFourthEvaluation() {
        Fixture f;
        config::RunConfig config;
        config.optimizer.learningRate = 0.5;
        config.schedule.name = "plateau";
        config.schedule.patience = 2;
        f.curve = Curve::make(config, {}).value();
        f.windows.batches.assign(220, batchOf({{0.0}}));
        f.evaluation.list = {batchOf({{1.0}})};
        f.task.script = {1.0, 1.1, 1.2, 1.3, 1.3};
        f.settings.evaluateEvery = {Interval::Unit::Updates, 50};
        std::vector<std::string> cuts;
        f.recorder.act = [&](const HookContext& context, Wishes&) {
            if (context.point == Point::EvalEnd && !context.evaluation->rateCut.empty()) cuts.push_back(context.evaluation->rateCut);
        };
        f.run(1);
        QCOMPARE(cuts.size(), std::size_t(1));
        QVERIFY2(cuts[0].find("now 0.05: no better loss than 1 in 3 evaluations") != std::string::npos, cuts[0].c_str());
        for (const Row& row : f.recorder.rows) QCOMPARE(row.result.learningRate, row.counters.globalStep.value() <= 200 ? 0.5 : 0.05);
    }
    /// SEMANTICS P3: whatever evaluations say, the rate is a function of the update and the base rate; of plateau alone it is not
    void evaluationsMoveNoCurveButPlateau() {
        for (const std::string& kind : config::Schema::builtin().find("schedule.name")->choices) {
            const Curve fresh = Curve::make(configOf(kind), GlobalStep(kUpdates)).value();
            Curve used = fresh;
            for (int i = 1; i <= 9; ++i) used.take({{"loss", 1.0 + i}}, GlobalStep(i));
            bool isSame = used.stateValues() == fresh.stateValues();
            for (std::int64_t k = kUpdates; k >= 0; --k) isSame = isSame && used.rateAt(GlobalStep(k)) == fresh.rateAt(GlobalStep(k));
            QVERIFY2(isSame == (kind != "plateau"), kind.c_str());
        }
    }
    void aMetricThatIsNotDefinedCutsNoRate() {
        Curve curve = Curve::make(configOf("plateau"), {}, {"auc", true}).value();
        for (int i = 1; i <= 9; ++i) QCOMPARE(curve.take({{"auc", std::nan("")}, {"loss", 1.0}}, GlobalStep(i)), std::string());
        QCOMPARE(curve.factorAt(GlobalStep(10)), 1.0);
    }
    void plateauBeginsAnewWithAnotherMetric() {
        config::RunConfig config = configOf("plateau");
        Curve saved = Curve::make(config, {}, {"loss", false}).value();
        for (int i = 1; i <= 4; ++i) saved.take({{"loss", 1.0}, {"accuracy", 0.5}}, GlobalStep(i));
        QVERIFY(saved.factorAt(GlobalStep(5)) < 1);
        Curve loaded = Curve::make(config, {}, {"accuracy", true}).value();
        QVERIFY(loaded.setStateValues(saved.stateValues()).ok());
        QCOMPARE(loaded.factorAt(GlobalStep(5)), saved.factorAt(GlobalStep(5)));
        const auto told = loaded.reconcile(config, {}, GlobalStep(5), false);
        QVERIFY(!told.empty() && told[0].find("begins anew") != std::string::npos);
        QCOMPARE(loaded.factorAt(GlobalStep(5)), 1.0);
    }
    /// SEMANTICS C5: a length that was never there is none, and one of another kind of curve says nothing
    void anotherKindOfCurveBeginsWithTheLengthOfTheRun() {
        config::RunConfig constant = configOf("constant");
        Curve saved = Curve::make(constant, {}).value();
        QCOMPARE(saved.stateValues().at("total_updates"), std::string("none"));
        const config::RunConfig cosine = configOf("cosine");
        Curve loaded = Curve::make(cosine, GlobalStep(400)).value();
        QVERIFY(loaded.setStateValues(saved.stateValues()).ok());
        loaded.reconcile(cosine, GlobalStep(400), GlobalStep(100), false);
        const Curve fresh = Curve::make(cosine, GlobalStep(400)).value();
        QCOMPARE(loaded.rateAt(GlobalStep(100)), fresh.rateAt(GlobalStep(100)));
        Curve linear = Curve::make(configOf("linear"), GlobalStep(40)).value();
        loaded = Curve::make(cosine, GlobalStep(400)).value();
        QVERIFY(loaded.setStateValues(linear.stateValues()).ok());
        const auto told = loaded.reconcile(cosine, GlobalStep(400), GlobalStep(100), false);
        QCOMPARE(loaded.rateAt(GlobalStep(100)), fresh.rateAt(GlobalStep(100)));
        QVERIFY(!told.empty() && told[0].find("now 400 updates long") != std::string::npos);
    }
    void stateOfOlderCheckpointsIsReadAndStaysWhatItWas() {
        const StateValues older{{"name", "cosine"}, {"warmup_updates", "5"}, {"total_updates", "60"}, {"final_factor", "0.1"}, {"learning_rate", "0.001"}};
        Curve curve = Curve::make(configOf("plateau"), {}).value();
        QVERIFY(curve.setStateValues(older).ok());
        QCOMPARE(curve.stateValues(), older);   // the checkpoint's digest covers it
        QCOMPARE(curve.schedule().cycles, 1);
    }
    void damagedStateIsRefusedAndNothingIsTaken() {
        const Curve saved = Curve::make(configOf("plateau"), {}).value();
        for (const auto& [name, text] : {std::pair{"plateau_scale", "much"}, {"patience", "-3"}, {"plateau_best", ""}, {"surprise", "1"}}) {
            StateValues values = saved.stateValues();
            values[name] = text;
            Curve curve = Curve::constant(1);
            const auto taken = curve.setStateValues(values);
            QVERIFY2(!taken.ok(), name);
            QCOMPARE(curve.schedule().name, std::string("constant"));
        }
    }
};

QTEST_GUILESS_MAIN(ScheduleTest)
#include "tst_schedule.moc"
