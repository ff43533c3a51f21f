// The loop and checkpoints that are written behind it: what is told when, and what waits.
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

class SavingTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// The save at 3 is there after update 5, that at 6 is waited for by the end
    void trainingGoesOnWhileACheckpointIsWritten() {
        Fixture f;
        f.windows.batches = ones(6);
        f.settings.saveEvery = {Interval::Unit::Updates, 3};
        f.saver.endsAfter = 2;
        std::vector<std::pair<std::int64_t, std::int64_t>> told;   // step of the checkpoint, and when it was told
        f.recorder.act = [&](const HookContext& context, Wishes&) {
            if (context.point == Point::AfterSave) told.emplace_back(context.save->counters.globalStep.value(), context.counters->globalStep.value());
        };
        QCOMPARE(f.run(1).state, rundir::State::Completed);
        QCOMPARE(f.saver.steps, (Steps{3, 6}));
        QCOMPARE(told, (std::vector<std::pair<std::int64_t, std::int64_t>>{{3, 5}, {6, 6}}));
    }

    void aSaveWaitsForTheOneThatIsBeingWritten() {
        Fixture f;
        f.windows.batches = ones(3);
        f.settings.saveEvery = {Interval::Unit::Updates, 1};
        f.saver.endsAfter = 1000;
        QCOMPARE(f.run(1).state, rundir::State::Completed);
        QCOMPARE(f.saver.steps, (Steps{1, 2, 3}));
        std::string saves;
        for (std::size_t at = 0; (at = f.recorder.order.find(" save;", at)) != std::string::npos; ++at) saves += f.recorder.order[at - 1];
        QCOMPARE(saves, std::string("ererer"));   // beforE, afteR
    }

    /// Also one that leaves without saving, or because it failed
    void everyEndWaitsForTheCheckpointThatIsBeingWritten() {
        for (const bool fails : {false, true}) {
            Fixture f;
            f.windows.batches = ones(6);
            f.settings.saveEvery = {Interval::Unit::Updates, 2};
            f.saver.endsAfter = 1000;
            int told = 0;
            f.recorder.isRequired = true;
            f.recorder.act = [&](const HookContext& context, Wishes& wishes) {
                if (context.point == Point::AfterSave) ++told;
                if (context.point != Point::Update || context.counters->globalStep.value() != 3) return;
                if (fails) throw std::runtime_error("no more");
                wishes.stop = Ending{rundir::State::Stopped, "asked", false};
            };
            QCOMPARE(f.run(1).state, fails ? rundir::State::Failed : rundir::State::Stopped);
            QCOMPARE(told, fails ? 2 : 1);   // a failure saves what it has
        }
    }

    void aPauseWaitsForTheCheckpointThatIsBeingWritten() {
        Fixture f;
        f.windows.batches = ones(4);
        f.settings.saveEvery = {Interval::Unit::Updates, 2};
        f.saver.endsAfter = 1000;
        int told = 0, toldWhenPaused = -1;
        f.recorder.act = [&](const HookContext& context, Wishes& wishes) {
            if (context.point == Point::AfterSave) ++told;
            if (context.point == Point::Update && context.counters->globalStep.value() == 3) wishes.pause = true;
        };
        f.recorder.whilePaused = [&](Wishes& wishes) {
            toldWhenPaused = told;
            wishes.pause = false;
        };
        f.run(1);
        QCOMPARE(toldWhenPaused, 1);
    }

    /// What failed is told when it has, and the end saves although nothing has happened since
    void aFailureThatIsToldLaterIsMadeUpForAtTheEnd() {
        Fixture f;
        f.windows.batches = ones(6);
        f.settings.saveEvery = {Interval::Unit::Updates, 4};
        f.saver.endsAfter = 1000;
        f.saver.failures = 1;
        f.recorder.act = [](const HookContext& context, Wishes& wishes) {
            if (context.point == Point::Update && context.counters->globalStep.value() == 4) wishes.stop = Ending{rundir::State::Stopped, "asked", true};
        };
        QCOMPARE(f.run(1).state, rundir::State::Stopped);
        QCOMPARE(f.recorder.saveErrors.size(), std::size_t(1));
        QCOMPARE(f.saver.steps, (Steps{4}));
        QCOMPARE(f.saver.reasons, (std::vector<std::string>{"stop"}));
    }
};

QTEST_GUILESS_MAIN(SavingTest)
#include "tst_saving.moc"
