#include "base/file_system.h"
#include "base/program_paths.h"
#include "data_files.h"
#include "dataset/dataset.h"
#include "dataset/idx.h"
#include "plan/order.h"

#include <QtCore/QJsonArray>
#include <QtCore/QJsonDocument>
#include <QtCore/QJsonObject>
#include <QtTest/QTest>

#include <cmath>
#include <limits>

using namespace lathe;
using namespace lathe::dataset;
using data_files::idx;
using data_files::inputOf;

class TestIdx : public QObject {
    Q_OBJECT

    data_files::Folder m_folder;

    static QJsonObject json(const QString& file) {
        QFile in(file);
        if (!in.open(QIODevice::ReadOnly)) qFatal("no %s", qPrintable(file));
        return QJsonDocument::fromJson(in.readAll()).object();
    }
    config::DataSection section(const std::string& images, const std::string& labels) const {
        config::DataSection data;
        data.train = images;
        data.trainLabels = labels;
        return data;
    }
    static config::DataSection digits() {
        config::DataSection data;
        data.train = (resourceFolder() / "samples/digits/images.idx3-ubyte").string();
        data.trainLabels = (resourceFolder() / "samples/digits/labels.idx1-ubyte").string();
        return data;
    }

private Q_SLOTS:
    void theDigitsSampleIsReadWhole() {
        const auto opened = open(digits(), {}, Part::Train);
        QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().text().c_str());
        const Info& info = (*opened)->info();
        QCOMPARE(QString::fromStdString(info.sentence()), QStringLiteral("1,797 images · 10 classes"));
        QCOMPARE(info.channels, 1);
        QCOMPARE(info.height, 8);
        QCOMPARE(info.width, 8);
        QCOMPARE(QString::fromStdString(info.classNames[9]), QStringLiteral("9"));
        QCOMPARE(QString::fromStdString((*opened)->describe(7)), QStringLiteral("record 7"));
        QCOMPARE(plan::split(info.samples, 0.2, 0).eval.size(), std::size_t{359});
        QCOMPARE(plan::split(info.samples, 0.2, 0).train.size(), std::size_t{1438});
    }

    void theDigitsSampleHasTheSumsOfItsSource() {
        if (data_files::shared().isEmpty()) QSKIP("the shared data sets are not here");
        const QJsonObject expected = json(data_files::shared() + QStringLiteral("/digits/expected.json"));
        const auto opened = open(digits(), {}, Part::Train);
        QVERIFY(opened.ok());
        double sum = 0;
        for (std::int64_t i = 0; i < (*opened)->info().samples; ++i)
            for (const double v : inputOf(**opened, i)) sum += std::round(v * 255);
        QCOMPARE(sum, expected[QStringLiteral("pixel_sum_uint8")].toDouble());
        const QJsonArray counts = expected[QStringLiteral("label_counts")].toArray();
        for (int c = 0; c < 10; ++c) QCOMPARE((*opened)->info().classCounts[static_cast<std::size_t>(c)], counts[c].toInteger());
    }

    void gzipIsReadToTheSameNumbers() {
        if (data_files::shared().isEmpty()) QSKIP("the shared data sets are not here");
        const std::string base = (data_files::shared() + QStringLiteral("/fashion_mnist/")).toStdString();
        const QJsonObject expected = json(QString::fromStdString(base + "expected.json"));
        const auto opened = open(section(base + "t10k-images-idx3-ubyte.gz", base + "t10k-labels-idx1-ubyte.gz"), {}, Part::Train);
        QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().text().c_str());
        QCOMPARE((*opened)->info().samples, 10000);
        double sum = 0;
        for (std::int64_t i = 0; i < 10000; ++i)
            for (const double v : inputOf(**opened, i)) sum += std::round(v * 255);
        QCOMPARE(sum, expected[QStringLiteral("pixel sum t10k")].toDouble());
        const auto first = inputOf(**opened, 0);
        const QJsonArray rows = expected[QStringLiteral("first test image row sums")].toArray();
        for (int y = 0; y < 28; ++y) {
            double row = 0;
            for (int x = 0; x < 28; ++x) row += std::round(first[static_cast<std::size_t>(y * 28 + x)] * 255);
            QCOMPARE(row, rows[y].toDouble());
        }
        QCOMPARE(QString::fromStdString(labelsBeside(base + "t10k-images-idx3-ubyte.gz").string()),
                 QString::fromStdString(base + "t10k-labels-idx1-ubyte.gz"));
    }

    void featuresOfEveryTypeAreTakenAsTheyAre_data() {
        QTest::addColumn<int>("type");
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<double>("first");
        QTest::addColumn<double>("last");
        QTest::newRow("u8") << 0x08 << QByteArray("\x01\x02\xFE\xFF", 4) << 1.0 << 255.0;
        QTest::newRow("i8") << 0x09 << QByteArray("\x01\x02\xFE\xFF", 4) << 1.0 << -1.0;
        QTest::newRow("i16") << 0x0B << QByteArray("\x01\x00\x00\x02\x00\x03\xFF\xFE", 8) << 256.0 << -2.0;
        QTest::newRow("i32") << 0x0C << QByteArray("\x00\x01\x00\x00\x00\x00\x00\x02\x00\x00\x00\x03\xFF\xFF\xFF\xFD", 16) << 65536.0 << -3.0;
        QTest::newRow("f32") << 0x0D << QByteArray("\x3F\xC0\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xC0\x20\x00\x00", 16) << 1.5 << -2.5;
        QTest::newRow("f64") << 0x0E << QByteArray("\x3F\xB9\x99\x99\x99\x99\x99\x9A", 8) + QByteArray(16, '\0') + QByteArray("\xBF\xF0\0\0\0\0\0\0", 8)
                             << 0.1 << -1.0;
    }
    void featuresOfEveryTypeAreTakenAsTheyAre() {
        QFETCH(int, type);
        QFETCH(QByteArray, bytes);
        QFETCH(double, first);
        QFETCH(double, last);
        const auto images = m_folder.write("features.idx", idx(static_cast<unsigned char>(type), {2, 2}, bytes));
        const auto labels = m_folder.write("labels.idx", idx(8, {2}, QByteArray("\0\1", 2)));
        const auto opened = open(section(images, labels), {}, Part::Train);
        QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().text().c_str());
        QVERIFY(!(*opened)->info().images);
        QCOMPARE(inputOf(**opened, 0)[0], first);
        QCOMPARE(inputOf(**opened, 1)[1], last);
        std::vector<float> single(2);
        QVERIFY((*opened)->input(0, nullptr, std::span(single)).ok());
        QCOMPARE(single[0], static_cast<float>(first));
        QCOMPARE((*opened)->label(1), 1);
    }

    void colourPicturesMayHaveTheirChannelsFirstOrLast() {
        // two pictures of 2 x 1 pixels
        const auto labels = m_folder.write("l.idx", idx(8, {2}, QByteArray("\0\1", 2)));
        const auto last = m_folder.write("last.idx", idx(8, {2, 2, 1, 3}, QByteArray("\1\2\3\4\5\6\7\x8\x9\xA\xB\xC", 12)));
        const auto first = m_folder.write("first.idx", idx(8, {2, 3, 2, 1}, QByteArray("\1\4\2\5\3\6\7\xA\x8\xB\x9\xC", 12)));
        const auto a = open(section(last, labels), {}, Part::Train);
        const auto b = open(section(first, labels), {}, Part::Train);
        QVERIFY(a.ok() && b.ok());
        for (const auto* data : {&*a, &*b}) {
            QCOMPARE((*data)->info().channels, 3);
            QCOMPARE((*data)->info().height, 2);
            QCOMPARE((*data)->info().width, 1);
            const auto second = inputOf(**data, 1);
            const std::vector<double> expected{7 / 255.0, 10 / 255.0, 8 / 255.0, 11 / 255.0, 9 / 255.0, 12 / 255.0};
            QCOMPARE(second, expected);
        }
    }

    void labelsOfARegressionAreItsTargets() {
        const auto images = m_folder.write("x.idx", idx(8, {2, 1}, QByteArray("\1\2", 2)));
        const auto labels = m_folder.write("y.idx", idx(0x0D, {2}, QByteArray("\x3F\xC0\x00\x00\xC0\x20\x00\x00", 8)));
        config::TaskSection task;
        COMPARE_ERROR(open(section(images, labels), task, Part::Train), "data.train_labels", "record 0|1.5|regression");
        task.name = "regression";
        const auto opened = open(section(images, labels), task, Part::Train);
        QVERIFY(opened.ok());
        QCOMPARE((*opened)->target(1)[0], -2.5);
        QCOMPARE((*opened)->label(0), -1);
        QVERIFY((*opened)->info().classNames.empty());
    }

    void theEvaluationPartIsBoundToTheTrainingPart() {
        const auto images = m_folder.write("ti.idx", idx(8, {2, 2, 2}, QByteArray(8, '\1')));
        const auto labels = m_folder.write("tl.idx", idx(8, {2}, QByteArray("\0\1", 2)));
        config::DataSection data = section(images, labels);
        const auto train = open(data, {}, Part::Train);
        QVERIFY(train.ok());
        COMPARE_ERROR(open(data, {}, Part::Eval, train->get()), "data.eval", "set data.eval");
        data.eval = images;
        data.evalLabels = m_folder.write("el.idx", idx(8, {2}, QByteArray("\0\0", 2)));
        const auto eval = open(data, {}, Part::Eval, train->get());
        QVERIFY(eval.ok());
        QCOMPARE((*eval)->info().classNames.size(), std::size_t{2});
        QCOMPARE((*eval)->info().classCounts[1], 0);
        data.evalLabels = m_folder.write("el.idx", idx(8, {2}, QByteArray("\0\2", 2)));
        COMPARE_ERROR(open(data, {}, Part::Eval, train->get()), "data.eval_labels", "record 1|is 2|out of range|2 classes");
        data.eval = m_folder.write("ei.idx", idx(8, {2, 3, 3}, QByteArray(18, '\1')));
        data.evalLabels = labels;
        COMPARE_ERROR(open(data, {}, Part::Eval, train->get()), "data.eval", "another size|data.image_size");
        data.imageSize = 2;
        QVERIFY(open(data, {}, Part::Eval, train->get()).ok());
    }

    void badFilesGiveASentence_data() {
        QTest::addColumn<QByteArray>("images");
        QTest::addColumn<QByteArray>("labels");
        QTest::addColumn<QByteArray>("key");
        QTest::addColumn<QByteArray>("parts");
        const QByteArray good = idx(8, {2, 2, 2}, QByteArray(8, '\1')), goodLabels = idx(8, {2}, QByteArray("\0\1", 2));
        const QByteArray images = "data.train", labels = "data.train_labels";
        QTest::newRow("empty") << QByteArray() << goodLabels << images << QByteArray("images.idx3|is empty");
        QTest::newRow("short") << QByteArray("\0\0", 2) << goodLabels << images << QByteArray("too short");
        QTest::newRow("garbage") << QByteArray("hello, this is a text") << goodLabels << images << QByteArray("not an IDX file");
        QTest::newRow("unknown type") << idx(7, {2, 2, 2}, QByteArray(8, '\1')) << goodLabels << images << QByteArray("not an IDX file");
        QTest::newRow("header cut") << good.left(9) << goodLabels << images << QByteArray("cut short within its header");
        QTest::newRow("values cut") << good.chopped(1) << goodLabels << images << QByteArray("2 x 2 x 2|need 8 bytes|has 7");
        QTest::newRow("values too many") << good + 'x' << goodLabels << images << QByteArray("has more");
        QTest::newRow("no records") << idx(8, {0, 2, 2}, {}) << goodLabels << images << QByteArray("no records");
        QTest::newRow("promises more than memory") << idx(8, {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 3}, {}) << goodLabels << images
                                                   << QByteArray("would need|memory");
        QTest::newRow("promises much") << idx(8, {500000, 28, 28}, QByteArray(100, 'x')) << goodLabels << images << QByteArray("has 100");
        QTest::newRow("inputs are labels") << goodLabels << goodLabels << images << QByteArray("file of labels");
        QTest::newRow("one class") << good << idx(8, {2}, QByteArray(2, '\0')) << images << QByteArray("only one class");
        QTest::newRow("float pictures") << idx(0x0D, {2, 1, 1}, QByteArray(8, '\0')) << goodLabels << images
                                                       << QByteArray("not unsigned bytes");
        QTest::newRow("no channels") << idx(8, {2, 2, 2, 2}, QByteArray(16, '\0')) << goodLabels << images << QByteArray("1 or 3 channels");
        QTest::newRow("nan feature") << idx(0x0D, {2, 1}, QByteArray("\0\0\0\0\x7F\xC0\0\0", 8)) << goodLabels << images
                                     << QByteArray("Record 1|not finite");
        QTest::newRow("labels are inputs") << good << good << labels << QByteArray("3 dimensions|file of inputs");
        QTest::newRow("count differs") << good << idx(8, {3}, QByteArray("\0\1\1", 3)) << labels << QByteArray("3 labels|2 records|do not belong");
        QTest::newRow("labels cut") << good << goodLabels.chopped(1) << labels << QByteArray("has 1");
        QTest::newRow("negative label") << good << idx(9, {2}, QByteArray("\0\xFF", 2)) << labels << QByteArray("record 1|-1|whole numbers");
        QTest::newRow("damaged gzip") << QByteArray("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03 this is no deflate stream", 36) << goodLabels
                                      << images << QByteArray("damaged gzip");
    }
    void badFilesGiveASentence() {
        QFETCH(QByteArray, images);
        QFETCH(QByteArray, labels);
        QFETCH(QByteArray, key);
        QFETCH(QByteArray, parts);
        config::DataSection data = section(m_folder.write("images.idx3", images), m_folder.write("labels.idx1", labels));
        data.format = "idx";
        const auto opened = open(data, {}, Part::Train);
        COMPARE_ERROR(opened, key.constData(), parts.constData());
    }

    void aCutGzipFileIsDamaged() {
        if (data_files::shared().isEmpty()) QSKIP("the shared data sets are not here");
        QFile whole(data_files::shared() + QStringLiteral("/fashion_mnist/t10k-labels-idx1-ubyte.gz"));
        QVERIFY(whole.open(QIODevice::ReadOnly));
        const auto labels = m_folder.write("cut.gz", whole.readAll().chopped(200));
        const auto array = readIdx(labels, "data.train_labels");
        QVERIFY(!array.ok());
        QCOMPARE(array.error().code, ErrorCode::Corrupt);
    }

    void aLabelOverTheNumberOfClassesIsNamed() {
        config::TaskSection task;
        task.numClasses = 9;
        COMPARE_ERROR(open(digits(), task, Part::Train), "data.train_labels", "is 9|out of range|task.num_classes allows 9 classes|0 to 8");
        task.numClasses = 12;
        const auto opened = open(digits(), task, Part::Train);
        QVERIFY(opened.ok());
        QCOMPARE((*opened)->info().classNames.size(), std::size_t{12});
    }

    void missingFilesAreNamed() {
        config::DataSection data = digits();
        data.trainLabels.clear();
        COMPARE_ERROR(open(data, {}, Part::Train), "data.train_labels", "set data.train_labels|labels.idx1-ubyte");
        data.trainLabels = "/nowhere/labels";
        COMPARE_ERROR(open(data, {}, Part::Train), "data.train_labels", "/nowhere/labels");
        data.train = "/nowhere/images";
        COMPARE_ERROR(open(data, {}, Part::Train), "data.train", "/nowhere/images|does not exist");
        data.train.clear();
        COMPARE_ERROR(open(data, {}, Part::Train), "data.train", "No data are chosen");
    }

    void openingEndsWhenTheCallerWantsToStop() {
        const auto opened = open(digits(), {}, Part::Train, nullptr, [](std::int64_t, std::int64_t) { return false; });
        QVERIFY(!opened.ok());
        QCOMPARE(opened.error().code, ErrorCode::Stopped);
    }

    void theFingerprintTellsChangedDataOnly() {
        const auto images = m_folder.write("fi.idx", idx(8, {2, 2, 2}, QByteArray("abcdefgh", 8)));
        const auto labels = m_folder.write("fl.idx", idx(8, {2}, QByteArray("\0\1", 2)));
        const auto copy = m_folder.write("elsewhere/fi.idx", idx(8, {2, 2, 2}, QByteArray("abcdefgh", 8)));
        const auto changed = m_folder.write("fc.idx", idx(8, {2, 2, 2}, QByteArray("abcdefgH", 8)));
        const auto print = [&](const std::string& file) { return fingerprint(**open(section(file, labels), {}, Part::Train)); };
        QCOMPARE(print(images), print(copy));
        QVERIFY(print(images) != print(changed));
        config::DataSection resized = section(images, labels);
        resized.imageSize = 4;
        QCOMPARE(fingerprint(**open(resized, {}, Part::Train)), print(images));
        QCOMPARE(print(images).size(), std::size_t{32});
    }
};

QTEST_GUILESS_MAIN(TestIdx)
#include "tst_idx.moc"
