// The guard, roll-backs that hooks ask for, and the policy on worse evaluations: on a task that can be computed by hand.
#include "loop_fixture.h"

#include "engine/train/kept_hook.h"
#include "engine/train/worse_evaluation.h"

#include <QtTest>

#include <cmath>

using namespace lathe;
using namespace lathe::engine;
using namespace lathe::engine::test;

namespace {

using Steps = std::vector<std::int64_t>;

/// Micro-batches whose loss is p times these values.
std::vector<Batch> valued(const std::vector<double>& values) {
    std::vector<Batch> batches;
    for (std::size_t i = 0; i < values.size(); ++i) batches.push_back(batchOf({{values[i]}}, static_cast<std::int64_t>(i)));
    return batches;
}

/// Ten usual updates, a wild one, three usual ones.
std::vector<Batch> withSpike(double wild) {
    std::vector<double> values = {1.0, 1.1, 0.9, 1.0, 1.2, 1.0, 0.8, 1.0, 1.1, 0.9};
    for (const double value : {wild, 1.0, 1.1, 0.9}) values.push_back(value);
    return valued(values);
}

std::unique_ptr<TrajectoryGuard> guardOn(const std::string& spike, const std::string& explosion = "go_on", const std::string& notFinite = "skip") {
    config::GuardSection section;
    section.window = 8;
    section.onLossSpike = spike;
    section.onGradientExplosion = explosion;
    section.onNotFinite = notFinite;
    return std::make_unique<TrajectoryGuard>(section);
}

UpdateResult appliedWith(double loss, double norm = 1) {
    UpdateResult result;
    result.applied = true;
    result.loss = loss;
    result.gradNorm = norm;
    return result;
}

/// Evaluations that come out as told, one after each update.
Ending evaluated(Fixture& f, const std::vector<double>& script, config::GuardSection section) {
    f.windows.batches = valued(std::vector<double>(script.size(), 1.0));
    f.evaluation.list = valued({1.0});
    f.settings.evaluateEvery = {Interval::Unit::Updates, 1};
    f.settings.saveBest = true;
    f.settings.maxRollBacks = 3;
    f.task.script = script;
    WorseEvaluation policy(section, *f.best);
    f.hooks = {&policy};
    return f.run(1);
}

config::GuardSection goingBackWhenWorse() {
    config::GuardSection section;
    section.onWorse = "roll_back";
    return section;
}

}  // namespace

class GuardTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    // 1 … 8: median 4.5, median distance from it 2, so that 8 deviations stand at 4.5 + 8 · 1.4826 · 2 = 28.2216
    void scoreIsThatOfMedianAndItsDeviation() {
        const auto guard = guardOn("skip");
        for (int loss = 1; loss <= 8; ++loss) {
            QVERIFY(!guard->judge(appliedWith(1e6)));  // the window is not full
            guard->take(appliedWith(loss));
        }
        QVERIFY(!guard->judge(appliedWith(28.22)));
        QVERIFY(!guard->judge(appliedWith(-1000)));  // upwards only
        const auto finding = guard->judge(appliedWith(28.23));
        QVERIFY(finding);
        QCOMPARE(finding->values.at("median"), 4.5);
        QVERIFY(std::abs(finding->values.at("spread") - 2.9652) < 1e-12);
        QVERIFY(std::abs(finding->values.at("score") - (28.23 - 4.5) / 2.9652) < 1e-12);
        guard->take(appliedWith(20));  // 2 … 8, 20: median 5.5
        QCOMPARE(guard->judge(appliedWith(100))->values.at("median"), 5.5);
    }

    void lossesThatDoNotVaryAreMeasuredByTheirSize() {
        const auto guard = guardOn("skip");
        for (int i = 0; i < 8; ++i) guard->take(appliedWith(2));
        QVERIFY(!guard->judge(appliedWith(2.0159)));  // 8 · 0.001 · 2
        QVERIFY(guard->judge(appliedWith(2.0161)).has_value());
        const auto zeros = guardOn("skip");
        for (int i = 0; i < 8; ++i) zeros->take(appliedWith(0));
        QVERIFY(!zeros->judge(appliedWith(1)));
    }

    void explosionIsAMultipleOfTheMedianNorm() {
        const auto guard = guardOn("go_on", "skip");
        for (int norm = 1; norm <= 8; ++norm) guard->take(appliedWith(1, norm));
        QVERIFY(!guard->judge(appliedWith(1, 90)));
        const auto finding = guard->judge(appliedWith(1, 90.1));
        QVERIFY(finding && finding->trigger == "gradient explosion");
        QCOMPARE(finding->values.at("median"), 4.5);
    }

    void whatTheGuardFindsIsNeverApplied_data() {
        QTest::addColumn<QString>("action");
        for (const char* action : {"skip", "pause", "roll_back", "stop"}) QTest::newRow(action) << action;
    }
    void whatTheGuardFindsIsNeverApplied() {
        QFETCH(QString, action);
        Fixture with(1, at::kFloat, Fixture::sgd(0.001)), without(1, at::kFloat, Fixture::sgd(0.001));
        with.windows.batches = withSpike(50);
        without.windows.batches = valued({1.0, 1.1, 0.9, 1.0, 1.2, 1.0, 0.8, 1.0, 1.1, 0.9});
        with.guard = guardOn(action.toStdString());
        with.settings.maxRollBacks = 3;
        double after = 0;
        with.recorder.act = [&](const HookContext& context, Wishes&) {
            if (context.point == Point::Update && context.update->finding) after = with.p();
        };
        const Ending ending = with.run(1);
        without.run(1);
        QCOMPARE(after, without.p());
        const Row& row = with.recorder.rows.at(10);
        QVERIFY(!row.result.applied && row.result.finding && !row.result.notFinite);
        QCOMPARE(row.result.finding->samples, (Steps{10}));
        QCOMPARE(row.result.finding->action, action.toStdString());
        QCOMPARE(with.progress.counters.skippedUpdates.value(), 1);
        QCOMPARE(with.recorder.pauses, action == "pause" ? 1 : 0);
        const bool goesOn = action == "skip" || action == "pause";
        QCOMPARE(with.recorder.rows.size(), std::size_t(goesOn ? 14 : 11));
        QCOMPARE(ending.state, goesOn ? rundir::State::Completed : action == "stop" ? rundir::State::Diverged : rundir::State::Stopped);
        QCOMPARE(ending.rollBack.has_value(), action == "roll_back");
        if (ending.rollBack) QCOMPARE(ending.rollBack->notAfter.value(), 9);  // the weights of update 10 would find the same again
    }

    void aFindingAtTheFirstUpdateHasNothingToGoBackTo() {
        Fixture f(1, at::kFloat, Fixture::sgd(0.001));
        f.windows.batches = valued({std::nan(""), 1.0});
        f.guard = guardOn("go_on", "go_on", "roll_back");
        f.settings.maxRollBacks = 3;
        f.settings.saveAtStart = true;
        const Ending ending = f.run(1);
        QCOMPARE(ending.state, rundir::State::Diverged);
        QVERIFY(!ending.rollBack);
        QVERIFY2(ending.why.find("nothing before it") != std::string::npos, ending.why.c_str());
        QCOMPARE(f.progress.counters.updateAttempts.value(), 1);
    }

    void lossThatIsNotFiniteIsHandledAsAsked() {
        for (const std::string action : {"skip", "roll_back"}) {
            Fixture f(1, at::kFloat, Fixture::sgd(0.001));
            f.windows.batches = withSpike(std::nan(""));
            f.guard = guardOn("go_on", "go_on", action);
            f.settings.maxRollBacks = 1;
            const Ending ending = f.run(1);
            QVERIFY(f.recorder.rows.at(10).result.finding);
            QCOMPARE(f.recorder.rows.at(10).result.finding->samples, (Steps{10}));
            QCOMPARE(ending.rollBack.has_value(), action == "roll_back");
        }
    }

    void rollBacksAreUsedUp() {
        Fixture f(1, at::kFloat, Fixture::sgd(0.001));
        f.windows.batches = withSpike(50);
        f.guard = guardOn("roll_back");
        f.settings.rollBacksDone = f.settings.maxRollBacks = 3;
        const Ending ending = f.run(1);
        QCOMPARE(ending.state, rundir::State::Diverged);
        QVERIFY(!ending.rollBack);
        QVERIFY2(ending.why.find("3 times") != std::string::npos && ending.why.find("guard.max_roll_backs") != std::string::npos, ending.why.c_str());
    }

    void stateOfTheGuardDecidesAsIfNothingHadHappened() {
        const auto first = guardOn("skip", "skip");
        for (int i = 1; i <= 9; ++i) first->take(appliedWith(0.1 * i, 1.0 / i));
        const auto second = guardOn("skip", "skip");
        QVERIFY(second->stateValues().empty());
        QVERIFY(second->setStateValues(first->stateValues()).ok());
        QCOMPARE(second->stateValues(), first->stateValues());
        QCOMPARE(second->judge(appliedWith(9))->values, first->judge(appliedWith(9))->values);
    }

    void damagedStateIsRefused_data() {
        QTest::addColumn<QString>("losses");
        QTest::addColumn<QString>("norms");
        QTest::newRow("no number") << "1 two" << "1 2";
        QTest::newRow("nan") << "1 nan" << "1 2";
        QTest::newRow("other lengths") << "1 2 3" << "1 2";
        QTest::newRow("two spaces") << "1  2" << "1 2";
    }
    void damagedStateIsRefused() {
        QFETCH(QString, losses);
        QFETCH(QString, norms);
        QVERIFY(!guardOn("skip")->setStateValues({{"losses", losses.toStdString()}, {"grad_norms", norms.toStdString()}}).ok());
        QVERIFY(!guardOn("skip")->setStateValues({{"losses", losses.toStdString()}}).ok());
    }

    void whatHooksAskForIsDoneOnceAndInOrder() {
        Fixture f(1, at::kFloat, Fixture::sgd(0.001));
        f.windows.batches = valued({1, 1, 1, 1, 1, 1});
        f.settings.maxRollBacks = 1;
        f.settings.saveEvery = {Interval::Unit::Updates, 1};
        f.recorder.act = [&](const HookContext& context, Wishes& wishes) {
            if (context.point == Point::TrainStart) wishes.save = true;
            if (context.point != Point::Update || context.counters->globalStep.value() != 4) return;
            wishes.rollBack = RollBack{GlobalStep(2), "by a hook"};
        };
        const Ending ending = f.run(1);
        QCOMPARE(ending.rollBack->notAfter.value(), 2);
        QCOMPARE(ending.why, std::string("by a hook"));
        QCOMPARE(f.saver.steps, (Steps{0, 1, 2, 3}));  // what is gone back from is not saved
        QCOMPARE(f.progress.counters.globalStep.value(), 4);
    }

    // the best is saved where it is, and what hooks ask for at its end is done at once
    void anEvaluationThatAHookAsksForIsActedOnAtOnce() {
        Fixture f(1, at::kFloat, Fixture::sgd(0.001));
        f.windows.batches = valued({1, 1, 1, 1, 1, 1});
        f.evaluation.list = {batchOf({{1}})};
        f.task.script = {3, 1, 2};
        f.settings.maxRollBacks = 1;
        f.settings.saveBest = true;
        f.recorder.act = [](const HookContext& context, Wishes& wishes) {
            if (context.point == Point::Update) wishes.evaluate = true;
            if (context.point == Point::EvalEnd && context.evaluation->metrics.at("loss") == 2) wishes.rollBack = RollBack{GlobalStep(2), "worse"};
        };
        const Ending ending = f.run(1);
        QVERIFY(ending.rollBack && ending.rollBack->notAfter.value() == 2);
        QCOMPARE(f.progress.counters.globalStep.value(), 3);
        QCOMPARE(f.saver.steps, (Steps{1, 2}));
    }

    void aStopComesBeforeARollBack() {
        Fixture f(1, at::kFloat, Fixture::sgd(0.001));
        f.windows.batches = valued({1, 1, 1});
        f.settings.maxRollBacks = 1;
        f.recorder.act = [&](const HookContext& context, Wishes& wishes) {
            if (context.point != Point::Update) return;
            wishes.rollBack = RollBack{GlobalStep(0), "by a hook"};
            wishes.stop = Ending{rundir::State::Stopped, "by a person", true};
        };
        const Ending ending = f.run(1);
        QCOMPARE(ending.why, std::string("by a person"));
        QVERIFY(!ending.rollBack);
    }

    void aWorseEvaluationGoesBackToTheBest() {
        Fixture f(1, at::kFloat, Fixture::sgd(0.001));
        const Ending ending = evaluated(f, {3.0, 2.0, 2.5, 1.0}, goingBackWhenWorse());
        QCOMPARE(f.recorder.evaluations.size(), std::size_t(3));
        QCOMPARE(ending.rollBack->notAfter.value(), 2);
        QCOMPARE(f.saver.steps, (Steps{1, 2}));
    }

    // an evaluation below the best one is no divergence
    void aWorseEvaluationThatMayNotGoBackAgainStops() {
        Fixture f(1, at::kFloat, Fixture::sgd(0.001));
        f.settings.rollBacksDone = 3;
        const Ending ending = evaluated(f, {2.0, 2.5, 1.0}, goingBackWhenWorse());
        QCOMPARE(ending.state, rundir::State::Stopped);
        QVERIFY2(ending.why.find("has gone back 3 times already") != std::string::npos, ending.why.c_str());
    }

    void whatCountsAsWorseIsSet() {
        config::GuardSection section = goingBackWhenWorse();
        section.worseBy = 0.6;
        section.worseInARow = 2;
        Fixture f(1, at::kFloat, Fixture::sgd(0.001));
        // 2.5 is within 0.6 of 2; 2.7 and 2.8 are two in a row, 2.7 and 2.1 are not
        const Ending ending = evaluated(f, {2.0, 2.5, 2.7, 2.1, 2.7, 2.8, 1.0}, section);
        QCOMPARE(f.recorder.evaluations.size(), std::size_t(6));
        QCOMPARE(ending.rollBack->notAfter.value(), 1);
    }

    void aWorseEvaluationPausesOrStops() {
        config::GuardSection section = goingBackWhenWorse();
        section.onWorse = "pause";
        Fixture paused(1, at::kFloat, Fixture::sgd(0.001));
        QCOMPARE(evaluated(paused, {2.0, 3.0, 1.0}, section).state, rundir::State::Completed);
        QCOMPARE(paused.recorder.pauses, 1);
        section.onWorse = "stop";
        Fixture stopped(1, at::kFloat, Fixture::sgd(0.001));
        const Ending ending = evaluated(stopped, {2.0, std::nan(""), 1.0}, section);
        QCOMPARE(ending.state, rundir::State::Stopped);
        QVERIFY2(ending.why.find("nan") != std::string::npos, ending.why.c_str());
    }

    void stateOfAHookComesAndGoesWithIt() {
        config::GuardSection section = goingBackWhenWorse();
        section.worseInARow = 3;
        Fixture f(1, at::kFloat, Fixture::sgd(0.001));
        WorseEvaluation first(section, *f.best), second(section, *f.best);
        KeptHook kept(first), taken(second);
        TrainState state, other, none;
        state.add(kept);
        other.add(taken);
        QVERIFY(state.values().empty());
        first.setState({{"worse_in_a_row", "2"}});
        QVERIFY(other.setValues(state.values()).ok());
        QCOMPARE(second.state(), first.state());
        QVERIFY(none.setValues(state.values()).ok());                          // the hook is gone
        QVERIFY(other.setValues({}).ok());                                     // the hook is new
        QVERIFY(!other.setValues({{"hook.worse evaluation", {{"worse_in_a_row", "-1"}}}}).ok());
        QVERIFY(!none.setValues({{"guard", {}}}).ok());                        // state that is no hook's
        QCOMPARE(state.digest(), none.digest());
    }
};

QTEST_GUILESS_MAIN(GuardTest)
#include "tst_guard.moc"
