// Models against plain PyTorch and torchvision (golden/make_golden.py), and how BatchNorm keeps its statistics.
#include "golden_file.h"

#include <QTest>

using namespace lathe;
using namespace lathe::engine;

namespace {

struct GoldenCase {
    config::ModelSection section;
    ModelShape shape;
    std::vector<std::int64_t> input;
    int batches = 1;
};

GoldenCase goldenCase(const std::string& name) {
    GoldenCase c;
    c.section.dropout = 0;
    if (name == "linear" || name == "mlp") {
        c.section.name = name;
        c.section.hidden = {9, 7};
        c.shape = {12, 0, 0, 0, 5};
        c.input = {6, 12};
    } else if (name.starts_with("convnet")) {
        c.section.name = "convnet";
        c.section.filters = {4, 6, 5};
        c.section.batchNorm = name == "convnet_norm";
        c.batches = c.section.batchNorm ? 4 : 1;
        c.shape = {162, 2, 9, 9, 5};
        c.input = {3, 2, 9, 9};
    } else {
        c.section.name = name.substr(0, 8);
        const bool narrow = name.ends_with("narrow"), gray = name == "resnet18_narrow";
        c.section.stem = narrow ? "small" : "standard";
        c.section.width = narrow ? 2 : 64;
        const std::int64_t channels = gray ? 1 : 3, side = narrow ? 12 : 40;
        c.shape = {channels * side * side, channels, side, side, narrow ? 5 : 10};
        c.input = {4, channels, side, side};
    }
    return c;
}

std::unique_ptr<Model> made(const config::ModelSection& section, const ModelShape& shape, at::ScalarType dtype = at::kDouble,
                            std::uint64_t seed = 1) {
    auto model = makeModel(section, shape, seed, dtype, at::kCPU);
    LATHE_ASSERT(model);
    return std::move(*model);
}

config::ModelSection named(const std::string& name) {
    config::ModelSection section;
    section.name = name;
    return section;
}

const ModelShape kImages{192, 3, 8, 8, 10};

}  // namespace

class TestModel : public QObject {
    Q_OBJECT

    std::map<std::string, at::Tensor> m_golden;

    void checkForwardAndBackward(const std::string& name, at::ScalarType dtype, double tolerance) {
        const GoldenCase c = goldenCase(name);
        const auto model = made(c.section, c.shape, dtype);
        setGoldenWeights(*model);
        std::vector<StatisticsUpdate> statistics;
        Context context;
        context.training = true;
        context.statistics = &statistics;
        for (int k = 0; k < c.batches; ++k) {
            const std::string number = std::to_string(k);
            const at::Tensor output = model->forward(context, engine::made("input" + number, c.input).to(dtype));
            const at::Tensor target = (at::arange(c.input[0], at::kLong) * 7 + k).remainder(c.shape.outputs);
            const at::Tensor loss = at::cross_entropy_loss(output, target, {}, at::Reduction::Sum);
            loss.backward();
            QVERIFY(relativeDifference(output, m_golden.at(name + "/output" + number)) < tolerance);
            QVERIFY(relativeDifference(loss, m_golden.at(name + "/loss" + number)) < tolerance);
        }
        for (const StatisticsUpdate& update : statistics)
            update.block->applyStatistics(update);
        checkGradients(name, *model, tolerance);
        for (const NamedTensor& buffer : model->buffers())
            if (const auto golden = m_golden.find(name + "/buffer/" + buffer.name); golden != m_golden.end())
                QVERIFY2(relativeDifference(buffer.tensor, golden->second) < tolerance, buffer.name.c_str());
        context = Context();
        const at::Tensor evaluated = model->forward(context, engine::made("input0", c.input).to(dtype));
        QVERIFY(relativeDifference(evaluated, m_golden.at(name + "/evaluation")) < tolerance);
    }

    void checkGradients(const std::string& name, Model& model, double tolerance) {
        std::size_t compared = 0;
        for (const NamedTensor& parameter : model.parameters()) {
            if (const auto golden = m_golden.find(name + "/gradient/" + parameter.name); golden != m_golden.end())
                QVERIFY2(relativeDifference(parameter.tensor.grad(), golden->second) < tolerance, parameter.name.c_str());
            else
                QVERIFY2(relativeDifference(parameter.tensor.grad().norm(), m_golden.at(name + "/norm/" + parameter.name)) < tolerance,
                         parameter.name.c_str());
            ++compared;
        }
        std::size_t golden = 0;
        for (const auto& [key, tensor] : m_golden)
            golden += key.starts_with(name + "/gradient/") || key.starts_with(name + "/norm/");
        QCOMPARE(compared, golden);
    }

private Q_SLOTS:
    void initTestCase() { m_golden = readGolden("models.safetensors"); }

    void outputsGradientsAndStatisticsEqualPyTorch_data() {
        QTest::addColumn<std::string>("name");
        for (const char* name : {"linear", "mlp", "convnet", "convnet_norm", "resnet18_narrow", "resnet50_narrow", "resnet18"})
            QTest::newRow(name) << std::string(name);
    }
    void outputsGradientsAndStatisticsEqualPyTorch() {
        QFETCH(std::string, name);
        checkForwardAndBackward(name, at::kDouble, 1e-10);
    }

