// Hooks that leave out an update, and hooks that want one in the curves: asked on one rank, done on all. SEMANTICS D1, J2.
#include "loop_fixture.h"
#include "rank_threads.h"

#include <QtTest>

using namespace lathe;
using namespace lathe::engine;
using namespace lathe::engine::test;

namespace {

std::vector<Batch> ones(int count) {
    std::vector<Batch> batches;
    for (int i = 0; i < count; ++i) batches.push_back(batchOf({{1.0}}, i));
    return batches;
}

std::vector<bool> applied(const Fixture& f) {
    std::vector<bool> all;
    for (const Row& row : f.recorder.rows) all.push_back(row.result.applied);
    return all;
}

/// Asks for it at `point` of attempt `attempt`, counted from 0.
std::function<void(const HookContext&, Wishes&)> vetoes(Point point, std::int64_t attempt) {
    return [=](const HookContext& context, Wishes& wishes) {
        if (context.point == point && context.counters->updateAttempts.value() == attempt) wishes.skip = "the batch is odd";
    };
}

}  // namespace

class VetoTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aVetoedUpdateChangesNothingAndTheNextOneWorks_data() {
        QTest::addColumn<QString>("mode");
        for (const char* mode : {"fp32", "fp16"}) QTest::newRow(mode) << mode;
    }
    /// SEMANTICS D1: also with a loss scale, which is taken off once an update
    void aVetoedUpdateChangesNothingAndTheNextOneWorks() {
        QFETCH(QString, mode);
        for (const Point point : {Point::WindowStart, Point::MicroStep}) {
            Fixture f;
            f.windows.batches = ones(6);
            config::PrecisionSection section;
            section.mode = mode.toStdString();
            f.precision = makePrecision(section).value();
            const double scale = f.precision->scale();
            f.recorder.act = vetoes(point, 1);
            QCOMPARE(f.run(2).state, rundir::State::Completed);
            QCOMPARE(applied(f), (std::vector<bool>{true, false, true}));
            const UpdateResult& vetoed = f.recorder.rows.at(1).result;
            QVERIFY(vetoed.vetoed && !vetoed.notFinite && !vetoed.finding);
            QCOMPARE(vetoed.reason, std::string("a hook asked for it: the batch is odd"));
            QCOMPARE(f.recorder.rows.at(2).result.gradNorm, 1.0);
            QCOMPARE(f.p(), -1.0);
            QCOMPARE(f.model.seen(), 4.0);
            QCOMPARE(f.precision->scale(), scale);
            QCOMPARE(f.progress.counters.skippedUpdates.value(), 1);
        }
    }

    void aVetoBetweenUpdatesIsForTheNextOne() {
        Fixture f;
        f.windows.batches = ones(4);
        f.settings.saveEvery = {Interval::Unit::Updates, 1};
        f.recorder.act = vetoes(Point::AfterSave, 1);
        f.run(1);
        QCOMPARE(applied(f), (std::vector<bool>{true, false, true, true}));
    }

    /// SEMANTICS J2
    void aVetoOfOneRankHoldsOnAll() {
        for (const int asks : {0, 1}) {
            std::vector<std::vector<bool>> done(2);
            std::vector<std::string> reasons(2);
            std::vector<double> weights(2);
            asRanks(ranks(2), [&](Parallel& parallel) {
                Fixture f;
                f.group = &parallel;
                f.windows.batches = ones(6);
                if (parallel.rank() == asks) f.recorder.act = vetoes(Point::MicroStep, 1);
                f.run(2);
                const auto rank = static_cast<std::size_t>(parallel.rank());
                done[rank] = applied(f);
                reasons[rank] = f.recorder.rows.at(1).result.reason;
                weights[rank] = f.p();
            });
            for (const auto& list : done) QCOMPARE(list, (std::vector<bool>{true, false, true}));
            for (const std::string& reason : reasons) QCOMPARE(reason, std::string("a hook asked for it: the batch is odd"));
            QCOMPARE(weights, (std::vector<double>{-1, -1}));
        }
    }

    void vetoesWithoutEndEndTheRun() {
        Fixture f;
        f.windows.batches = ones(8);
        f.settings.maxSkippedInARow = 3;
        f.recorder.act = [](const HookContext& context, Wishes& wishes) {
            if (context.point == Point::WindowStart) wishes.skip = "";
        };
        const Ending ending = f.run(1);
        QCOMPARE(ending.state, rundir::State::Diverged);
        QVERIFY2(ending.why.find("3 updates in a row were skipped, the last because a hook asked for it. Look at what that hook goes by") == 0, ending.why.c_str());
    }

    /// SEMANTICS J2: the first rank writes the curves
    void anUpdateIsShownWhereAnyRankAskedForIt() {
        asRanks(ranks(2), [](Parallel& parallel) {
            Fixture f;
            f.group = &parallel;
            f.windows.batches = ones(10);
            f.recorder.act = [&](const HookContext& context, Wishes& wishes) {
                if (parallel.rank() == 1 && context.point == Point::Update && context.counters->globalStep.value() == 2) wishes.log = true;
            };
            f.run(2);
            for (const Row& row : f.recorder.rows) QCOMPARE(row.result.shown, row.counters.globalStep.value() == 3);
        });
    }
};

QTEST_GUILESS_MAIN(VetoTest)
#include "tst_veto.moc"
