#include "base/program_paths.h"
#include "data_files.h"
#include "dataset/suggest.h"

#include <QtTest/QTest>

using namespace lathe;
using namespace lathe::dataset;
using data_files::idx;

class TestSuggest : public QObject {
    Q_OBJECT

    static QByteArray image(const char* name) {
        QFile in(QStringLiteral(LATHE_SOURCE_DIR "/tests/core/dataset/images/") + QString::fromUtf8(name));
        if (!in.open(QIODevice::ReadOnly)) qFatal("no %s", name);
        return in.readAll();
    }
    static QString notes(const Suggestion& suggestion) {
        QStringList all;
        for (const std::string& note : suggestion.notes) all << QString::fromStdString(note);
        return all.join(QLatin1Char('\n'));
    }
    /// What is suggested can be opened as it is.
    static void opens(const Suggestion& suggestion) {
        const auto train = open(suggestion.data, suggestion.task, Part::Train);
        QVERIFY2(train.ok(), train.ok() ? "" : train.error().text().c_str());
        if (suggestion.task.numClasses)
            QCOMPARE((*train)->info().classNames.size(), static_cast<std::size_t>(*suggestion.task.numClasses));
        if (suggestion.data.eval.empty()) return;
        const auto eval = open(suggestion.data, suggestion.task, Part::Eval, train->get());
        QVERIFY2(eval.ok(), eval.ok() ? "" : eval.error().text().c_str());
    }

private Q_SLOTS:
    void theFormatIsToldByContent() {
        const data_files::Folder folder;
        QCOMPARE(*guessFormat(folder.path("")), std::string("image_folder"));
        QCOMPARE(*guessFormat(folder.write("Data.CSV", "a,b")), std::string("csv"));
        QCOMPARE(*guessFormat(folder.write("data.csv.gz", "a,b")), std::string("csv"));
        QCOMPARE(*guessFormat(folder.write("any", idx(8, {1}, "x"))), std::string("idx"));
        COMPARE_ERROR(guessFormat(folder.write("data.xlsx", "PK")), "data.format", "data.xlsx|nor does its name end in .csv, .tsv or .txt");
        COMPARE_ERROR(guessFormat(folder.path("nothing")), "data.format", "nothing");
    }

    void aFolderOfClassFoldersIsAClassification() {
        const data_files::Folder folder;
        folder.write("a/1.png", image("rgb.png"));
        folder.write("b/1.png", image("palette.png"));
        const auto suggestion = suggest(folder.path(""));
        QVERIFY2(suggestion.ok(), suggestion.ok() ? "" : suggestion.error().text().c_str());
        QCOMPARE(suggestion->data.format, std::string("image_folder"));
        QCOMPARE(*suggestion->task.numClasses, 2);
        QVERIFY(!suggestion->data.imageSize);  // all alike and small
        opens(*suggestion);
        folder.write("b/2.jpg", image("exif6.jpg"));
        const auto mixed = suggest(folder.path(""));
        QVERIFY(mixed.ok());
        QCOMPARE(*mixed->data.imageSize, 32);
        QVERIFY(notes(*mixed).contains(QStringLiteral("differ in size: all are brought to 32 pixels")));
        opens(*mixed);
    }
    void trainAndValidationFoldersAreFound() {
        if (data_files::shared().isEmpty()) QSKIP("the shared data sets are not here");
        const std::string flowers = (data_files::shared() + QStringLiteral("/flowers")).toStdString();
        for (const std::string& path : {flowers, flowers + "/"}) {
            const auto suggestion = suggest(path);
            QVERIFY2(suggestion.ok(), suggestion.ok() ? "" : suggestion.error().text().c_str());
            QCOMPARE(suggestion->data.train, flowers + "/train");
            QCOMPARE(suggestion->data.eval, flowers + "/val");
            QCOMPARE(*suggestion->data.imageSize, 192);  // the median short side is 213
            QCOMPARE(*suggestion->task.numClasses, 5);
            opens(*suggestion);
        }
        const auto part = suggest(flowers + "/train");
        QVERIFY(part.ok());
        QVERIFY(part->data.eval.empty());
    }

