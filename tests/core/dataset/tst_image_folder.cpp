#include "data_files.h"
#include "dataset/dataset.h"

#include <QtTest/QTest>

#include <atomic>
#include <filesystem>
#include <thread>
#include <unistd.h>

using namespace lathe;
using namespace lathe::dataset;
using data_files::inputOf;

class TestImageFolder : public QObject {
    Q_OBJECT

    static QByteArray image(const char* name) {
        QFile in(QStringLiteral(LATHE_SOURCE_DIR "/tests/core/dataset/images/") + QString::fromUtf8(name));
        if (!in.open(QIODevice::ReadOnly)) qFatal("no %s", name);
        return in.readAll();
    }
    static config::DataSection section(const data_files::Folder& folder, const char* train = "train") {
        config::DataSection data;
        data.train = folder.path(train);
        data.imageSize = 8;
        return data;
    }
    static void writeClasses(const data_files::Folder& folder) {
        folder.write("train/rose/2.png", image("rgb.png"));
        folder.write("train/rose/1.jpg", image("420.jpg"));
        folder.write("train/daisy/a.jpeg", image("exif6.jpg"));
        folder.write("train/daisy/named_wrongly.jpg", image("palette.png"));
    }

private Q_SLOTS:
    void classFoldersAreReadInTheOrderOfTheirBytes() {
        const data_files::Folder folder;
        writeClasses(folder);
        folder.write("train/.hidden/x.png", image("rgb.png"));
        folder.write("train/rose/.hidden.png", image("rgb.png"));
        folder.write("train/rose/Thumbs.db", "x");
        folder.write("train/notes.txt", "x");
        const auto opened = open(section(folder), {}, Part::Train);
        QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().text().c_str());
        const Info& info = (*opened)->info();
        QCOMPARE(QString::fromStdString(info.sentence()), QStringLiteral("4 images · 2 classes"));
        QVERIFY(info.classNames == (std::vector<std::string>{"daisy", "rose"}));
        QVERIFY(info.classCounts == (std::vector<std::int64_t>{2, 2}));
        QCOMPARE(info.channels, 3);
        QCOMPARE(info.height, 8);
        QCOMPARE(QString::fromStdString((*opened)->describe(0)), QStringLiteral("daisy/a.jpeg"));
        QCOMPARE(QString::fromStdString((*opened)->describe(2)), QStringLiteral("rose/1.jpg"));
        QCOMPARE((*opened)->label(2), 1);
        QCOMPARE(inputOf(**opened, 3).size(), std::size_t{3 * 8 * 8});
    }

    void whatCannotBeUsedIsCountedAndNamed() {
        const data_files::Folder folder;
        writeClasses(folder);
        folder.write("train/rose/0_cut.jpg", image("420.jpg").chopped(30));
        folder.write("train/rose/empty.png", "");
        folder.write("train/daisy/picture.bmp", "BM....");
        folder.write("train/daisy/sub/x.png", image("rgb.png"));
        folder.write("train/loose.png", image("rgb.png"));
        for (const bool scanned : {true, false}) {
            const auto opened = scanned ? scan(section(folder), {}, Part::Train) : open(section(folder), {}, Part::Train);
            QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().text().c_str());
            const Info& info = (*opened)->info();
            QCOMPARE(QString::fromStdString(info.sentence()), QStringLiteral("4 images · 2 classes · 5 unreadable"));
            QStringList names;
            for (const Unreadable& u : info.unreadable) names << QString::fromStdString(u.what + ": " + u.why);
            QCOMPARE(names.size(), 5);
            QVERIFY(names[0].startsWith(QStringLiteral("daisy/picture.bmp: is a BMP file")));
            QVERIFY(names[1].startsWith(QStringLiteral("daisy/sub: is a folder within a class folder")));
            QVERIFY(names[2].startsWith(QStringLiteral("loose.png: lies beside the class folders")));
            QVERIFY(names[3].startsWith(QStringLiteral("rose/0_cut.jpg: is damaged or cut short")));
            QVERIFY(names[4].startsWith(QStringLiteral("rose/empty.png: is empty")));
            QCOMPARE((*opened)->info().samples, 4);
            QVERIFY((*opened)->thumbnail(2, 32).ok());
        }
    }

    void aPictureDamagedInItsPixelsIsLeftOutWhenOpened() {
        const data_files::Folder folder;
        writeClasses(folder);
        QByteArray bad = image("rgb.png");
        bad[bad.size() / 2] = static_cast<char>(bad[bad.size() / 2] ^ 0x55);
        folder.write("train/daisy/0.png", bad);
        const auto good = open(section(folder), {}, Part::Train);
        QVERIFY(good.ok());
        QCOMPARE((*good)->info().samples, 4);
        QCOMPARE((*good)->info().unreadableCount, 1);
        QCOMPARE(QString::fromStdString((*good)->describe(0)), QStringLiteral("daisy/a.jpeg"));
        // the pixels that stay in memory are those of the samples that stay
        QFile::remove(QString::fromStdString(folder.path("train/daisy/0.png")));
        const auto without = open(section(folder), {}, Part::Train);
        QVERIFY(without.ok());
        for (std::int64_t i = 0; i < 4; ++i) QVERIFY(inputOf(**good, i) == inputOf(**without, i));
    }

    void channelsAndNormalizationFollowTheConfiguration() {
        const data_files::Folder folder;
        folder.write("train/a/1.png", image("gray.png"));
        folder.write("train/b/1.png", image("gray16.png"));
        config::DataSection data = section(folder);
        data.imageSize.reset();
        const auto gray = open(data, {}, Part::Train);
        QVERIFY2(gray.ok(), gray.ok() ? "" : gray.error().text().c_str());
        QCOMPARE((*gray)->info().channels, 1);
        QCOMPARE((*gray)->info().width, 17);
        QCOMPARE((*gray)->info().height, 12);
        QVERIFY(inputOf(**gray, 0) == inputOf(**gray, 1));
        data.channels = "rgb";
        const auto rgb = open(data, {}, Part::Train);
        QVERIFY(rgb.ok());
        const auto values = inputOf(**rgb, 0), single = inputOf(**gray, 0);
        for (std::size_t i = 0; i < single.size(); ++i) QVERIFY(values[i] == single[i] && values[2 * single.size() + i] == single[i]);
        data.normalize = "imagenet";
        const auto imagenet = open(data, {}, Part::Train);
        QVERIFY(imagenet.ok());
        QCOMPARE(inputOf(**imagenet, 0)[0], (values[0] - 0.485) / 0.229);
        // a gray evaluation part of a coloured training part becomes coloured
        folder.write("mixed/a/1.png", image("rgb.png"));
        folder.write("mixed/b/1.png", image("gray.png"));
        config::DataSection mixed = section(folder, "mixed");
        const auto train = open(mixed, {}, Part::Train);
        mixed.eval = folder.path("train");
        const auto eval = open(mixed, {}, Part::Eval, train->get());
        QVERIFY(eval.ok());
        QCOMPARE((*eval)->info().channels, 3);
    }

    void picturesOfDifferentSizesNeedASize() {
        const data_files::Folder folder;
        writeClasses(folder);
        config::DataSection data = section(folder);
        data.imageSize.reset();
        COMPARE_ERROR(open(data, {}, Part::Train), "data.image_size", "daisy/a.jpeg has 12 x 17|daisy/named_wrongly.jpg has 17 x 12|set data.image_size");
        const auto scanned = scan(data, {}, Part::Train);
        QVERIFY(scanned.ok());
        QCOMPARE((*scanned)->info().height, 0);
        const auto thumbnail = (*scanned)->thumbnail(0, 10);
        QVERIFY(thumbnail.ok());
        QCOMPARE(thumbnail->height, 10);
        QCOMPARE(thumbnail->width, 7);
        QCOMPARE(thumbnail->rgb.size(), std::size_t{3 * 10 * 7});
        QCOMPARE(QString::fromStdString(thumbnail->answer), QStringLiteral("daisy"));
    }

    void aFolderWithoutClassesGivesASentence() {
        const data_files::Folder folder;
        QDir(folder.dir.path()).mkdir(QStringLiteral("nothing"));
        COMPARE_ERROR(open(section(folder, "nothing"), {}, Part::Train), "data.train", "no class folders");
        folder.write("one/rose/1.png", image("rgb.png"));
        QDir(folder.dir.path()).mkpath(QStringLiteral("one/empty"));
        COMPARE_ERROR(open(section(folder, "one"), {}, Part::Train), "data.train", "only one class|'rose'|at least two");
        folder.write("flat/1.png", image("rgb.png"));
        COMPARE_ERROR(open(section(folder, "flat"), {}, Part::Train), "data.train", "no class folders|folder of their own");
        folder.write("texts/a/1.txt", "x");
        folder.write("texts/b/1.txt", "x");
        COMPARE_ERROR(open(section(folder, "texts"), {}, Part::Train), "data.train", "usable JPEG or PNG|a/1.txt is no JPEG or PNG");
        writeClasses(folder);
        COMPARE_ERROR(open(section(folder, ""), {}, Part::Train), "data.train", "holds no class folders itself|/train");
        config::DataSection data = section(folder);
        data.train = folder.path("train/rose/1.jpg");
        data.format = "image_folder";
        COMPARE_ERROR(open(data, {}, Part::Train), "data.train", "is not a folder");
        config::TaskSection task;
        task.name = "regression";
        COMPARE_ERROR(open(section(folder), task, Part::Train), "task.name", "classification");
        task = {};
        task.numClasses = 1;
        COMPARE_ERROR(open(section(folder), task, Part::Train), "task.num_classes", "2 classes");
    }

    void aFolderThatMayNotBeReadGivesASentence() {
        const data_files::Folder folder;
        writeClasses(folder);
        constexpr auto kOpenToAll = static_cast<std::filesystem::perms>(0755);
        std::filesystem::permissions(folder.path(""), kOpenToAll);
        std::filesystem::permissions(folder.path("train/rose"), std::filesystem::perms::none);
        const uid_t self = ::geteuid();
        constexpr uid_t kNobody = 65534;
        QVERIFY(self != 0 || ::seteuid(kNobody) == 0);  // permissions do not hold root back
        const auto opened = open(section(folder), {}, Part::Train);
        QVERIFY(self != 0 || ::seteuid(self) == 0);
        std::filesystem::permissions(folder.path("train/rose"), kOpenToAll);
        COMPARE_ERROR(opened, "data.train", "rose");
    }

    void theEvaluationPartIsBoundToTheClassesOfTraining() {
        const data_files::Folder folder;
        writeClasses(folder);
        folder.write("val/rose/9.png", image("rgb.png"));
        config::DataSection data = section(folder);
        data.eval = folder.path("val");
        const auto train = open(data, {}, Part::Train);
        const auto eval = open(data, {}, Part::Eval, train->get());
        QVERIFY2(eval.ok(), eval.ok() ? "" : eval.error().text().c_str());
        QCOMPARE((*eval)->label(0), 1);
        QVERIFY((*eval)->info().classCounts == (std::vector<std::int64_t>{0, 1}));
        folder.write("val/rosse/9.png", image("rgb.png"));
        COMPARE_ERROR(open(data, {}, Part::Eval, train->get()), "data.eval", "'rosse'|rosse/9.png|Did you mean 'rose'?");
    }

    void everyThreadReadsTheSame() {
        const data_files::Folder folder;
        writeClasses(folder);
        const auto decoded = open(section(folder), {}, Part::Train);
        const auto onDemand = scan(section(folder), {}, Part::Train);
        QVERIFY(decoded.ok() && onDemand.ok());
        const Augmentation augmentation{.seed = 1, .epoch = 2, .copy = 0, .flip = true, .shift = 2};
        std::vector<std::vector<double>> expected;
        for (std::int64_t i = 0; i < 4; ++i) expected.push_back(inputOf(**decoded, i, &augmentation));
        std::atomic<int> wrong{0};
        {
            std::vector<std::jthread> threads;
            for (int t = 0; t < 6; ++t)
                threads.emplace_back([&, t] {
                    for (int round = 0; round < 40; ++round) {
                        const std::int64_t i = (round + t) % 4;
                        const Dataset& data = t % 2 == 0 ? **decoded : **onDemand;
                        if (inputOf(data, i, &augmentation) != expected[static_cast<std::size_t>(i)]) ++wrong;
                    }
                });
        }
        QCOMPARE(wrong.load(), 0);
    }

    void aPictureThatGoesAwayLaterIsAnErrorWithItsName() {
        const data_files::Folder folder;
        writeClasses(folder);
        const auto onDemand = scan(section(folder), {}, Part::Train);
        QVERIFY(onDemand.ok());
        QFile::remove(QString::fromStdString(folder.path("train/rose/1.jpg")));
        std::vector<float> out(3 * 8 * 8);
        const auto read = (*onDemand)->input(2, nullptr, std::span(out));
        QVERIFY(!read.ok());
        QVERIFY(read.error().text().find("rose/1.jpg") != std::string::npos);
    }

    void openingReportsProgressAndCanBeStopped() {
        const data_files::Folder folder;
        writeClasses(folder);
        std::int64_t last = 0, whole = 0;
        QVERIFY(open(section(folder), {}, Part::Train, nullptr, [&](std::int64_t done, std::int64_t total) {
                    last = done;
                    whole = total;
                    return true;
                }).ok());
        QCOMPARE(last, 4);
        QCOMPARE(whole, 4);
        const auto stopped = open(section(folder), {}, Part::Train, nullptr, [](std::int64_t, std::int64_t) { return false; });
        QVERIFY(!stopped.ok());
        QCOMPARE(stopped.error().code, ErrorCode::Stopped);
    }

    void theFingerprintFollowsNamesAndSizes() {
        const data_files::Folder folder, copy;
        writeClasses(folder);
        writeClasses(copy);
        const auto print = [](const data_files::Folder& f) { return fingerprint(**open(section(f), {}, Part::Train)); };
        QCOMPARE(print(folder), print(copy));
        copy.write("train/rose/3.png", image("rgb.png"));
        QVERIFY(print(folder) != print(copy));
    }

    void theFlowersAreReadWhole() {
        if (data_files::shared().isEmpty()) QSKIP("the shared data sets are not here");
        config::DataSection data;
        data.train = (data_files::shared() + QStringLiteral("/flowers/train")).toStdString();
        data.eval = (data_files::shared() + QStringLiteral("/flowers/val")).toStdString();
        data.imageSize = 32;
        const auto train = open(data, {}, Part::Train);
        QVERIFY2(train.ok(), train.ok() ? "" : train.error().text().c_str());
        QCOMPARE(QString::fromStdString((*train)->info().sentence()), QStringLiteral("240 images · 5 classes"));
        QVERIFY((*train)->info().classNames == (std::vector<std::string>{"daisy", "dandelion", "roses", "sunflowers", "tulips"}));
        const auto eval = open(data, {}, Part::Eval, train->get());
        QVERIFY(eval.ok());
        QVERIFY((*eval)->info().classCounts == std::vector<std::int64_t>(5, 12));
        // what is kept in memory is what decoding on demand gives
        const auto scanned = scan(data, {}, Part::Train);
        QVERIFY(scanned.ok());
        for (const std::int64_t i : examples(**scanned, 9)) QVERIFY(inputOf(**train, i) == inputOf(**scanned, i));
    }
};

QTEST_GUILESS_MAIN(TestImageFolder)
#include "tst_image_folder.moc"
