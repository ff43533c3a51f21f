// From a configuration to the parts that train and evaluate: split, standardisation, errors; with files as users have them.
#include "base/program_paths.h"
#include "engine/data/loader.h"
#include "shared_data.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

using namespace lathe;
using namespace lathe::engine;

class TestLoaderRunData : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    std::string file(const char* name) const { return m_folder.filePath(QString::fromLatin1(name)).toStdString(); }

    /// x = row, y = 2 · row, w = 1 + row % 3; with a class column instead of y when asked.
    std::string writeCsv(const char* name, int rows, bool classes, int first = 0) const {
        std::ofstream out(file(name));
        out << "x,constant,y,w\n";
        for (int i = first; i < first + rows; ++i)
            out << i << ",7," << (classes ? std::string(1, static_cast<char>('a' + i % 3)) : std::to_string(2 * i)) << "," << 1 + i % 3 << "\n";
        return file(name);
    }

    static config::RunConfig csvConfig(const std::string& train, bool classes) {
        config::RunConfig config;
        config.data.format = "csv";
        config.data.train = train;
        config.data.target = {"y"};
        config.data.weight = "w";
        config.data.evalFraction = 0.25;
        config.task.name = classes ? "classification" : "regression";
        return config;
    }

private Q_SLOTS:
    void aPartIsHeldOutBySplitSeed() {
        config::RunConfig config = csvConfig(writeCsv("rows.csv", 40, true), true);
        const auto data = openRunData(config);
        QVERIFY2(data, data ? "" : data.error().text().c_str());
        const plan::Split split = plan::split(40, 0.25, 0);
        QCOMPARE(data->train.ids, split.train);
        QCOMPARE(data->eval.ids, split.eval);
        config.run.seed = 1;
        QCOMPARE(openRunData(config)->eval.ids, split.eval);  // not the run's seed
        config.data.splitSeed = 9;
        QVERIFY(openRunData(config)->eval.ids != split.eval);
        config.data.evalFraction = 0;
        QVERIFY(openRunData(config)->eval.ids.empty());
    }

    void standardizationIsMeasuredOnTheTrainingPartAlone() {
        config::RunConfig config = csvConfig(writeCsv("rows.csv", 40, false), false);
        config.data.standardize = true;
        const auto data = openRunData(config);
        QVERIFY2(data, data ? "" : data.error().text().c_str());
        double mean = 0, square = 0;
        for (const std::int64_t id : data->train.ids)
            mean += static_cast<double>(id) / 30;
        for (const std::int64_t id : data->train.ids)
            square += std::pow(static_cast<double>(id) - mean, 2) / 30;
        QVERIFY(std::abs(data->train.standardization->mean[0] - mean) < 1e-12);
        QVERIFY(std::abs(data->train.standardization->deviation[0] - std::sqrt(square)) < 1e-12);
        QCOMPARE(data->train.standardization->mean[1], 7.0);
        QCOMPARE(data->train.standardization->deviation[1], 1.0);
        QCOMPARE(data->eval.standardization.get(), data->train.standardization.get());
        const auto loader = Loader::open(data->eval, LoaderSettings::evaluation(config, at::kCPU));
        const auto batch = (*loader)->next();
        const double first = static_cast<double>(data->eval.ids[0]);
        QCOMPARE(batch->input[0][0].item<float>(), static_cast<float>((first - mean) / std::sqrt(square)));
        QCOMPARE(batch->input[0][1].item<float>(), 0.0F);
        QCOMPARE(batch->target[0][0].item<float>(), static_cast<float>(2 * first));
        QCOMPARE(batch->weight[0].item<float>(), static_cast<float>(1 + data->eval.ids[0] % 3));
    }

    void aFileOfItsOwnIsEvaluatedWhole() {
        config::RunConfig config = csvConfig(writeCsv("train.csv", 12, true), true);
        config.data.eval = writeCsv("eval.csv", 5, true, 100);
        const auto data = openRunData(config);
        QVERIFY2(data, data ? "" : data.error().text().c_str());
        QCOMPARE(data->train.ids.size(), 12U);
        QCOMPARE(data->eval.ids.size(), 5U);
        QVERIFY(data->eval.dataset != data->train.dataset);
        const ModelShape shape = data->modelShape(3);
        QCOMPARE(shape.features, 2);
        QCOMPARE(shape.channels, 0);
        QCOMPARE(shape.outputs, 3);
    }

    /// SEMANTICS K2: documents are kept apart in both parts as soon as one of them has several
    void documentsOfTheEvaluationFileAloneAreKeptApart() {
        std::ofstream(file("one.txt")) << std::string(400, 'a');
        std::ofstream(file("several.txt")) << "first\n\nsecond\n\nthird and the last\n";
        config::RunConfig config;
        config.task.name = "language";
        config.model.name = "gpt";
        config.data.format = "text";
        config.data.documents = "blank_line";
        config.data.context = 8;
        config.data.train = config.data.eval = file("one.txt");
        const auto alone = openRunData(config);
        QVERIFY2(alone, alone ? "" : alone.error().text().c_str());
        QVERIFY(!alone->modelShape(256).packed);
        config.data.eval = file("several.txt");
        const auto data = openRunData(config);
        QVERIFY2(data, data ? "" : data.error().text().c_str());
        QVERIFY(data->modelShape(256).packed);
    }

    void missingDataIsAnErrorWithItsKey() {
        const auto data = openRunData(csvConfig(file("nowhere.csv"), true));
        QVERIFY(!data);
        QCOMPARE(data.error().key, std::string("data.train"));
        QVERIFY(data.error().text().find("nowhere.csv") != std::string::npos);
    }

    void openingCanBeStopped() {
        const auto data = openRunData(csvConfig(writeCsv("rows.csv", 40, true), true), [](std::int64_t, std::int64_t) { return false; });
        QVERIFY(!data);
        QCOMPARE(data.error().code, ErrorCode::Stopped);
    }

    void digitsComeAsPicturesInUnitRange() {
        config::RunConfig config;
        config.data.train = (resourceFolder() / "samples/digits/images.idx3-ubyte").string();
        config.data.trainLabels = (resourceFolder() / "samples/digits/labels.idx1-ubyte").string();
        config.data.batchSize = 64;
        const auto data = openRunData(config);
        QVERIFY2(data, data ? "" : data.error().text().c_str());
        QCOMPARE(data->train.ids.size() + data->eval.ids.size(), 1797U);
        const auto loader = Loader::open(data->train, LoaderSettings::training(config, at::kCPU).value());
        QVERIFY(loader);
        QVERIFY((*loader)->inMemory());
        const auto batch = (*loader)->next();
        QCOMPARE(batch->input.sizes().vec(), (std::vector<std::int64_t>{64, 1, 8, 8}));
        QVERIFY(batch->input.min().item<float>() >= 0 && batch->input.max().item<float>() <= 1);
        QVERIFY(batch->target.min().item<std::int64_t>() >= 0 && batch->target.max().item<std::int64_t>() <= 9);
    }

    void realPicturesLoadTheSameInMemoryAndFromFiles_data() {
        QTest::addColumn<std::string>("normalize");
        QTest::addColumn<std::string>("mode");
        QTest::addColumn<bool>("shuffle");
        QTest::newRow("bytes") << std::string("unit") << std::string("fp32") << true;
        QTest::newRow("bytes, double") << std::string("unit") << std::string("fp64") << true;
        QTest::newRow("bytes in order") << std::string("unit") << std::string("fp32") << false;
        QTest::newRow("numbers") << std::string("imagenet") << std::string("fp32") << true;
    }
    void realPicturesLoadTheSameInMemoryAndFromFiles() {
        QFETCH(std::string, normalize);
        QFETCH(std::string, mode);
        QFETCH(bool, shuffle);
        const std::filesystem::path flowers = sharedData() / "flowers/train";
        if (!std::filesystem::exists(flowers))
            QSKIP("data/flowers is not in ../shared or LATHE_SHARED");
        config::RunConfig config;
        config.data.format = "image_folder";
        config.data.train = flowers.string();
        config.data.imageSize = 24;
        config.data.normalize = normalize;
        config.data.shuffle = shuffle;
        config.precision.mode = mode;
        const auto data = openRunData(config);
        QVERIFY2(data, data ? "" : data.error().text().c_str());
        LoaderSettings settings = LoaderSettings::training(config, at::kCPU).value();
        const auto memory = Loader::open(data->train, settings);
        settings.memoryLimitBytes = 0;
        const auto stream = Loader::open(data->train, settings);
        QVERIFY(memory && stream && (*memory)->inMemory() && !(*stream)->inMemory());
        for (std::int64_t n = 0; n < (*memory)->shape().batchesPerEpoch() + 2; ++n) {
            const auto a = (*memory)->next(), b = (*stream)->next();
            QVERIFY(a && b && a->ids == b->ids);
            QVERIFY(at::equal(a->input, b->input) && at::equal(a->target, b->target));
        }
    }
};

QTEST_GUILESS_MAIN(TestLoaderRunData)
#include "tst_loader_run_data.moc"