    void singlePrecisionStaysWithinRounding_data() {
        QTest::addColumn<std::string>("name");
        for (const char* name : {"linear", "mlp", "convnet"})
            QTest::newRow(name) << std::string(name);
    }
    void singlePrecisionStaysWithinRounding() {
        QFETCH(std::string, name);
        checkForwardAndBackward(name, at::kFloat, 1e-6);
    }

    void resnetNamesAndShapesAreTorchvisions_data() {
        QTest::addColumn<std::string>("name");
        for (const char* name : {"resnet18", "resnet34", "resnet50", "resnet101", "resnet152"})
            QTest::newRow(name) << std::string(name);
    }
    void resnetNamesAndShapesAreTorchvisions() {
        QFETCH(std::string, name);
        const auto model = makeModel(named(name), {3 * 64 * 64, 3, 64, 64, 1000}, 1, at::kFloat, at::kMeta);
        QVERIFY(model);
        std::string text;
        const auto addLines = [&text](const std::vector<NamedTensor>& tensors) {
            for (const NamedTensor& tensor : tensors) {
                text += tensor.name + " ";
                for (std::int64_t i = 0; i < tensor.tensor.dim(); ++i)
                    text += (i ? "x" : "") + std::to_string(tensor.tensor.size(i));
                text += "\n";
            }
        };
        addLines((*model)->parameters());
        addLines((*model)->buffers());
        const auto golden = readFile(goldenPath(name + ".txt"), 1 << 20);
        QVERIFY(golden);
        QCOMPARE(QString::fromStdString(text), QString::fromStdString(*golden));
    }

    /// SEMANTICS B9: an applied window of four counts four batches, one left out counts none
    void statisticsMoveOnlyWhenApplied() {
        config::ModelSection section = named("convnet");
        section.batchNorm = true;
        const auto model = made(section, kImages);
        QVERIFY(model->hasBatchNorm());
        std::vector<at::Tensor> before;
        for (const NamedTensor& buffer : model->buffers())
            before.push_back(buffer.tensor.clone());
        std::vector<StatisticsUpdate> statistics;
        Context context;
        context.training = true;
        context.statistics = &statistics;
        for (int micro = 0; micro < 4; ++micro)
            model->forward(context, engine::made("x" + std::to_string(micro), {5, 3, 8, 8}));
        for (std::size_t i = 0; i < before.size(); ++i)
            QVERIFY(at::equal(model->buffers()[i].tensor, before[i]));  // a skipped update changes nothing
        QCOMPARE(statistics.size(), 8U);
        for (const StatisticsUpdate& update : statistics)
            update.block->applyStatistics(update);
        for (const NamedTensor& buffer : model->buffers())
            if (buffer.name.ends_with("num_batches_tracked"))
                QCOMPARE(buffer.tensor.item<std::int64_t>(), 4);
    }

    void oneValueAChannelLeavesTheStatisticsFinite() {
        config::ModelSection section = named("resnet18");
        section.stem = "small";
        section.width = 2;
        const auto model = made(section, kImages);
        std::vector<StatisticsUpdate> statistics;
        Context context;
        context.training = true;
        context.statistics = &statistics;
        const at::Tensor output = model->forward(context, engine::made("x", {1, 3, 8, 8}));
        QVERIFY(output.isfinite().all().item<bool>());
        for (const StatisticsUpdate& update : statistics)
            update.block->applyStatistics(update);
        for (const NamedTensor& buffer : model->buffers())
            QVERIFY2(buffer.tensor.isfinite().all().item<bool>(), buffer.name.c_str());
    }

    void evaluationDoesNotDependOnTheRestOfTheBatch() {
        config::ModelSection section = named("convnet");
        section.batchNorm = true;
        section.dropout = 0.5;
        const auto model = made(section, kImages);
        Context context;
        const at::Tensor x = engine::made("x", {5, 3, 8, 8});
        const at::Tensor all = model->forward(context, x), one = model->forward(context, x.narrow(0, 2, 1));
        QVERIFY(relativeDifference(one[0], all[2]) < 1e-12);
    }

    void modelsThatNeedImagesSaySo() {
        for (const char* name : {"convnet", "resnet50"}) {
            const auto model = makeModel(named(name), {64, 0, 0, 0, 10}, 1, at::kFloat, at::kCPU);
            QVERIFY(!model);
            QCOMPARE(model.error().code, ErrorCode::Config);
            QCOMPARE(model.error().key, std::string("model.name"));
            QVERIFY(model.error().sentence.starts_with(std::string(name) + " needs images"));
        }
        QVERIFY(!makeModel(named("resnet42"), kImages, 1, at::kFloat, at::kCPU));
    }

    void tinyImagesPassThroughEveryModel() {
        for (const std::int64_t side : {1, 3, 5}) {
            const ModelShape shape{side * side, 1, side, side, 3};
            for (const char* name : {"linear", "mlp", "convnet", "resnet18"}) {
                Context context;
                config::ModelSection section = named(name);
                section.width = 8;
                const at::Tensor output = made(section, shape)->forward(context, engine::made("x", {2, 1, side, side}));
                QCOMPARE(output.sizes().vec(), (std::vector<std::int64_t>{2, 3}));
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestModel)
#include "tst_model.moc"
