// Fifty updates against plain PyTorch with its fused optimizers (Lion: against its paper's closed form), and the arithmetic of the flat storage beneath.
#include "engine/parallel/norm_kernel.h"
#include "engine/task/task.h"
#include "engine/train/lion_kernel.h"
#include "golden_file.h"
#include "loop_fixture.h"

#include <ATen/Parallel.h>

#include <QtTest>

using namespace lathe;
using namespace lathe::engine;

namespace {

constexpr std::int64_t kClasses = 5;

struct Case {
    std::string name;
    config::ModelSection model;
    std::vector<std::int64_t> shape;        ///< of one sample
    std::vector<std::int64_t> parts;        ///< sizes of the micro-batches of an update
    at::ScalarType dtype = at::kFloat;
    config::OptimizerSection optimizer;
    double tolerance = 1e-6;
};

config::OptimizerSection adamw(double clip) {
    config::OptimizerSection section;
    section.learningRate = 3e-3;
    section.weightDecay = 1e-2;
    section.maxGradNorm = clip;
    return section;
}

config::OptimizerSection sgd(double clip) {
    config::OptimizerSection section;
    section.name = "sgd";
    section.learningRate = 0.05;
    section.weightDecay = 1e-3;
    section.nesterov = true;
    section.maxGradNorm = clip;
    return section;
}

config::OptimizerSection adam() {
    config::OptimizerSection section = adamw(1.0);
    section.name = "adam";
    section.beta1 = 0.8;
    section.beta2 = 0.99;
    section.epsilon = 1e-7;
    return section;
}

config::OptimizerSection dampedSgd() {
    config::OptimizerSection section = sgd(100);
    section.nesterov = false;
    section.dampening = 0.3;
    return section;
}

config::OptimizerSection plainSgd() {
    config::OptimizerSection section = sgd(1.0);
    section.learningRate = 0.1;
    section.nesterov = false;
    section.momentum = 0;
    return section;
}

config::OptimizerSection lion() {
    config::OptimizerSection section;
    section.name = "lion";
    section.learningRate = 1e-3;
    section.weightDecay = 0.1;
    section.maxGradNorm = 1.0;
    return section;
}

config::ModelSection mlp() {
    config::ModelSection section;
    section.name = "mlp";
    section.hidden = {16, 9};
    return section;
}

config::ModelSection convnet() {
    config::ModelSection section;
    section.name = "convnet";
    section.filters = {4, 6};
    section.batchNorm = true;
    return section;
}

const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {"mlp_adamw", mlp(), {12}, {32}, at::kFloat, adamw(1.0), 1e-6},
        {"mlp_adamw_window", mlp(), {12}, {12, 12, 5}, at::kFloat, adamw(0.5), 1e-6},
        {"mlp_sgd", mlp(), {12}, {32}, at::kFloat, sgd(100), 1e-6},
        {"mlp_adam", mlp(), {12}, {32}, at::kFloat, adam(), 1e-6},
        {"mlp_sgd_damped", mlp(), {12}, {32}, at::kFloat, dampedSgd(), 1e-6},
        {"mlp_sgd_plain", mlp(), {12}, {12, 12, 5}, at::kFloat, plainSgd(), 1e-6},
        {"mlp_lion", mlp(), {12}, {32}, at::kDouble, lion(), 1e-8},
        {"convnet_adamw", convnet(), {2, 9, 9}, {6}, at::kDouble, adamw(1.0), 1e-8},
        {"convnet_sgd_window", convnet(), {2, 9, 9}, {6, 6, 3}, at::kDouble, sgd(1.0), 1e-8},
    };
    return all;
}

