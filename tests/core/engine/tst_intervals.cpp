// Intervals in seconds, on a clock that the test moves: they go on over sessions, and over ranks whose clocks differ.
// SEMANTICS F11, J2.
#include "loop_fixture.h"
#include "rank_threads.h"

#include <QtTest>

#include <limits>

using namespace lathe;
using namespace lathe::engine;
using namespace lathe::engine::test;

namespace {

using Steps = std::vector<std::int64_t>;

class HandClock final : public Clock {
public:
    std::int64_t monotonicNs() const override { return ns; }
    std::int64_t wallNs() const override { return ns; }
    void advance(double seconds) { ns += static_cast<std::int64_t>(seconds * 1e9); }
    std::int64_t ns = 1;
};

/// `updates` more updates of `seconds` each.
void session(Fixture& f, HandClock& clock, double seconds, std::int64_t updates) {
    ActiveTime time(clock);
    f.clock = &time;
    const std::int64_t until = f.progress.counters.globalStep.value() + updates;
    f.recorder.act = [&](const HookContext& context, Wishes& wishes) {
        if (context.point != Point::Update) return;
        clock.advance(seconds);
        if (context.counters->globalStep.value() == until) wishes.stop = Ending{rundir::State::Stopped, "asked", true};
    };
    f.run(1);
}

void evaluatesEveryMinute(Fixture& f) {
    for (int i = 0; i < 40; ++i) f.windows.batches.push_back(batchOf({{1.0}}, i));
    f.evaluation.list = {batchOf({{1.0}})};
    f.settings.evaluateEvery = {Interval::Unit::Seconds, 60};
}

Steps stepsOf(const Fixture& f) {
    Steps steps;
    for (const auto& [step, value] : f.recorder.evaluations) steps.push_back(step);
    return steps;
}

}  // namespace

class IntervalsTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// SEMANTICS F11: sessions of 50 s evaluate every minute all the same
    void anIntervalGoesOnInTheNextSession() {
        Fixture f(1, at::kFloat, Fixture::sgd(0.001));
        evaluatesEveryMinute(f);
        HandClock clock;
        for (int i = 0; i < 5; ++i) {
            RunningIntervals loaded;
            QVERIFY(loaded.setStateValues(f.intervals.stateValues()).ok() || f.intervals.stateValues().empty());
            f.intervals = loaded;
            session(f, clock, 10, 5);
            clock.advance(1000);  // between two sessions
        }
        QCOMPARE(stepsOf(f), (Steps{6, 12, 18, 24}));
    }

    void pausesDoNotCount() {
        Fixture f(1, at::kFloat, Fixture::sgd(0.001));
        evaluatesEveryMinute(f);
        HandClock clock;
        ActiveTime time(clock);
        f.clock = &time;
        f.recorder.act = [&](const HookContext& context, Wishes& wishes) {
            if (context.point != Point::Update) return;
            clock.advance(25);
            wishes.pause = context.counters->globalStep.value() == 1;
            if (context.counters->globalStep.value() == 4) wishes.stop = Ending{rundir::State::Stopped, "asked", false};
        };
        f.recorder.whilePaused = [&](Wishes&) { clock.advance(100); };
        f.run(1);
        QCOMPARE(stepsOf(f), (Steps{3}));
    }

    /// SEMANTICS J2: the first rank whose clock says so, and all of them count from there
    void theClocksOfRanksAreOne() {
        std::vector<Steps> steps(2);
        asRanks(ranks(2), [&](Parallel& parallel) {
            Fixture f(1, at::kFloat, Fixture::sgd(0.001));
            evaluatesEveryMinute(f);
            f.group = &parallel;
            HandClock clock;
            session(f, clock, parallel.rank() == 0 ? 20 : 15, 7);
            steps[static_cast<std::size_t>(parallel.rank())] = stepsOf(f);
        });
        QCOMPARE(steps[0], (Steps{3, 6}));
        QCOMPARE(steps[1], (Steps{3, 6}));
    }

    void savesCountFromTheNewestCheckpoint() {
        Fixture f(1, at::kFloat, Fixture::sgd(0.001));
        evaluatesEveryMinute(f);
        f.settings.evaluateEvery = {};
        f.settings.saveEvery = {Interval::Unit::Seconds, 60};
        HandClock clock;
        session(f, clock, 25, 5);
        QCOMPARE(f.saver.steps, (Steps{3, 5}));
        session(f, clock, 25, 4);
        QCOMPARE(f.saver.steps, (Steps{3, 5, 8, 9}));
        QVERIFY(f.intervals.stateValues().empty());
    }

    void damagedSecondsAreRefused() {
        for (const std::string text : {"-1", "nan", "soon"}) {
            RunningIntervals intervals;
            QVERIFY(!intervals.setStateValues({{"evaluation", text}, {"norms", "0"}, {"histograms", "0"}}).ok());
            QVERIFY(intervals.stateValues().empty());
        }
    }
};

QTEST_GUILESS_MAIN(IntervalsTest)
#include "tst_intervals.moc"