    void anIdxFileFindsItsPartner() {
        const std::string digits = (resourceFolder() / "samples/digits").string();
        for (const char* chosen : {"/images.idx3-ubyte", "/labels.idx1-ubyte", ""}) {
            const auto suggestion = suggest(digits + chosen);
            QVERIFY2(suggestion.ok(), suggestion.ok() ? "" : suggestion.error().text().c_str());
            QCOMPARE(suggestion->data.train, digits + "/images.idx3-ubyte");
            QCOMPARE(suggestion->data.trainLabels, digits + "/labels.idx1-ubyte");
            QCOMPARE(*suggestion->task.numClasses, 10);
            opens(*suggestion);
        }
        const data_files::Folder folder;
        folder.write("train-images-idx3-ubyte", idx(8, {2, 2, 2}, QByteArray(8, 'x')));
        folder.write("train-labels-idx1-ubyte", idx(8, {2}, QByteArray("\0\1", 2)));
        folder.write("t10k-images-idx3-ubyte", idx(8, {1, 2, 2}, QByteArray(4, 'x')));
        folder.write("t10k-labels-idx1-ubyte", idx(8, {1}, QByteArray("\1", 1)));
        const auto suggestion = suggest(folder.path(""));
        QVERIFY2(suggestion.ok(), suggestion.ok() ? "" : suggestion.error().text().c_str());
        QVERIFY(suggestion->data.train.ends_with("train-images-idx3-ubyte"));
        QVERIFY(suggestion->data.evalLabels.ends_with("t10k-labels-idx1-ubyte"));
        opens(*suggestion);
        COMPARE_ERROR(suggest(folder.write("alone-images", idx(8, {2, 2, 2}, QByteArray(8, 'x')))), "data.train_labels", "needs its file of labels");
    }
    void idxLabelsThatAreNoClassesAreARegression() {
        const data_files::Folder folder;
        const auto images = folder.write("images", idx(8, {2, 2}, QByteArray(4, 'x')));
        folder.write("labels", idx(0x0D, {2}, QByteArray("\x3F\xC0\x00\x00\xC0\x20\x00\x00", 8)));
        const auto suggestion = suggest(images);
        QVERIFY2(suggestion.ok(), suggestion.ok() ? "" : suggestion.error().text().c_str());
        QCOMPARE(suggestion->task.name, std::string("regression"));
        opens(*suggestion);
    }

