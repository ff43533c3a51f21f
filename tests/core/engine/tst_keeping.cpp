// Evaluations and the checkpoints that belong to them: what is best is saved with its own weights and metrics, what is due
// is safe before an evaluation begins, and what is gone back from is not saved. SEMANTICS F11, G7, G8, P6.
#include "loop_fixture.h"
#include "rank_threads.h"

#include "engine/train/worse_evaluation.h"

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

/// Updates that only evaluate when a hook asks for it.
struct Asked : Fixture {
    Asked(int updates, std::vector<double> script) : Fixture(1, at::kFloat, sgd(0.001)) {
        windows.batches = ones(updates);
        evaluation.list = ones(1);
        task.script = std::move(script);
        settings.saveBest = true;
        settings.maxRollBacks = 3;
    }
    void evaluateAfter(std::int64_t step, bool saves = false) {
        recorder.act = [step, saves](const HookContext& context, Wishes& wishes) {
            if (context.point != Point::Update || context.counters->globalStep.value() != step) return;
            wishes.evaluate = true;
            wishes.save = saves;
        };
    }
};

config::GuardSection whenWorse(const std::string& action) {
    config::GuardSection section;
    section.onWorse = action;
    return section;
}

}  // namespace

class KeepingTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// SEMANTICS G8: where a hook asked for the evaluation
    void aBestThatAHookAskedForIsSavedWithItsOwnWeights() {
        Asked f(5, {0.5});
        f.evaluateAfter(3);
        f.run(1);
        QCOMPARE(f.saver.steps, (Steps{3, 5}));
        QCOMPARE(f.saver.reasons.at(0), std::string("best"));
        QVERIFY(f.saver.best.at(0));
        QCOMPARE(f.saver.metrics.at(0).at("loss"), 0.5);
    }

    /// SEMANTICS G8: where a resume makes up for one that was given up
    void aBestThatWasOwedIsSavedWithItsOwnWeights() {
        Asked f(6, {0.5});
        f.settings.evaluateEvery = {Interval::Unit::Updates, 3};
        f.recorder.act = [](const HookContext& context, Wishes& wishes) {
            if (context.point == Point::EvalStart) wishes.stop = Ending{rundir::State::Stopped, "asked", true};
        };
        QCOMPARE(f.run(1).state, rundir::State::Stopped);
        f.recorder.act = [](const HookContext& context, Wishes& wishes) {
            if (context.point == Point::Update) wishes.stop = Ending{rundir::State::Stopped, "asked", true};
        };
        f.run(1);
        QCOMPARE(f.saver.steps, (Steps{3, 3, 4}));
        QCOMPARE(f.saver.pending, (std::vector<bool>{true, false, false}));
        QCOMPARE(f.saver.best, (std::vector<bool>{false, true, false}));
        QCOMPARE(f.saver.metrics.at(1).at("loss"), 0.5);
    }

    /// SEMANTICS G7: also where a later session saves at the step it began with
    void aCheckpointMadeAnewHasTheMetricsOfItsStep() {
        Asked f(6, {0.5});
        f.settings.evaluateEvery = {Interval::Unit::Updates, 3};
        f.recorder.act = [](const HookContext& context, Wishes& wishes) {
            if (context.point == Point::EvalEnd) wishes.stop = Ending{rundir::State::Stopped, "asked", true};
        };
        f.run(1);
        Progress read;
        QVERIFY(read.setStateValues(f.progress.stateValues()).ok());
        f.progress = read;
        f.recorder.act = [](const HookContext& context, Wishes& wishes) {
            if (context.point != Point::TrainStart) return;
            wishes.save = true;
            wishes.stop = Ending{rundir::State::Stopped, "asked", true};
        };
        f.run(1);
        QCOMPARE(f.saver.steps, (Steps{3, 3}));
        QCOMPARE(f.saver.reasons.at(1), std::string("asked"));
        QVERIFY(f.saver.best.at(1));
        QCOMPARE(f.saver.metrics.at(1), (Metrics{{"loss", 0.5}}));
    }

    void valuesThatAreNoNumbersAreKeptToo() {
        Progress progress, read;
        progress.metrics = {{"loss", std::nan("")}, {"r2", -std::numeric_limits<double>::infinity()}, {"accuracy", 0.1}};
        QVERIFY(read.setStateValues(progress.stateValues()).ok());
        QCOMPARE(read.stateValues(), progress.stateValues());
        QVERIFY(std::isnan(read.metrics.at("loss")));
        auto damaged = progress.stateValues();
        damaged["metric.loss"] = "much";
        QVERIFY(!read.setStateValues(damaged).ok());
    }

    void aWorseEvaluationThatAHookAskedForGoesBackAtOnceAndIsNotSaved() {
        Asked f(6, {2.0, 1.0, 3.0});
        f.settings.evaluateEvery = {Interval::Unit::Updates, 2};
        WorseEvaluation policy(whenWorse("roll_back"), *f.best);
        f.hooks = {&policy};
        f.evaluateAfter(5, true);
        const Ending ending = f.run(1);
        QCOMPARE(ending.rollBack->notAfter.value(), 4);
        QCOMPARE(f.progress.counters.globalStep.value(), 5);
        QCOMPARE(f.saver.steps, (Steps{2, 4, 5}));  // asked for, and so made before the evaluation
        QVERIFY(f.saver.pending.at(2));
    }

    void aWorseEvaluationThatWasAskedForPausesAtOnce() {
        Asked f(6, {1.0, 3.0});
        f.settings.evaluateEvery = {Interval::Unit::Updates, 4};
        WorseEvaluation policy(whenWorse("pause"), *f.best);
        f.hooks = {&policy};
        f.evaluateAfter(5);
        std::int64_t pausedAt = 0;
        f.recorder.whilePaused = [&](Wishes&) { pausedAt = f.progress.counters.globalStep.value(); };
        f.run(1);
        QCOMPARE(pausedAt, 5);
    }

    void whatTheLastEvaluationAskedForIsToldWhereItComesTooLate_data() {
        QTest::addColumn<QString>("action");
        QTest::addColumn<QString>("said");
        QTest::newRow("roll_back") << "roll_back" << "Too late to go back: The evaluation at update 3 is worse";
        QTest::newRow("pause") << "pause" << "Too late for the pause";
    }
    void whatTheLastEvaluationAskedForIsToldWhereItComesTooLate() {
        QFETCH(QString, action);
        QFETCH(QString, said);
        for (const std::int64_t every : {2, 1}) {  // an evaluation of its own at the end, and one that is due at the last update
            Asked f(3, every == 1 ? std::vector<double>{2.0, 1.0, 3.0} : std::vector<double>{1.0, 3.0});
            f.settings.evaluateEvery = {Interval::Unit::Updates, every};
            WorseEvaluation policy(whenWorse(action.toStdString()), *f.best);
            f.hooks = {&policy};
            const Ending ending = f.run(1);
            QCOMPARE(ending.state, rundir::State::Completed);
            QVERIFY2(ending.why.find(said.toStdString()) != std::string::npos, ending.why.c_str());
            QCOMPARE(f.saver.steps.back(), 3);
        }
    }

    /// SEMANTICS P6: before the evaluation begins
    void whatIsDueIsSafeWhileItIsEvaluated() {
        Asked f(3, {0.5});
        f.settings.evaluateEvery = f.settings.saveEvery = {Interval::Unit::Updates, 2};
        std::vector<std::size_t> savesAtBatch;
        f.recorder.act = [&](const HookContext& context, Wishes&) {
            if (context.point == Point::EvalBatch) savesAtBatch.push_back(f.saver.steps.size());
        };
        f.run(1);
        QCOMPARE(savesAtBatch, (std::vector<std::size_t>{1, 3}));
        QCOMPARE(f.saver.steps, (Steps{2, 2, 3, 3}));
        QCOMPARE(f.saver.pending, (std::vector<bool>{true, false, true, false}));
        QCOMPARE(f.saver.reasons, (std::vector<std::string>{"interval", "interval", "end", "end"}));
        QVERIFY(f.saver.metrics.at(0).empty() && f.saver.metrics.at(1).at("loss") == 0.5);
        QCOMPARE(f.windows.windows, 3 + 1);  // the probe of both saves is one
    }

    /// SEMANTICS P6: where that was the last evaluation, a resume makes up for it and ends
    void aRunAtItsEndMakesUpForItsLastEvaluation() {
        Asked f(3, {0.5});
        f.settings.evaluateEvery = {Interval::Unit::Updates, 3};
        f.evaluation.fail = true;
        QCOMPARE(f.run(1).state, rundir::State::Failed);
        QCOMPARE(f.saver.steps, (Steps{3}));
        QVERIFY(f.saver.pending.back());
        f.evaluation.fail = false;
        QCOMPARE(f.run(1).state, rundir::State::Completed);
        QCOMPARE(f.progress.counters.updateAttempts.value(), 3);
        QCOMPARE(f.saver.steps, (Steps{3, 3}));
        QVERIFY(!f.saver.pending.back() && f.saver.best.back());
    }

    /// SEMANTICS P6: a rank whose evaluation fails takes the updates of no rank along
    void anEvaluationThatFailsOnOneRankLosesNothingThatWasDue() {
        Steps saved;
        std::vector<bool> pending;
        std::vector<Ending> endings(2);
        asRanks(ranks(2), [&](Parallel& parallel) {
            Fixture f;
            f.group = &parallel;
            f.windows.batches = ones(8);
            f.evaluation.list = ones(2);
            f.evaluation.fail = parallel.rank() == 1;
            f.settings.evaluateEvery = f.settings.saveEvery = {Interval::Unit::Updates, 2};
            endings[static_cast<std::size_t>(parallel.rank())] = f.run(2);
            if (parallel.rank() != 0) return;
            saved = f.saver.steps;
            pending = f.saver.pending;
        });
        QCOMPARE(saved, (Steps{2}));
        QCOMPARE(pending, (std::vector<bool>{true}));
        QVERIFY(endings[0].lostContact && !endings[1].lostContact);
        QVERIFY2(endings[1].why.find("rose/12.jpg") != std::string::npos, endings[1].why.c_str());
    }

    /// SEMANTICS J2: whichever rank hears it, and also where it is heard at the very end
    void aDiscardOnOneRankLeavesNothingOnAny() {
        for (const int asks : {0, 1}) {
            Steps saved;
            asRanks(ranks(2), [&](Parallel& parallel) {
                Fixture f;
                f.group = &parallel;
                f.windows.batches = ones(8);
                f.evaluation.list = ones(2);
                f.settings.evaluateEvery = {Interval::Unit::Updates, 3};
                f.recorder.act = [&](const HookContext& context, Wishes& wishes) {
                    if (parallel.rank() == asks && context.point == Point::Update && context.counters->globalStep.value() == 4) wishes.stop = Ending{rundir::State::Stopped, "asked", false};
                };
                f.run(2);
                if (parallel.rank() == 0) saved = f.saver.steps;
            });
            QCOMPARE(saved, Steps());
        }
    }

    void discardedRunsLeaveNothingOfTheirLastEvaluation() {
        Asked f(3, {0.5});
        f.settings.evaluateEvery = {Interval::Unit::Updates, 3};
        f.recorder.act = [](const HookContext& context, Wishes& wishes) {
            if (context.point == Point::Update && context.counters->globalStep.value() == 3) wishes.stop = Ending{rundir::State::Stopped, "asked", false};
        };
        f.run(1);
        QVERIFY(f.saver.steps.empty());
    }
};

QTEST_GUILESS_MAIN(KeepingTest)
#include "tst_keeping.moc"
