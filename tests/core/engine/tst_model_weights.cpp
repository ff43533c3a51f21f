// Initial weights, weights from files, and the table of parameters.
#include "golden_file.h"

#include "engine/model/param_table.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace lathe;
using namespace lathe::engine;

namespace {

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

class TestModelWeights : public QObject {
    Q_OBJECT

private Q_SLOTS:
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

    void paramTableListsEachParameterOnce() {
        const auto model = made(named("resnet18"), kImages);
        const ParamTable table(*model);
        QCOMPARE(table.rows().size(), model->parameters().size());
        std::int64_t total = 0;
        for (std::size_t i = 0; i < table.rows().size(); ++i) {
            const ParamRow& row = table.rows()[i];
            QVERIFY(row.tensor.is_same(model->parameters()[i].tensor));
            QCOMPARE(row.shape, row.tensor.sizes().vec());
            QVERIFY(row.trainable);
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

QTEST_GUILESS_MAIN(TestModelWeights)
#include "tst_model_weights.moc"