    void theLastColumnOfACsvFileIsItsTarget_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("task");
        QTest::addColumn<int>("classes");
        QTest::newRow("texts") << QByteArray("a,b,y\n1,2,no\n3,4,yes\n5,6,no\n") << QByteArray("classification") << 2;
        QTest::newRow("few whole numbers") << QByteArray("a,y\n1,0\n2,1\n3,2\n4,0\n5,1\n6,2\n") << QByteArray("classification") << 3;
        QTest::newRow("two whole numbers") << QByteArray("a,y\n1,0\n2,1\n") << QByteArray("classification") << 2;
        QTest::newRow("whole numbers that never repeat") << QByteArray("a,y\n1,10\n2,20\n3,30\n4,40\n") << QByteArray("regression") << 0;
        QTest::newRow("fractions") << QByteArray("a,y\n1,0.5\n2,1.5\n3,0.5\n4,1.5\n") << QByteArray("regression") << 0;
    }
    void theLastColumnOfACsvFileIsItsTarget() {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, task);
        QFETCH(int, classes);
        const data_files::Folder folder;
        const auto suggestion = suggest(folder.write("own.csv", text));
        QVERIFY2(suggestion.ok(), suggestion.ok() ? "" : suggestion.error().text().c_str());
        QCOMPARE(QByteArray::fromStdString(suggestion->task.name), task);
        QCOMPARE(suggestion->task.numClasses.value_or(0), classes);
        QVERIFY(suggestion->data.target == std::vector<std::string>{"y"});
        QVERIFY(suggestion->data.features.empty());
        QVERIFY(suggestion->data.standardize);
        opens(*suggestion);
    }
    void aColumnOfFewTextsIsRatherTheTargetThanANumber_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("target");
        QTest::addColumn<QByteArray>("note");
        QTest::newRow("before an amount") << QByteArray("a,kind,y\n1,x,0.5\n2,y,1.5\n3,x,2.5\n4,y,3.5\n") << QByteArray("kind") << QByteArray("Column kind is what is learned, as 2 classes.");
        QTest::newRow("before a weight") << QByteArray("a,colour,label,weight\n1,red,yes,1\n2,red,no,2\n3,blue,yes,1\n4,blue,no,2\n") << QByteArray("label")
                                         << QByteArray("Column label is what is learned, as 2 classes; another can be chosen (data.target), for example colour.");
        QTest::newRow("not before classes in numbers") << QByteArray("a,kind,y\n1,x,0\n2,y,1\n3,x,0\n4,y,1\n") << QByteArray("y")
                                                       << QByteArray("The last column, y, is what is learned, as 2 classes; another can be chosen (data.target), for example kind.");
        QTest::newRow("not where each is another") << QByteArray("name,a,y\nann,1,0.5\nbob,2,1.5\neve,3,2.5\n") << QByteArray("y") << QByteArray("The last column, y, is what is learned, as an amount.");
        QTest::newRow("not where some are missing") << QByteArray("a,kind,y\n1,x,0.5\n2,,1.5\n3,x,2.5\n4,y,3.5\n") << QByteArray("y") << QByteArray("as an amount.");
        QTest::newRow("no weight where another amount is there") << QByteArray("a,b,weight\n1,0.5,1.5\n2,1.5,2.5\n3,2.5,0.5\n") << QByteArray("b") << QByteArray("Column b is what is learned, as an amount.");
    }
    void aColumnOfFewTextsIsRatherTheTargetThanANumber() {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, target);
        QFETCH(QByteArray, note);
        const data_files::Folder folder;
        const auto suggestion = suggest(folder.write("own.csv", text));
        QVERIFY2(suggestion.ok(), suggestion.ok() ? "" : suggestion.error().text().c_str());
        QCOMPARE(suggestion->data.target, std::vector<std::string>{target.toStdString()});
        QVERIFY2(notes(*suggestion).contains(QString::fromUtf8(note)), qPrintable(notes(*suggestion)));
        QCOMPARE(suggestion->preset, std::string(suggestion->task.name == "regression" ? "csv-regression" : "digits-mlp"));
        opens(*suggestion);
    }
    void whatIsSuggestedIsPutIntoAnyConfiguration() {
        const data_files::Folder folder;
        const auto suggestion = suggest(folder.write("own.csv", "a,b,y\n1,2,no\n3,4,yes\n5,6,no\n"));
        QVERIFY(suggestion.ok());
        config::RunConfig config;
        config.data.trainLabels = config.data.weight = "before";
        config.data.imageSize = 64;
        config.data.batchSize = 7;
        suggestion->putInto(config);
        QCOMPARE(config.data.format, std::string("csv"));
        QCOMPARE(config.data.target, std::vector<std::string>{"y"});
        QVERIFY(config.data.standardize && config.data.trainLabels.empty() && config.data.weight.empty() && !config.data.imageSize);
        QCOMPARE(config.data.batchSize, 7);
        QCOMPARE(config.task.numClasses.value_or(0), 2);
    }
    void columnsThatCannotServeAreLeftOutAndNamed() {
        const data_files::Folder folder;
        const auto suggestion = suggest(folder.write("own.csv", "id,name,age,gap,height,y\n1,ann,30,,1.5,0\n2,bob,31,2,1.6,1\n3,eve,30,3,1.7,0\n"));
        QVERIFY(suggestion.ok());
        QVERIFY(suggestion->data.features == (std::vector<std::string>{"age", "height"}));
        QVERIFY(notes(*suggestion).contains(QStringLiteral("Columns name, gap: left out")));
        QVERIFY(notes(*suggestion).contains(QStringLiteral("Column id: left out, for only numbering")));
        opens(*suggestion);
    }
    void anEvaluationFileBesideIsUsedWhereItHasTheColumns() {
        const data_files::Folder folder;
        const auto train = folder.write("train.csv", "a,y\n1,p\n2,q\n");
        folder.write("test.csv", "a\n1\n");  // as competitions give it
        const auto without = suggest(train);
        QVERIFY(without.ok());
        QVERIFY(without->data.eval.empty());
        folder.write("test.csv", "a,y\n1,q\n");
        for (const std::string& path : {train, folder.path("")}) {
            const auto with = suggest(path);
            QVERIFY2(with.ok(), with.ok() ? "" : with.error().text().c_str());
            QCOMPARE(with->data.train, train);
            QVERIFY(with->data.eval.ends_with("/test.csv"));
            opens(*with);
        }
    }

    void aTextBesideATableIsTakenForANoteOnIt() {
        const data_files::Folder folder;
        const QByteArray rows = QByteArray("a,y\n") + QByteArray("1.5,2.5\n").repeated(40);
        folder.write("mixed/table.csv", rows);
        folder.write("mixed/notes.txt", QByteArray(500, 'n'));
        QCOMPARE(suggest(folder.path("mixed"))->data.format, std::string("csv"));
        folder.write("texts/poem.txt", QByteArray(500, 'p'));
        QCOMPARE(suggest(folder.path("texts"))->data.format, std::string("text"));
    }

    void whatIsNoDataGivesASentence() {
        const data_files::Folder folder;
        COMPARE_ERROR(suggest(""), "data.train", "does not exist");
        COMPARE_ERROR(suggest(folder.path("nothing")), "data.train", "does not exist|class folders");
        COMPARE_ERROR(suggest(folder.path("")), "data.train", "no class folders");
        COMPARE_ERROR(suggest(folder.write("x.csv", "a,y\n")), "data.train", "no rows");
        COMPARE_ERROR(suggest(folder.write("x.csv", "1,2\n3,4\n")), "data.train", "no line of column names");
        COMPARE_ERROR(suggest(folder.write("x.doc", "hello")), "data.format", "x.doc");
        COMPARE_ERROR(suggest(folder.write("x.txt", "hello")), "data.context", "5 bytes");
        folder.write("many/a.csv", "a,y\n1,2\n");
        folder.write("many/b.csv", "a,y\n1,2\n");
        COMPARE_ERROR(suggest(folder.path("many")), "data.train", "no class folders");
        const auto stopped = suggest(folder.path(""), [](std::int64_t, std::int64_t) { return false; });
        QVERIFY(!stopped.ok());
    }
};

QTEST_GUILESS_MAIN(TestSuggest)
#include "tst_suggest.moc"
