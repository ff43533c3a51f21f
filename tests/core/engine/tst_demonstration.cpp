// What a model makes of its own at an evaluation takes as long as it takes: stops and pauses are heard meanwhile, on every
// rank, and what was evaluated before counts. SEMANTICS L2.
#include "loop_fixture.h"
#include "rank_threads.h"

#include <QtTest>

using namespace lathe;
using namespace lathe::engine;
using namespace lathe::engine::test;

namespace {

/// Ten forward passes, one record.
class Writing final : public ScaleTask {
public:
    std::vector<EvaluationRecord> demonstrate(const Forward& forward, const Demonstration& place) const override {
        for (int i = 0; i < 10; ++i) {
            if (!place.goesOn()) return {};
            forward(at::ones({1, 1}));
            ++passes;
        }
        return {{EvaluationRecord::Kind::Text, "samples", "to be"}};
    }
    mutable int passes = 0;
};

void evaluatesOnce(Fixture& f, Task& task) {
    for (int i = 0; i < 8; ++i) f.windows.batches.push_back(batchOf({{1.0}}, i));
    f.evaluation.list = {batchOf({{1.0}})};
    f.settings.evaluateEvery = {Interval::Unit::Updates, 2};
    f.other = &task;
}

/// Calls `act` the n-th time that an evaluation asks on.
std::function<void(const HookContext&, Wishes&)> atBatch(int n, std::function<void(Wishes&)> act) {
    return [n, act = std::move(act), seen = 0](const HookContext& context, Wishes& wishes) mutable {
        if (context.point == Point::EvalBatch && ++seen == n) act(wishes);
    };
}

}  // namespace

class DemonstrationTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aStopIsHeardAndTheEvaluationCounts() {
        Fixture f;
        Writing task;
        evaluatesOnce(f, task);
        f.recorder.act = atBatch(4, [](Wishes& wishes) { wishes.stop = Ending{rundir::State::Stopped, "asked", true}; });
        QCOMPARE(f.run(2).state, rundir::State::Stopped);
        QCOMPARE(task.passes, 2);
        QCOMPARE(f.recorder.evaluations.size(), std::size_t(1));
        QCOMPARE(f.progress.counters.globalStep.value(), 2);
        QVERIFY(!f.progress.evaluationPending);
        QCOMPARE(f.saver.metrics.at(0).size(), std::size_t(1));
    }

    void aPauseIsHeard() {
        Fixture f;
        Writing task;
        evaluatesOnce(f, task);
        f.recorder.act = atBatch(4, [](Wishes& wishes) { wishes.pause = true; });
        int passes = 0;
        f.recorder.whilePaused = [&](Wishes&) { passes = task.passes; };
        QCOMPARE(f.run(2).state, rundir::State::Completed);
        QCOMPARE(f.recorder.pauses, 1);
        QCOMPARE(passes, 2);
        QCOMPARE(task.passes, 20);
    }

    void aStopOfAnotherRankIsHeard_data() {
        QTest::addColumn<int>("asks");
        QTest::newRow("the first") << 0;
        QTest::newRow("the second") << 1;
    }
    void aStopOfAnotherRankIsHeard() {
        QFETCH(int, asks);
        std::vector<Ending> endings(2);
        int passes = 0;
        asRanks(ranks(2), [&](Parallel& parallel) {
            Fixture f;
            Writing task;
            f.group = &parallel;
            evaluatesOnce(f, task);
            if (parallel.rank() == asks) f.recorder.act = atBatch(4, [](Wishes& wishes) { wishes.stop = Ending{rundir::State::Stopped, "asked", true}; });
            endings[static_cast<std::size_t>(parallel.rank())] = f.run(2);
            QCOMPARE(f.recorder.evaluations.size(), std::size_t(1));
            if (parallel.rank() == 0) passes = task.passes;
        });
        for (const Ending& ending : endings) QVERIFY2(ending.state == rundir::State::Stopped && ending.why == "asked", ending.why.c_str());
        QCOMPARE(passes, 2);
    }

    void aDemonstrationThatThrowsEndsAllRanks() {
        class Broken final : public ScaleTask {
        public:
            std::vector<EvaluationRecord> demonstrate(const Forward&, const Demonstration&) const override { throw std::runtime_error("boom"); }
        };
        std::vector<Ending> endings(2);
        asRanks(ranks(2), [&](Parallel& parallel) {
            Fixture f;
            Broken task;
            f.group = &parallel;
            evaluatesOnce(f, task);
            endings[static_cast<std::size_t>(parallel.rank())] = f.run(2);
        });
        QVERIFY2(endings[0].why.find("boom") != std::string::npos, endings[0].why.c_str());
        QVERIFY(endings[1].lostContact);
    }
};

QTEST_GUILESS_MAIN(DemonstrationTest)
#include "tst_demonstration.moc"
