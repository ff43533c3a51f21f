// Mixed precision and the loss scale: SEMANTICS B6, B10, C1, D1, D4, E4, P5.
#include "engine/train/guard.h"
#include "loop_fixture.h"

#include <ATen/autocast_mode.h>

#include <QtTest>

#include <cmath>
#include <limits>

using namespace lathe;
using namespace lathe::engine;
using namespace lathe::engine::test;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

config::PrecisionSection mode(const std::string& name) {
    config::PrecisionSection section;
    section.mode = name;
    return section;
}

/// One weight, multiplied by a matrix product: an operator that mixed precision casts.
class ProductBlock final : public Block {
public:
    explicit ProductBlock(std::int64_t width) : Block("product", 0) { m_parameters.push_back({"p", at::ones({1, width}).requires_grad_(true)}); }
    at::Tensor forward(Context&, const at::Tensor& input) override {
        const at::Tensor output = at::linear(input, m_parameters[0].tensor);
        type = output.scalar_type();
        return output;
    }
    at::ScalarType type = at::kFloat;
};

class ProductModel final : public Model {
public:
    explicit ProductModel(std::int64_t width = 1) { m_blocks.push_back(std::make_unique<ProductBlock>(width)); }
    ProductBlock& block() { return static_cast<ProductBlock&>(*m_blocks[0]); }
    at::Tensor p() { return m_blocks[0]->parameters()[0].tensor; }
};

/// A run of a ProductModel in some precision.
struct Run {
    explicit Run(const std::string& name, const config::OptimizerSection& optimizer = Fixture::sgd(1.0)) : f(1, at::kFloat, optimizer), table(model), storage(table) {
        this->optimizer = Optimizer::make(f.section, storage).value();
        f.precision = makePrecision(mode(name)).value();
    }
    Ending run(std::int64_t microBatches = 1) {
        f.shape = {.samples = static_cast<std::int64_t>(f.windows.batches.size()), .batchSize = 1, .accumulation = plan::fixedWindows(microBatches)};
        const plan::OrderShape order(f.shape);
        TrainerParts parts{.task = &f.task, .model = &model, .storage = &storage, .optimizer = optimizer.get(), .parallel = f.parallel.get(),
                           .precision = f.precision.get(), .order = &order, .windows = &f.windows, .curve = &f.curve, .best = f.best.get(),
                           .progress = &f.progress, .saver = f.saves ? &f.saver : nullptr, .time = &f.time, .hooks = {&f.recorder}};
        return Trainer(parts, f.settings).run();
    }
    void feed(const std::vector<double>& values) {
        // Four samples alike: the loss is a mean, so that its gradient stays below what fp16 can hold.
        for (std::size_t i = 0; i < values.size(); ++i) f.windows.batches.push_back(batchOf(std::vector<std::vector<double>>(4, {values[i]}), static_cast<std::int64_t>(4 * i)));
    }
    Fixture f;
    ProductModel model;
    ParamTable table;
    FlatStorage storage;
    std::unique_ptr<Optimizer> optimizer;
};

}  // namespace

class PrecisionTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void modesSayWhatTheyAre() {
        QCOMPARE(makePrecision(mode("fp64")).value()->parameterType(), at::kDouble);
        for (const char* name : {"bf16", "fp16"}) {
            const auto precision = makePrecision(mode(name)).value();
            QCOMPARE(precision->parameterType(), at::kFloat);
            QVERIFY(precision->castType());
            QVERIFY(precision->why().empty());
        }
        const auto automatic = makePrecision(mode("auto"), at::kCPU).value();
        QVERIFY(!automatic->why().empty());
        QVERIFY(automatic->name() == "fp32" || automatic->name() == "bf16");
        QCOMPARE(makePrecision(mode("fp8")).error().key, std::string("precision.mode"));
    }

    void castsHoldForTheForwardPassAlone_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("type");
        QTest::newRow("bf16") << "bf16" << static_cast<int>(at::kBFloat16);
        QTest::newRow("fp16") << "fp16" << static_cast<int>(at::kHalf);
        QTest::newRow("fp32") << "fp32" << static_cast<int>(at::kFloat);
    }
    void castsHoldForTheForwardPassAlone() {
        QFETCH(QString, name);
        QFETCH(int, type);
        Run run(name.toStdString());
        run.feed({0.25, 0.5});
        QVERIFY(run.run().state == rundir::State::Completed);
        QCOMPARE(static_cast<int>(run.model.block().type), type);
        QVERIFY(!at::autocast::is_autocast_enabled(at::kCPU));
        QCOMPARE(run.model.p().scalar_type(), at::kFloat);
        QCOMPARE(run.storage.views()[0].gradient.scalar_type(), at::kFloat);
        QCOMPARE(run.model.p().item<double>(), 0.25);
        QCOMPARE(run.f.recorder.rows[1].result.loss, 0.375);  // 0.5 · 0.75: an update is seen by the next pass
    }

    /// SEMANTICS B10
    void smallMicroGradientsAreNotLost() {
        Run run("bf16", Fixture::sgd(256));
        std::vector<double> inputs{1.0};
        inputs.resize(256, std::ldexp(1.0, -9));
        run.feed(inputs);
        run.f.curve = Curve::constant(256);  // undoes the division by the window's weight
        QVERIFY(run.run(256).state == rundir::State::Completed);
        QCOMPARE(1.0 - run.model.p().item<double>(), 1.498046875);
        at::Tensor narrow = at::ones({}, at::kBFloat16);
        for (int i = 0; i < 255; ++i) narrow.add_(std::ldexp(1.0, -9));
        QCOMPARE(narrow.item<double>(), 1.0);  // what a bf16 buffer would hold
    }

    /// SEMANTICS D1: true norm 0.5, scale 65536: not clipped, one unscale whatever the window
    void normAndClippingSeeUnscaledGradients() {
        for (const std::int64_t window : {1, 4}) {
            Run run("fp16");
            run.feed(std::vector<double>(static_cast<std::size_t>(window), 0.5));
            run.f.settings.maxGradNorm = 1.0;
            run.run(window);
            const UpdateResult& result = run.f.recorder.rows.at(0).result;
            QCOMPARE(result.scale, 65536.0);
            QCOMPARE(result.gradNorm, 0.5);
            QCOMPARE(result.loss, 0.5);   // B6: what was shown was never multiplied
            QCOMPARE(run.model.p().item<double>(), 0.5);
        }
    }

    /// SEMANTICS C1: the schedule moves by applied updates alone
    void skippedUpdateTakesNoRate() {
        const auto rates = [](const std::string& name, const std::vector<double>& inputs) {
            Run run(name, Fixture::sgd(1e-3));
            run.feed(inputs);
            run.f.curve = Curve({.name = "linear", .warmupUpdates = 4, .totalUpdates = 10}, 1e-3);
            run.run();
            std::vector<double> applied;
            for (const Row& row : run.f.recorder.rows)
                if (row.result.applied) applied.push_back(row.result.learningRate);
            return std::pair{applied, run.f.progress.counters};
        };
        std::vector<double> inputs(10, 0.25);
        inputs[2] = 60000;  // times the scale of 65536: past the largest half
        const auto [rated, counters] = rates("fp16", inputs);
        QCOMPARE(counters.globalStep.value(), 9);
        QCOMPARE(counters.skippedUpdates.value(), 1);
        const auto [straight, unused] = rates("fp32", std::vector<double>(9, 0.25));
        QCOMPARE(rated, straight);
    }

    void scaleHalvesAfterAnOverflowAndGrowsAfterQuiet() {
        config::PrecisionSection section = mode("fp16");
        section.scaleGrowthUpdates = 3;
        const auto precision = makePrecision(section).value();
        UpdateResult overflow, fine, vetoed;
        overflow.notFinite = true;
        fine.applied = true;
        QCOMPARE(precision->settle(overflow), std::string());
        QCOMPARE(precision->scale(), 32768.0);
        for (int i = 0; i < 2; ++i) precision->settle(fine);
        precision->settle(vetoed);  // skipped for another reason: says nothing about the scale
        QCOMPARE(precision->scale(), 32768.0);
        precision->settle(fine);
        QCOMPARE(precision->scale(), 65536.0);
        const auto restored = makePrecision(section).value();
        precision->settle(fine);
        QVERIFY(restored->setStateValues(precision->stateValues()).ok());
        QVERIFY(restored->stateValues() == precision->stateValues());
        QVERIFY(!restored->setStateValues({{"mode", "fp16"}, {"scale", "3"}, {"good_updates", "0"}}).ok());
        QVERIFY(!restored->setStateValues({{"scale", "4"}}).ok());
    }

    /// SEMANTICS D4
    void foreverOverflowingRunIsDiverged() {
        Run run("fp16");
        run.feed(std::vector<double>(200, kInf));
        const Ending ending = run.run();
        QCOMPARE(ending.state, rundir::State::Diverged);
        QVERIFY2(ending.why.find("loss scale") != std::string::npos, ending.why.c_str());
        QCOMPARE(run.f.progress.counters.globalStep.value(), 0);
        QCOMPARE(run.f.recorder.rows.size(), std::size_t(17));  // 65536 = 2^16 halves sixteen times
        QVERIFY(!ending.save);
        Run plain("fp32");
        plain.feed(std::vector<double>(200, kInf));
        QCOMPARE(plain.run().state, rundir::State::Diverged);
        QCOMPARE(plain.f.recorder.rows.size(), std::size_t(50));
    }

    /// SEMANTICS E4 and P5: nothing moves, the row says why, and the rows beside it are untouched (B6)
    void skippedUpdateChangesNothingAndSaysWhy() {
        for (const char* name : {"fp32", "bf16", "fp16"}) {
            config::OptimizerSection adamw;
            adamw.learningRate = 0.1;
            Run run(name, adamw);
            run.feed({0.5, 0.5, std::nan(""), 0.5});
            run.f.curve = Curve::constant(0.1);
            std::vector<at::Tensor> before, after;
            run.f.recorder.act = [&](const HookContext& context, Wishes&) {
                if (context.point != Point::Update) return;
                std::vector<at::Tensor>& list = context.counters->updateAttempts.value() == 2 ? before : after;
                if (context.counters->updateAttempts.value() > 3) return;
                list.assign(1, run.model.p().detach().clone());
                for (const StateTensor& item : run.optimizer->stateTensors()) list.push_back(item.tensor.clone());
            };
            run.run();
            QCOMPARE(before.size(), after.size());
            for (std::size_t i = 0; i < before.size(); ++i) QVERIFY(at::equal(before[i], after[i]));
            const std::vector<Row>& rows = run.f.recorder.rows;
            QVERIFY(!rows[2].result.applied && rows[2].result.notFinite && std::isnan(rows[2].result.loss));
            QVERIFY(!rows[2].result.reason.empty());
            QVERIFY(rows[1].result.applied && rows[3].result.applied && std::isfinite(rows[3].result.loss));
            QCOMPARE(run.f.progress.counters.skippedUpdates.value(), 1);
            QCOMPARE(run.optimizer->updates(), 3);
        }
    }

    void realModelsLearnInShortFormats_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("model");
        for (const char* name : {"bf16", "fp16"})
            for (const char* model : {"mlp", "convnet"}) QTest::addRow("%s %s", name, model) << name << model;
    }
    void realModelsLearnInShortFormats() {
        QFETCH(QString, name);
        QFETCH(QString, model);
        config::ModelSection section;
        section.name = model.toStdString();
        section.batchNorm = true;
        section.filters = {4, 8};
        const auto made = makeModel(section, {.features = 64, .channels = 1, .height = 8, .width = 8, .outputs = 3}, 1, at::kFloat, at::kCPU).value();
        ParamTable table(*made);
        FlatStorage storage(table);
        config::OptimizerSection adamw;
        adamw.learningRate = 0.01;
        const auto optimizer = Optimizer::make(adamw, storage).value();
        dataset::Info info;
        info.classNames.assign(3, "c");
        info.classCounts.assign(3, 1);
        const auto task = makeTask(config::RunConfig{}, info).value();
        Fixture f;
        for (int i = 0; i < 30; ++i) {
            Batch batch;
            batch.target = at::arange(12, at::kLong) % 3;
            batch.input = (at::sin(at::arange(12 * 64, at::kFloat).view({12, 64}) * 0.37f) * 0.1f + batch.target.unsqueeze(1)).view({12, 1, 8, 8});
            if (model == "mlp") batch.input = batch.input.view({12, 64});
            batch.ids.assign(12, i);
            f.windows.batches.push_back(batch);
        }
        f.curve = Curve::constant(0.01);
        f.precision = makePrecision(mode(name.toStdString())).value();
        f.shape = {.samples = 30, .batchSize = 1, .accumulation = plan::fixedWindows(1)};
        const plan::OrderShape order(f.shape);
        BestValue best = BestValue::make({}, task->metricInfo()).value();
        TrainerParts parts{.task = task.get(), .model = made.get(), .storage = &storage, .optimizer = optimizer.get(), .parallel = f.parallel.get(),
                           .precision = f.precision.get(), .order = &order, .windows = &f.windows, .curve = &f.curve, .best = &best,
                           .progress = &f.progress, .time = &f.time, .hooks = {&f.recorder}};
        const Ending ending = Trainer(parts, f.settings).run();
        QVERIFY2(ending.state == rundir::State::Completed, ending.why.c_str());
        QVERIFY(f.progress.counters.globalStep.value() > 20);
        QVERIFY(f.recorder.rows.back().result.loss < f.recorder.rows.front().result.loss / 2);
    }

    void operatorWithoutTheFormatIsNamed() {
        const auto thrown = guarded("trying", []() -> Result<void> {
            TORCH_CHECK_NOT_IMPLEMENTED(false, "\"some_op\" not implemented for 'Half'");
            return {};
        });
        QCOMPARE(thrown.error().code, ErrorCode::Unsupported);
        QCOMPARE(thrown.error().key, std::string("precision.mode"));
        QVERIFY(thrown.error().text().find("some_op") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(PrecisionTest)
#include "tst_precision.moc"
