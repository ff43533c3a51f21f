// `explain` tells the events of an update in the order in which the loop has them: compared, event by event, for
// configurations that leave each of them in and out.
#include "loop_fixture.h"
#include "rank_threads.h"

#include "plan/explain.h"

#include <QtTest>

using namespace lathe;
using namespace lathe::engine;
using namespace lathe::engine::test;

namespace {

using Names = std::vector<std::string>;

Names told(const config::RunConfig& config) {
    Names names;
    for (const plan::UpdateEvent& event : plan::explainUpdate(config)) names.push_back(event.name);
    return names;
}

/// The first update of a loop that is set as `config` says, on one rank of it; what happens for each micro-batch once.
Names happened(const config::RunConfig& config, Parallel& parallel) {
    Fixture f(1, at::kFloat, config.optimizer);
    f.group = &parallel;
    for (int i = 0; i < 8; ++i) f.windows.batches.push_back(batchOf({{1.0}}, i));
    f.evaluation.list = {batchOf({{1.0}})};
    f.precision = makePrecision(config.precision).value();
    f.guard = std::make_unique<TrajectoryGuard>(config.guard);
    std::optional<WeightAverage> average;
    if (config.optimizer.ema) f.average = &average.emplace(f.storage, config.optimizer);
    f.settings.maxGradNorm = config.optimizer.maxGradNorm;
    f.settings.maxGradValue = config.optimizer.maxGradValue;
    f.settings.evaluateEvery = config.evaluation.every;
    f.settings.saveBest = true;
    Names names;
    f.trace = [&](std::string_view event) {
        const bool isOfMicroBatch = event == "forward" || event == "loss" || event == "backward";
        if (isOfMicroBatch && std::find(names.begin(), names.end(), event) != names.end()) return;
        names.emplace_back(event);
    };
    f.recorder.act = [](const HookContext& context, Wishes& wishes) {
        if (context.point == Point::BeforeSave) wishes.stop = Ending{rundir::State::Stopped, "asked", false};
    };
    f.run(4);
    return names;
}

}  // namespace

class ExplainTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void updateIsExplainedInTheOrderOfTheLoop_data() {
        QTest::addColumn<int>("world");
        QTest::addColumn<QString>("mode");
        QTest::addColumn<bool>("everything");
        QTest::newRow("plain") << 1 << "fp32" << false;
        QTest::newRow("everything") << 1 << "fp16" << true;
        QTest::newRow("ranks") << 2 << "fp32" << false;
        QTest::newRow("everything on ranks") << 2 << "fp16" << true;
    }
    void updateIsExplainedInTheOrderOfTheLoop() {
        QFETCH(int, world);
        QFETCH(QString, mode);
        QFETCH(bool, everything);
        config::RunConfig config;
        config.parallel.ranks = world;
        config.accumulation.microBatches = 4;
        config.precision.mode = mode.toStdString();
        config.evaluation.every = {Interval::Unit::Updates, 1};
        config.optimizer.maxGradNorm.reset();
        if (everything) {
            config.optimizer.maxGradNorm = 1;
            config.optimizer.maxGradValue = 1;
            config.optimizer.ema = true;
            config.guard.onLossSpike = "skip";
        }
        std::vector<Names> seen(static_cast<std::size_t>(world));
        asRanks(config.parallel, [&](Parallel& parallel) { seen[static_cast<std::size_t>(parallel.rank())] = happened(config, parallel); });
        Names expected = told(config);
        if (!everything) expected.insert(std::find(expected.begin(), expected.end(), "verdict") + 1, "guard");  // where it does no more than the verdict, it is not told
        for (const Names& names : seen) QCOMPARE(names, expected);
    }
};

QTEST_GUILESS_MAIN(ExplainTest)
#include "tst_explain.moc"
