// The strategies and the small decisions around the loop: windows, precision, intervals, best values, what a resume tells.
#include "device/devices.h"
#include "engine/session/environment.h"
#include "engine/session/resume.h"
#include "engine/train/guard.h"
#include "loop_fixture.h"

#include <QtTest>

#include <limits>
#include <new>

using namespace lathe;
using namespace lathe::engine;
using namespace lathe::engine::test;

namespace {

Counters counted(std::int64_t step, std::int64_t epoch) {
    Counters counters;
    counters.globalStep = GlobalStep(step);
    counters.epoch = Epoch(epoch);
    return counters;
}

}  // namespace

class StrategiesTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// SEMANTICS B4: windows of 1, 2, 3, 4 and 4
    void irregularWindowsEndWhereTheySay() {
        Fixture f;
        for (int i = 0; i < 14; ++i) f.windows.batches.push_back(batchOf({{1.0}}, i));
        std::vector<std::int64_t> boundaries;
        f.recorder.act = [&](const HookContext& context, Wishes&) {
            if (context.point == Point::Update) boundaries.push_back(context.counters->microStep.value());
        };
        QCOMPARE(f.run(plan::makeAccumulation({.rule = "ramp", .microBatches = 4, .rampFrom = 1, .rampUpdates = 3}).value()).state, rundir::State::Completed);
        QCOMPARE(boundaries, (std::vector<std::int64_t>{1, 3, 6, 10, 14}));
        QCOMPARE(f.p(), 1.0 - 5.0);  // each update is normalised over its own window
    }

    void verdictNamesWhatIsNotFinite() {
        const auto precision = makePrecision({}).value();
        QCOMPARE(precision->verdict(1.0, {2.0, {}}), std::string());
        QCOMPARE(precision->verdict(std::nan(""), {2.0, {}}), std::string("the loss is nan"));
        QCOMPARE(precision->verdict(-std::numeric_limits<double>::infinity(), {2.0, {}}), std::string("the loss is -inf"));
        QCOMPARE(precision->verdict(1.0, {std::nan(""), "fc.bias"}), std::string("the gradient of fc.bias is not finite"));
        config::PrecisionSection unknown;
        unknown.mode = "fp8";
        QCOMPARE(makePrecision(unknown).error().key, std::string("precision.mode"));
    }

    void normIsGlobalOverParameters() {
        ScaleModel model(2);
        const ParamTable table(model);
        FlatStorage storage(table);
        storage.views()[0].gradient[0] = 3.0;
        storage.views()[0].gradient[1] = 4.0;
        QCOMPARE(makeSingleProcess()->globalNorm(storage).value, 5.0);
        storage.scaleGradients(1.0 / 5.0);
        QVERIFY(std::abs(storage.views()[0].gradient[0].item<double>() - 0.6) < 1e-7);
    }

    /// SEMANTICS A2: each interval once, however often it is asked for
    void triggersFireOncePerInterval() {
        Trigger updates({Interval::Unit::Updates, 3}), epochs({Interval::Unit::Epochs, 2}), seconds({Interval::Unit::Seconds, 10}), never({});
        QVERIFY(!updates.due(counted(2, 0), 0));
        QVERIFY(updates.due(counted(3, 0), 0));
        QVERIFY(!epochs.due(counted(9, 1), 0));
        QVERIFY(epochs.due(counted(12, 2), 0));
        QVERIFY(!epochs.due(counted(13, 2), 0));
        QVERIFY(!epochs.due(counted(20, 3), 0));
        QVERIFY(epochs.due(counted(30, 5), 0));  // a jump over 4 is one event
        QVERIFY(!seconds.due(counted(1, 0), 9.9));
        QVERIFY(seconds.due(counted(1, 0), 10.1));
        QVERIFY(!seconds.due(counted(1, 0), 20.0));
        QVERIFY(!never.due(counted(0, 0), 1e9));
    }

    void bestFollowsDirectionAndPatienceTheSmallestGain() {
        config::EvaluationSection section;
        section.minDelta = 0.05;
        section.patience = 2;
        BestValue best = BestValue::make(section, {{"accuracy", true}}).value();
        QVERIFY(!best.take({{"accuracy", std::nan("")}}, GlobalStep(1)));
        QVERIFY(!best.take({{"accuracy", 0.9}, {"loss", std::nan("")}}, GlobalStep(1)));   // guessed well by chance
        QVERIFY(best.take({{"accuracy", 0.5}}, GlobalStep(2)));
        QVERIFY(best.take({{"accuracy", 0.54}}, GlobalStep(3)));
        QVERIFY(!best.patienceUsedUp());
        QVERIFY(best.take({{"accuracy", 0.56}}, GlobalStep(4)));
        QVERIFY(!best.take({}, GlobalStep(5)));
        QVERIFY(!best.take({{"accuracy", 0.1}}, GlobalStep(6)));
        QVERIFY(best.patienceUsedUp());
        QCOMPARE(best.step().value(), 4);
        BestValue undefined = BestValue::make(section, {{"accuracy", true}}).value();   // as AUC of one class: no evaluation is worse for it
        for (int i = 1; i < 9; ++i) QVERIFY(!undefined.take({{"accuracy", std::nan("")}, {"loss", 1.0}}, GlobalStep(i)));
        QVERIFY(!undefined.patienceUsedUp());
        section.bestDirection = "min";
        QVERIFY(!BestValue::make(section, {{"accuracy", true}})->higherIsBetter());
    }

    void ofEqualValuesTheLowerLossIsBestButPatienceGoesOn() {
        config::EvaluationSection section;
        section.patience = 3;
        const std::vector<config::Metric> metrics{{"accuracy", true}, {"loss", false}};
        BestValue best = BestValue::make(section, metrics).value();
        QVERIFY(best.take({{"accuracy", 1}, {"loss", 1.057}}, GlobalStep(20)));
        QVERIFY(best.take({{"accuracy", 1}, {"loss", 0.5}}, GlobalStep(40)));
        QVERIFY(!best.take({{"accuracy", 1}, {"loss", 0.5}}, GlobalStep(60)));
        BestValue loaded = BestValue::make(section, metrics).value();
        QVERIFY(loaded.setStateValues(best.stateValues()).ok());
        QVERIFY(loaded.stateValues() == best.stateValues());
        QVERIFY(loaded.take({{"accuracy", 1}, {"loss", 5e-6}}, GlobalStep(80)));
        QCOMPARE(loaded.step().value(), 80);
        QVERIFY(loaded.patienceUsedUp());
        // As written before the loss was kept.
        StateValues old = best.stateValues();
        old.erase("loss");
        QVERIFY(loaded.setStateValues(old).ok());
        QVERIFY(loaded.stateValues() == old);
    }

    void anotherMetricBeginsItsBestAnew() {
        const std::vector<config::Metric> metrics{{"accuracy", true}, {"loss", false}};
        BestValue saved = BestValue::make({}, metrics).value();
        saved.take({{"accuracy", 0.9}}, GlobalStep(7));
        config::EvaluationSection section;
        section.bestMetric = "eval/loss";
        BestValue loaded = BestValue::make(section, metrics).value();
        QVERIFY(loaded.setStateValues(saved.stateValues()).ok());
        QVERIFY(loaded.stateValues() == saved.stateValues());
        QVERIFY(loaded.dropForeign());
        QVERIFY(!loaded.value());
        QVERIFY(!loaded.dropForeign());
    }

    void settingsThatMoveNumbersAreToldApart() {
        config::RunConfig saved, now;
        now.run.epochs = 50;
        now.data.loaderThreads = 0;
        now.checkpoint.keepLast = 9;
        auto changes = configChanges(config::toYaml(saved), now);
        QVERIFY(changes.ok());
        QCOMPARE(changes->sentences.size(), std::size_t(3));
        QVERIFY(changes->numeric.empty());
        now.data.batchSize = 64;
        now.run.seed = 1;
        changes = configChanges(config::toYaml(saved), now);
        QCOMPARE(changes->numeric.size(), std::size_t(2));
        config::RunConfig watched;
        watched.evaluation.minDelta = 0.5;
        QVERIFY(configChanges(config::toYaml({}), watched)->numeric.empty());
        watched.schedule.name = "plateau";  // evaluations decide the rate
        QCOMPARE(configChanges(config::toYaml({}), watched)->numeric.size(), std::size_t(2));
        config::RunConfig guarded;
        guarded.guard.onLossSpike = "skip";
        QCOMPARE(configChanges(config::toYaml({}), guarded)->numeric.size(), std::size_t(1));
        QVERIFY(!configChanges("run: [", now).ok());
    }

    void environmentDifferencesNameBothSides() {
        const Environment two{{"threads", "2"}, {"LibTorch", "2.11.0"}}, four{{"threads", "4"}, {"LibTorch", "2.11.0"}, {"device", "cpu"}};
        QCOMPARE(environmentDifferences(two, four), (std::vector<std::string>{"device unknown → cpu", "threads 2 → 4"}));
        QVERIFY(environmentDifferences(two, two).empty());
        const config::RunConfig config;
        QVERIFY(environmentRecord(config, at::kCPU, 2, "fp32", "single").contains("instruction set"));
        QVERIFY(!environmentRecord(config, at::kCPU, 2, "fp32", "single").contains("GPU"));
    }

    /// DESIGN 6: another GPU is "not comparable", never a guess
    void theGpuAndItsDriverAreInTheRecord() {
        qputenv("LATHE_NVML", LATHE_FAKE_NVML);
        const std::string uuid = device::gpus().list.front().uuid;
        qputenv("CUDA_VISIBLE_DEVICES", QByteArray::fromStdString(uuid));   // as chooseDevice() leaves it
        const Environment record = environmentRecord({}, at::Device(at::kCUDA, 0), 2, "fp32", "single");
        qunsetenv("LATHE_NVML");
        qunsetenv("CUDA_VISIBLE_DEVICES");
        QVERIFY2(record.at("GPU").find("compute capability") != std::string::npos, record.at("GPU").c_str());
        QVERIFY(!record.at("GPU driver").empty());
        Environment other = record;
        other["GPU"] = "another";
        QCOMPARE(environmentDifferences(record, other).size(), std::size_t(1));
    }

    void exceptionsBecomeSentences() {
        const auto thrown = [](auto&& function) { return guarded("trying", [&]() -> Result<void> { function(); return {}; }).error(); };
        QCOMPARE(thrown([] { throw std::bad_alloc(); }).code, ErrorCode::OutOfMemory);
        QCOMPARE(thrown([] { at::empty({std::int64_t{1} << 50}); }).code, ErrorCode::OutOfMemory);
        const Error shape = thrown([] { at::mm(at::ones({2, 3}), at::ones({2, 3})); });
        QCOMPARE(shape.code, ErrorCode::Internal);
        QVERIFY(shape.text().find('\n') == std::string::npos && shape.text().find("while trying") != std::string::npos);
        QVERIFY(thrown([] { throw std::bad_alloc(); }).text().find("data.batch_size") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(StrategiesTest)
#include "tst_strategies.moc"
