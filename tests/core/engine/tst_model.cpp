// Models against plain PyTorch and torchvision (golden/make_golden.py), and what makeModel() and loadWeights() promise.
#include "golden_file.h"

#include "engine/model/param_table.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

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

struct FileTensor {
    std::string name, dtype;
    std::vector<std::int64_t> shape;
};

/// A safetensors file whose tensors are filled with 0x3f bytes.
std::string writeFile(const QTemporaryDir& folder, const std::vector<FileTensor>& content) {
    std::vector<std::pair<std::string, rundir::TensorRange>> tensors;
    std::size_t bytes = 0;
    for (const FileTensor& tensor : content) {
        tensors.push_back({tensor.name, {tensor.dtype, tensor.shape, 0, 0}});
        std::size_t count = rundir::elementBytes(tensor.dtype);
        for (const std::int64_t side : tensor.shape)
            count *= static_cast<std::size_t>(side);
        bytes += count;
    }
    const std::string path = folder.filePath(QStringLiteral("w.safetensors")).toStdString();
    std::ofstream(path, std::ios::binary) << rundir::makeSafetensorsHeader(tensors, {}) << std::string(bytes, '\x3f');
    return path;
}

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

    void initialWeightsDependOnSeedAndNameAlone() {
        config::ModelSection section = named("mlp");
        section.hidden = {16, 16};
        const ModelShape shape{20, 0, 0, 0, 4};
        const auto first = made(section, shape, at::kDouble, 5), same = made(section, shape, at::kDouble, 5);
        const auto single = made(section, shape, at::kFloat, 5), otherSeed = made(section, shape, at::kDouble, 6);
        section.hidden = {16, 16, 16};
        const auto deeper = made(section, shape, at::kDouble, 5);
        for (std::size_t i = 0; i < first->parameters().size(); ++i) {
            const at::Tensor weight = first->parameters()[i].tensor;
            QVERIFY(at::equal(weight, same->parameters()[i].tensor));
            QVERIFY(at::equal(weight.to(at::kFloat), single->parameters()[i].tensor));
            QVERIFY(!at::equal(weight, otherSeed->parameters()[i].tensor));
        }
        QVERIFY(at::equal(first->parameters()[0].tensor, deeper->parameters()[0].tensor));  // another depth, same first layer
        QVERIFY(!at::equal(first->parameters()[2].tensor.narrow(1, 0, 16), first->parameters()[0].tensor.narrow(1, 0, 16)));
    }

    void initialDistributionsArePyTorchs() {
        config::ModelSection section = named("mlp");
        section.hidden = {400};
        const auto mlp = made(section, {300, 0, 0, 0, 4});
        const at::Tensor weight = mlp->parameters()[0].tensor.detach();
        const double bound = 1.0 / std::sqrt(300.0);
        QVERIFY(weight.abs().max().item<double>() <= bound && weight.abs().max().item<double>() > 0.999 * bound);
        QVERIFY(std::abs(weight.mean().item<double>()) < 0.01 * bound);
        QVERIFY(std::abs(weight.std().item<double>() / (bound / std::sqrt(3.0)) - 1) < 0.01);
        const auto resnet = made(named("resnet18"), kImages);
        for (const NamedTensor& parameter : resnet->parameters()) {
            const at::Tensor p = parameter.tensor.detach();
            if (p.dim() == 4 && p.numel() > 30000)
                QVERIFY2(std::abs(p.std().item<double>() / std::sqrt(2.0 / static_cast<double>(p.size(0) * p.size(2) * p.size(3))) - 1) < 0.02,
                         parameter.name.c_str());
            else if (p.dim() == 1 && parameter.name != "fc.bias")
                QCOMPARE(p.min().item<double>(), parameter.name.ends_with("weight") ? 1.0 : 0.0);
        }
    }

    void mlpNamesAreThoseOfSequentialWithOrWithoutDropout() {
        config::ModelSection section = named("mlp");
        section.hidden = {8, 8};
        for (const double dropout : {0.0, 0.5}) {
            section.dropout = dropout;
            const auto model = made(section, kImages);
            QStringList names;
            for (const NamedTensor& parameter : model->parameters())
                names << QString::fromStdString(parameter.name);
            QCOMPARE(names.join(QLatin1Char(' ')), QStringLiteral("0.weight 0.bias 2.weight 2.bias 4.weight 4.bias"));
        }
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
                const at::Tensor output = made(named(name), shape)->forward(context, engine::made("x", {2, 1, side, side}));
                QCOMPARE(output.sizes().vec(), (std::vector<std::int64_t>{2, 3}));
            }
        }
    }

    void paramTableListsEachParameterOnce() {
        const auto model = made(named("resnet18"), kImages);
        const ParamTable table(*model);
        QCOMPARE(table.rows().size(), model->parameters().size());
        std::int64_t total = 0;
        for (std::size_t i = 0; i < table.rows().size(); ++i) {
            const ParamRow& row = table.rows()[i];
            QVERIFY(row.tensor.is_same(model->parameters()[i].tensor));
            QCOMPARE(row.shape, row.tensor.sizes().vec());
            QVERIFY(row.trainable && row.along(MeshAxis::Tensor) == Placement::Replicated);
            QCOMPARE(table.find(row.name), &row);
            total += row.numel();
        }
        QCOMPARE(table.totalElements(), total);
        QCOMPARE(model->blocks()[table.find("layer2.0.downsample.0.weight")->block]->name(), std::string("layer2.0"));
        QVERIFY(!table.find("nothing"));
    }

    void tiedWeightsAreOneRow() {
        const auto model = made(named("mlp"), {64, 0, 0, 0, 64});  // 64-64-64-64
        model->blocks()[1]->parameters()[0].tensor = model->blocks()[0]->parameters()[0].tensor;
        const ParamTable table(*model);
        QCOMPARE(table.rows().size(), 5U);
        QCOMPARE(table.find("2.weight"), table.find("0.weight"));
        QCOMPARE(table.rows()[0].aliases, std::vector<std::string>{"2.weight"});
        QCOMPARE(table.totalElements(), 3 * 64 * 64 - 64 * 64 + 3 * 64);
    }

    void weightsComeFromAFileOfAnyFloatType() {
        const QTemporaryDir folder;
        for (const char* dtype : {"F64", "F32", "BF16", "F16"}) {
            const auto model = made(named("linear"), {4, 0, 0, 0, 3}, at::kFloat);
            const at::Tensor kept = model->parameters()[0].tensor;
            const auto loaded = loadWeights(*model, writeFile(folder, {{"weight", dtype, {3, 4}}, {"bias", dtype, {3}}}));
            QVERIFY(loaded);
            QVERIFY(kept.is_same(model->parameters()[0].tensor));
            const double expected = dtype == std::string("F64")  ? 4.767922794e-4
                                    : dtype == std::string("F32") ? 0.7470589
                                    : dtype == std::string("BF16") ? 0.74609375
                                                                   : 1.8115234375;
            QVERIFY(std::abs(kept[2][3].item<double>() / expected - 1) < 1e-6);
        }
    }

    void everyNameThatDoesNotFitIsListedAtOnce() {
        const QTemporaryDir folder;
        config::ModelSection section = named("mlp");
        section.hidden = {5};
        const auto model = made(section, {4, 0, 0, 0, 3});
        const at::Tensor before = model->parameters()[1].tensor.clone();
        const std::string file = writeFile(folder, {{"0.bias", "F32", {5}},
                                                    {"0.weight", "F32", {4, 5}},
                                                    {"fc.weight", "F32", {3, 5}},
                                                    {"fc.num_batches_tracked", "I64", {}},
                                                    {"2.bias", "I64", {3}}});
        const auto loaded = loadWeights(*model, file);
        QVERIFY(!loaded);
        QCOMPARE(loaded.error().key, std::string("model.weights"));
        QCOMPARE(QString::fromStdString(loaded.error().sentence),
                 QString::fromStdString(file) + QStringLiteral(" does not fit the model; missing in the file: 2.weight; not in the model: fc.weight; of another "
                                                               "shape or type: 0.weight (file 4x5, model 5x4), 2.bias (file I64)"));
        QVERIFY(at::equal(before, model->parameters()[1].tensor));  // nothing was taken over
    }

    void missingBuffersAreForgiven() {
        const QTemporaryDir folder;
        config::ModelSection section = named("convnet");
        section.batchNorm = true;
        section.filters = {2};
        const auto model = made(section, {16, 1, 4, 4, 3});
        std::vector<FileTensor> content;
        for (const NamedTensor& parameter : model->parameters())
            content.push_back({parameter.name, "F64", parameter.tensor.sizes().vec()});
        QVERIFY(loadWeights(*model, writeFile(folder, content)));
        content.push_back({"bn1.running_mean", "F64", {2}});
        content.push_back({"bn1.num_batches_tracked", "I64", {}});
        QVERIFY(loadWeights(*model, writeFile(folder, content)));
        QVERIFY(model->buffers()[0].tensor[0].item<double>() != 0);
    }

    void unreadableWeightFilesGiveASentence() {
        const QTemporaryDir folder;
        const auto model = made(named("linear"), {4, 0, 0, 0, 3});
        const auto missing = loadWeights(*model, folder.filePath(QStringLiteral("none")).toStdString());
        QVERIFY(!missing);
        QCOMPARE(missing.error().code, ErrorCode::NotFound);
        const std::string file = writeFile(folder, {{"weight", "F32", {3, 4}}, {"bias", "F32", {3}}});
        std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
        const auto cut = loadWeights(*model, file);
        QVERIFY(!cut);
        QCOMPARE(cut.error().code, ErrorCode::Corrupt);
        QVERIFY(cut.error().sentence.find("w.safetensors") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestModel)
#include "tst_model.moc"