/// The micro-batches of make_training_golden.py, window after window.
class MadeWindows final : public WindowSource {
public:
    explicit MadeWindows(const Case& shape) : m_case(shape) {}
    Result<void> load(const plan::Window& window, const plan::Sharing::Share&, std::vector<Batch>& out) override {
        out.clear();
        const std::int64_t k = window.microBatches.front().begin / static_cast<std::int64_t>(m_case.parts.size());
        for (std::size_t i = 0; i < m_case.parts.size(); ++i) {
            const std::int64_t size = m_case.parts[i];
            std::vector<std::int64_t> full{size};
            full.insert(full.end(), m_case.shape.begin(), m_case.shape.end());
            Batch batch;
            batch.input = (made("x" + std::to_string(k) + "." + std::to_string(i), full) * 4).to(m_case.dtype);
            batch.target = (at::arange(size, at::kLong) * 7 + k + static_cast<std::int64_t>(i)) % kClasses;
            batch.ids.resize(static_cast<std::size_t>(size));
            out.push_back(std::move(batch));
        }
        return {};
    }

private:
    const Case& m_case;
};

std::unique_ptr<Task> classification() {
    dataset::Info info;
    for (int i = 0; i < kClasses; ++i) info.classNames.push_back(std::to_string(i));
    info.classCounts.assign(kClasses, 1);
    return makeTask(config::RunConfig{}, info).value();
}

}  // namespace

class OptimizerTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    void fiftyUpdatesEqualPlainPyTorch_data() {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < cases().size(); ++i) QTest::newRow(cases()[i].name.c_str()) << static_cast<int>(i);
    }
    void fiftyUpdatesEqualPlainPyTorch() {
        QFETCH(int, index);
        const Case& c = cases()[static_cast<std::size_t>(index)];
        const auto golden = readGolden("training.safetensors");
        ModelShape shape;
        shape.outputs = kClasses;
        shape.features = c.shape.size() == 1 ? c.shape[0] : c.shape[0] * c.shape[1] * c.shape[2];
        if (c.shape.size() == 3) shape.channels = c.shape[0], shape.height = c.shape[1], shape.width = c.shape[2];
        const auto model = makeModel(c.model, shape, 1, c.dtype, at::kCPU).value();
        setGoldenWeights(*model);
        const ParamTable table(*model);
        FlatStorage storage(table);
        const auto optimizer = Optimizer::make(c.optimizer, storage).value();
        const auto task = classification();
        const auto parallel = makeSingleProcess();
        const auto precision = makePrecision({}).value();
        MadeWindows windows(c);
        const auto parts = static_cast<std::int64_t>(c.parts.size());
        const plan::OrderShape order({.samples = 50 * parts, .batchSize = 1, .accumulation = plan::fixedWindows(parts)});
        auto best = BestValue::make({}, task->metricInfo()).value();
        Progress progress;
        ActiveTime time(Clock::system());
        test::Recorder recorder;
        Curve curve({.name = "linear", .warmupUpdates = 4, .finalFactor = 0.1, .totalUpdates = 50}, c.optimizer.learningRate);
        TrainerParts trainerParts{.task = task.get(), .model = model.get(), .storage = &storage, .optimizer = optimizer.get(), .parallel = parallel.get(),
                                  .precision = precision.get(), .order = &order, .windows = &windows, .curve = &curve, .best = &best,
                                  .progress = &progress, .time = &time, .hooks = {&recorder}};
        TrainerSettings settings;
        settings.maxUpdates = 50;
        settings.maxGradNorm = c.optimizer.maxGradNorm;
        QCOMPARE(Trainer(trainerParts, settings).run().state, rundir::State::Completed);

        for (std::size_t i = 0; i < 50; ++i) {
            const auto expected = [&](const char* what) { return golden.at(c.name + "/" + what)[static_cast<std::int64_t>(i)].item<double>(); };
            const UpdateResult& result = recorder.rows.at(i).result;
            QVERIFY2(std::abs(result.loss - expected("loss")) <= c.tolerance * expected("loss"), qPrintable(QString("loss of update %1").arg(i + 1)));
            QVERIFY2(std::abs(result.gradNorm - expected("norm")) <= 10 * c.tolerance * expected("norm"), qPrintable(QString("norm of update %1").arg(i + 1)));
            QVERIFY(std::abs(result.learningRate - expected("lr")) <= 1e-15);
        }
        std::vector<NamedTensor> all = model->parameters();
        for (const NamedTensor& buffer : model->buffers()) all.push_back(buffer);
        for (const NamedTensor& named : all)
            QVERIFY2(relativeDifference(named.tensor, golden.at(c.name + "/end/" + named.name)) <= 10 * c.tolerance, named.name.c_str());
    }

    void lionOfSinglesIsThatOfDoublesRounded() {
        constexpr std::int64_t kCount = 1003;   // no multiple of a vector
        std::vector<float> p(kCount), g(kCount), m(kCount);
        std::vector<double> pd(kCount), gd(kCount), md(kCount);
        for (std::size_t i = 0; i < kCount; ++i) {
            pd[i] = p[i] = std::sin(static_cast<float>(i));
            gd[i] = g[i] = i % 10 == 0 ? 0.0f : std::cos(static_cast<float>(3 * i));
            md[i] = m[i] = i % 10 == 0 ? 0.0f : std::sin(static_cast<float>(7 * i)) * 0.1f;
        }
        const LionStep step{0.01, 0.1, 0.9, 0.99};
        lionKernel(p.data(), g.data(), m.data(), kCount, step);
        lionKernel(pd.data(), gd.data(), md.data(), kCount, step);
        for (std::size_t i = 0; i < kCount; ++i) QVERIFY(std::abs(p[i] - pd[i]) < 1e-6 && std::abs(m[i] - md[i]) < 1e-6);
        QCOMPARE(pd[10], std::sin(10.0f) * (1 - 0.01 * 0.1));   // without a direction, the decay alone
        QVERIFY(std::abs(pd[1] - (std::sin(1.0f) * (1 - 0.001) - 0.01 * (0.9 * std::sin(7.0f) * 0.1f + 0.1 * std::cos(3.0f) > 0 ? 1 : -1))) < 1e-12);
    }

    void everyOptimizerGoesOnExactlyFromItsState() {
        for (const char* name : {"adamw", "adam", "sgd", "lion"}) {
            config::OptimizerSection section = adamw(1.0);
            section.name = name;
            const auto steps = [&](test::Fixture& f, int from, int to) {
                for (int i = from; i < to; ++i) {
                    f.storage.views()[0].gradient.copy_(at::arange(3, at::kFloat).sub(1.5 + 0.3 * i).sin());
                    f.optimizer->step(0.01);
                }
            };
            test::Fixture straight(3, at::kFloat, section), first(3, at::kFloat, section), second(3, at::kFloat, section);
            steps(straight, 0, 20);
            steps(first, 0, 12);
            const at::NoGradGuard noGrad;
            second.model.p().copy_(first.model.p());
            QVERIFY(second.optimizer->setStateValues(first.optimizer->stateValues()).ok());
            const auto from = first.optimizer->stateTensors(), to = second.optimizer->stateTensors();
            QCOMPARE(from.size(), Optimizer::stateTensorsPerParameter(section));
            for (std::size_t i = 0; i < from.size(); ++i) to[i].tensor.copy_(from[i].tensor);
            steps(second, 12, 20);
            QVERIFY2(at::equal(second.model.p(), straight.model.p()), name);
        }
    }

    void stateOfAnotherOptimizerIsRefusedByName() {
        config::OptimizerSection section;
        section.name = "lion";
        test::Fixture lionOnes(2, at::kFloat, section), adamOnes(2);
        const auto refused = lionOnes.optimizer->setStateValues(adamOnes.optimizer->stateValues());
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().sentence.find("optimizer “sgd”; this run asks for “lion”") != std::string::npos, refused.error().sentence.c_str());
        section.name = "adamax";
        QCOMPARE(Optimizer::make(section, adamOnes.storage).error().key, std::string("optimizer.name"));
    }

    void flatStorageKeepsTheModelsTensors() {
        const auto model = makeModel(mlp(), {.features = 12, .outputs = kClasses}, 3, at::kFloat, at::kCPU).value();
        const auto parameters = model->parameters();
        std::vector<at::Tensor> before;
        for (const NamedTensor& named : parameters) before.push_back(named.tensor.detach().clone());
        const ParamTable table(*model);
        FlatStorage storage(table);
        QCOMPARE(storage.views().size(), parameters.size());
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            QVERIFY(at::equal(parameters[i].tensor, before[i]));
            QCOMPARE(parameters[i].tensor.grad().const_data_ptr(), storage.views()[i].gradient.const_data_ptr());
            QCOMPARE(reinterpret_cast<std::uintptr_t>(parameters[i].tensor.const_data_ptr()) % 64, std::uintptr_t(0));
        }
        const at::Tensor out = at::linear(at::ones({1, 12}), parameters[0].tensor, parameters[1].tensor).sum();
        out.backward();
        QVERIFY(storage.flats()[storage.views()[0].flat].gradient.sum().item<double>() != 0);
        storage.clearGradients();
        QCOMPARE(parameters[1].tensor.grad().sum().item<double>(), 0.0);
    }

    /// SEMANTICS E4: 128 values of 1e19 have a finite norm
    void normHoldsForLargeAndOddSizes() {
        std::vector<float> big(128, 1e19f);
        QVERIFY(std::abs(std::sqrt(sumOfSquares(big.data(), 128)) - 1.1313708e20) < 1e14);
        for (const std::int64_t count : {0, 1, 15, 16, 17, 4095, 4096, 4097, 100003}) {
            std::vector<float> values(static_cast<std::size_t>(count));
            double expected = 0;
            for (std::size_t i = 0; i < values.size(); ++i) {
                values[i] = static_cast<float>(std::sin(static_cast<double>(i)));
                expected += static_cast<double>(values[i]) * values[i];
            }
            QVERIFY(std::abs(sumOfSquares(values.data(), count) - expected) <= 1e-12 * (1 + expected));
            // Cut at chunk borders the parts add up to the same bits.
            double parts = 0;
            for (std::int64_t begin = 0; begin < count; begin += kNormChunk)
                parts += sumOfSquares(values.data() + begin, std::min(kNormChunk, count - begin));
            QCOMPARE(std::bit_cast<quint64>(parts), std::bit_cast<quint64>(sumOfSquares(values.data(), count)));
        }
        for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), std::nanf("")}) {
            std::vector<float> values(1000, 1.0f);
            values[777] = bad;
            QVERIFY(!std::isfinite(sumOfSquares(values.data(), 1000)));
        }
    }

    /// SEMANTICS E4: an infinite gradient
    void infiniteGradientLeavesEverythingAndNamesTheParameter() {
        config::OptimizerSection section;
        test::Fixture f(2, at::kFloat, section);
        f.windows.batches = {test::batchOf({{0.5, 0.25}})};
        f.run(1);
        const auto before = f.optimizer->stateTensors();
        std::vector<at::Tensor> copies;
        for (const StateTensor& item : before) copies.push_back(item.tensor.clone());
        const at::Tensor p = f.model.p().detach().clone();
        f.storage.views()[0].gradient.fill_(std::numeric_limits<double>::infinity());
        const GradientNorm norm = f.parallel->globalNorm(f.storage);
        QCOMPARE(norm.notFinite, std::string("p"));
        QCOMPARE(f.precision->verdict(1.0, norm), std::string("the gradient of p is not finite"));
        f.windows.batches = {test::batchOf({{1e38, 1e38}, {1e38, 1e38}, {1e38, 1e38}, {1e38, 1e38}})};  // the loss overflows
        f.settings.epochs = 2;
        f.run(1);
        QCOMPARE(f.progress.counters.skippedUpdates.value(), 1);
        QVERIFY(at::equal(f.model.p(), p));
        for (std::size_t i = 0; i < copies.size(); ++i) QVERIFY(at::equal(before[i].tensor, copies[i]));
    }
};

QTEST_GUILESS_MAIN(OptimizerTest)
#include "tst_optimizer.moc"
