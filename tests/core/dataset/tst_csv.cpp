#include "data_files.h"
#include "dataset/csv_reader.h"
#include "dataset/dataset.h"

#include <QtTest/QTest>

using namespace lathe;
using namespace lathe::dataset;
using data_files::inputOf;

class TestCsv : public QObject {
    Q_OBJECT

    data_files::Folder m_folder;

    std::vector<std::vector<std::string>> records(const QByteArray& text) {
        auto reader = CsvReader::open(m_folder.write("r.csv", text), "data.train");
        if (!reader.ok()) qFatal("%s", reader.error().text().c_str());
        std::vector<std::vector<std::string>> all{reader->header()};
        while (true) {
            auto any = reader->next();
            if (!any.ok()) qFatal("%s", any.error().text().c_str());
            if (!*any) return all;
            all.emplace_back(reader->cells().begin(), reader->cells().end());
        }
    }
    config::DataSection section(const QByteArray& text, std::vector<std::string> target = {"y"}) {
        config::DataSection data;
        data.train = m_folder.write("train.csv", text);
        data.target = std::move(target);
        return data;
    }
    static config::TaskSection regression() {
        config::TaskSection task;
        task.name = "regression";
        return task;
    }

private Q_SLOTS:
    void recordsFollowTheRfc_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("plain") << QByteArray("a,b\n1,x y\n2,z\n");
        QTest::newRow("no last line end") << QByteArray("a,b\n1,x y\n2,z");
        QTest::newRow("CRLF") << QByteArray("a,b\r\n1,x y\r\n2,z\r\n");
        QTest::newRow("CR") << QByteArray("a,b\r1,x y\r2,z\r");
        QTest::newRow("byte order mark") << QByteArray("\xEF\xBB\xBF""a,b\n1,x y\n2,z\n");
        QTest::newRow("quotes") << QByteArray("\"a\",\"b\"\r\n\"1\",\"x y\"\r\n\"2\",z\r\n");
        QTest::newRow("empty lines") << QByteArray("\na,b\n\n1,x y\n\r\n2,z\n\n\n");
    }
    void recordsFollowTheRfc() {
        QFETCH(QByteArray, text);
        const std::vector<std::vector<std::string>> expected{{"a", "b"}, {"1", "x y"}, {"2", "z"}};
        QVERIFY(records(text) == expected);
    }
    void quotedCellsHoldCommasLineEndsAndQuotes() {
        const std::vector<std::vector<std::string>> expected{{"a", "b"}, {"1,5", "two\nlines"}, {"say \"hi\"", ""}};
        QVERIFY(records("a,b\n\"1,5\",\"two\nlines\"\n\"say \"\"hi\"\"\",\"\"\n") == expected);
    }
    void cellsMaySpanTheBlocksOfTheReader() {
        QByteArray text("a,b\n");
        for (int i = 0; i < 60000; ++i) text += QByteArray::number(i) + ",\"v\"\"" + QByteArray::number(i) + "\"\r\n";
        const auto all = records(text);
        QCOMPARE(all.size(), std::size_t{60001});
        for (int i = 0; i < 60000; ++i)
            if (all[static_cast<std::size_t>(i + 1)][1] != "v\"" + std::to_string(i)) QFAIL("record differs");
    }

    void theHeaderLineTellsTheSeparator() {
        const std::vector<std::vector<std::string>> expected{{"a", "b, c"}, {"1", "x;y"}};
        QVERIFY(records("a;\"b, c\"\n1;\"x;y\"\n") == expected);
        QVERIFY(records("\r\na\tb, c\r\n1\tx;y\r\n") == expected);
        QVERIFY(records("a,\"b, c\"\n1,x;y\n") == expected);
        config::DataSection data = section("a;b,y\n1,2\n");
        data.separator = "semicolon";
        COMPARE_ERROR(open(data, regression(), Part::Train), "data.target", "no column 'y'|b,y");
        data = section("a;y\n1;2\n");
        QVERIFY(open(data, regression(), Part::Train).ok());
        data.separator = "comma";
        COMPARE_ERROR(open(data, regression(), Part::Train), "data.target", "no column 'y'|a;y");
    }
    void amountsTakenForClassesRaiseADoubt() {
        QByteArray prices("a,price\n"), few("a,price\n");
        for (int i = 0; i < 40; ++i) prices += "1," + QByteArray::number(i * 0.5) + "\n";
        for (int i = 0; i < 40; ++i) few += "1," + QByteArray::number(i % 10) + "\n";
        const auto doubted = open(section(prices, {"price"}), {}, Part::Train);
        QVERIFY(doubted.ok());
        QCOMPARE((*doubted)->info().doubts().size(), std::size_t(1));
        const std::string doubt = (*doubted)->info().doubts().front().sentence;
        QVERIFY2(doubt.find("'price' holds 40 different numbers") != std::string::npos && doubt.find("task.name to regression") != std::string::npos, doubt.c_str());
        QVERIFY((*open(section(prices, {"price"}), regression(), Part::Train))->info().doubts().empty());
        QVERIFY((*open(section(few, {"price"}), {}, Part::Train))->info().doubts().empty());
        QVERIFY((*open(section("a,y\n1,no\n2,yes\n"), {}, Part::Train))->info().doubts().empty());
    }
    void aFileOfAnotherKindThanSaidIsNamedForWhatItLooksLike() {
        config::DataSection data = section("a,y\n1,no\n2,yes\n");
        data.format = "idx";
        data.trainLabels = data.train;
        COMPARE_ERROR(open(data, {}, Part::Train), "data.train", "is not an IDX file|It looks like a CSV file, and data.format is idx: --set data.format=csv");
        data.format = "image_folder";
        COMPARE_ERROR(open(data, {}, Part::Train), "data.train", "--set data.format=csv");
    }
    void aFirstLineOfDataInPlaceOfNamesIsDoubted_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("target");
        QTest::addColumn<QByteArray>("sign");   // empty: no doubt
        QTest::newRow("a column called like a number") << QByteArray("52.51,-1.157,nein\n47.3,-1.36,nein\n62.8,-0.2,Ja\n") << QByteArray("nein") << QByteArray("'52.51'");
        QTest::newRow("a target called like a class") << QByteArray("a,b,nein\n1,2,nein\n3,4,Ja\n") << QByteArray("nein") << QByteArray("'nein'");
        QTest::newRow("names") << QByteArray("a,b,y\n1,2,nein\n3,4,Ja\n") << QByteArray("y") << QByteArray();
        QTest::newRow("columns that are numbered") << QByteArray("0,1,2,y\n1,2,3,nein\n3,4,5,Ja\n") << QByteArray("y") << QByteArray();
    }
    void aFirstLineOfDataInPlaceOfNamesIsDoubted() {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, target);
        QFETCH(QByteArray, sign);
        const auto opened = open(section(text, {target.toStdString()}), {}, Part::Train);
        QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().text().c_str());
        const auto doubts = (*opened)->info().doubts();
        QCOMPARE(doubts.size(), std::size_t(sign.isEmpty() ? 0 : 1));
        if (sign.isEmpty()) return;
        QCOMPARE(doubts.front().key, std::string("data.train"));
        QVERIFY2(doubts.front().sentence.starts_with("The first line looks like data") && doubts.front().sentence.find(sign.toStdString()) != std::string::npos, doubts.front().sentence.c_str());
    }
    void aGlanceSeesTheColumnsOnly() {
        config::DataSection data = section("a,y\nred,2\n");
        QVERIFY(glance(data, regression()).ok());
        data.eval = m_folder.write("eval.csv", "a,z\n1,2\n");
        COMPARE_ERROR(glance(data, regression()), "data.target", "no column 'y'|eval.csv");
        data.train = "/nowhere.csv";
        COMPARE_ERROR(glance(data, regression()), "data.train", "does not exist");
    }

    void namedColumnsBecomeDoubles() {
        config::DataSection data = section("id,w,x1,x2,y,z\n7,1,0.1,-2e3, 5 ,a\n8,0.5,1,2,6.25,b\n", {"y"});
        data.features = {"x2", "x1"};
        data.weight = "w";
        const auto opened = open(data, regression(), Part::Train);
        QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().text().c_str());
        QCOMPARE(QString::fromStdString((*opened)->info().sentence()), QStringLiteral("2 rows · 2 features · 1 target"));
        QVERIFY(inputOf(**opened, 0) == (std::vector<double>{-2000, 0.1}));
        QCOMPARE((*opened)->target(1)[0], 6.25);
        QCOMPARE((*opened)->weight(1), 0.5);
        QVERIFY((*opened)->info().weighted);
        QCOMPARE((*opened)->label(0), -1);
        QCOMPARE(QString::fromStdString((*opened)->describe(1)), QStringLiteral("line 3"));
    }
    void withoutNamesEveryOtherNamedColumnIsAFeature() {
        const auto opened = open(section(",a,y,b\n0,1,2,3\n1,4,5,6\n"), regression(), Part::Train);
        QVERIFY(opened.ok());
        QVERIFY((*opened)->info().featureNames == (std::vector<std::string>{"a", "b"}));
        QCOMPARE((*opened)->weight(0), 1.0);
    }
    void severalTargetsMakeOneRegression() {
        const auto opened = open(section("a,y,z\n1,2,3\n4,5,6\n", {"z", "y"}), regression(), Part::Train);
        QVERIFY(opened.ok());
        QCOMPARE((*opened)->target(1).size(), std::size_t{2});
        QCOMPARE((*opened)->target(1)[0], 6.0);
        QCOMPARE((*opened)->target(1)[1], 5.0);
    }
    void classNamesAreSortedAsNumbersOrAsBytes() {
        const auto numbers = open(section("a,y\n1,10\n2,9\n3,-1\n4,9\n"), {}, Part::Train);
        QVERIFY(numbers.ok());
        QVERIFY((*numbers)->info().classNames == (std::vector<std::string>{"-1", "9", "10"}));
        QVERIFY((*numbers)->info().classCounts == (std::vector<std::int64_t>{1, 2, 1}));
        QCOMPARE((*numbers)->label(0), 2);
        const auto texts = open(section("a,y\n1,b\n2,\"a, b\"\n3,B\n"), {}, Part::Train);
        QVERIFY(texts.ok());
        QVERIFY((*texts)->info().classNames == (std::vector<std::string>{"B", "a, b", "b"}));
        QCOMPARE(QString::fromStdString((*texts)->info().sentence()), QStringLiteral("3 rows · 1 feature · 3 classes"));
    }
    void theEvaluationPartIsBoundToTheTrainingPart() {
        config::DataSection data = section("a,b,y\n1,2,no\n3,4,yes\n");
        const auto train = open(data, {}, Part::Train);
        QVERIFY(train.ok());
        data.eval = m_folder.write("eval.csv", "y,extra,b,a\nyes,1,2,3\n");
        const auto eval = open(data, {}, Part::Eval, train->get());
        QVERIFY2(eval.ok(), eval.ok() ? "" : eval.error().text().c_str());
        QVERIFY(inputOf(**eval, 0) == (std::vector<double>{3, 2}));
        QCOMPARE((*eval)->label(0), 1);
        data.eval = m_folder.write("eval.csv", "a,b,y\n1,2,yes\n1,2,maybe\n");
        COMPARE_ERROR(open(data, {}, Part::Eval, train->get()), "data.eval", "'maybe'|line 3|training data do not have");
        data.eval = m_folder.write("eval.csv", "a,y\n1,yes\n");
        COMPARE_ERROR(open(data, {}, Part::Eval, train->get()), "data.features", "no column 'b'");
    }

    void badFilesGiveASentence_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("key");
        QTest::addColumn<QByteArray>("parts");
        const QByteArray train = "data.train", features = "data.features", target = "data.target";
        QTest::newRow("empty") << QByteArray() << train << QByteArray("is empty");
        QTest::newRow("no rows") << QByteArray("a,y\n") << train << QByteArray("no rows");
        QTest::newRow("no header") << QByteArray("1,2\n3,4\n") << train << QByteArray("no line of column names|1, 2");
        QTest::newRow("decimal commas") << QByteArray("a;y\n1,5;2\n") << features << QByteArray("'1,5'|line 2|decimal point");
        QTest::newRow("Latin-1 names") << QByteArray("gr\xF6\xDF""e,y\n1,2\n") << train << QByteArray("Line 1|column 1|save the file as UTF-8");
        QTest::newRow("Latin-1 cell") << QByteArray("a,name,y\n1,M\xFCller,2\n") << train << QByteArray("Line 2|column 'name'|save the file as UTF-8");
        QTest::newRow("one name twice") << QByteArray("a,a,y\n1,2,3\n") << train << QByteArray("two columns named 'a'");
        QTest::newRow("text cell") << QByteArray("a,y\n1,2\nred,3\n") << features << QByteArray("Column 'a'|'red'|line 3|data.features");
        QTest::newRow("text behind lines in quotes") << QByteArray("\"a\nb\",y\n1,2\nred,3\n") << features << QByteArray("line 4");
        QTest::newRow("number and unit") << QByteArray("a,y\n12 kg,3\n") << features << QByteArray("'12 kg'");
        QTest::newRow("empty cell") << QByteArray("a,y\n1,2\n,3\n") << features << QByteArray("Column 'a'|empty cell|line 3");
        QTest::newRow("empty cell among others") << QByteArray("a,\"b, it's\",c,y\n1,2,x,3\n,4,x,5\n") << features
                                                 << QByteArray("Column 'c'|line 2|--set 'data.features=\"b, it'\\''s\"'");
        QTest::newRow("nan") << QByteArray("a,y\nnan,2\n") << features << QByteArray("'nan'|line 2|finite");
        QTest::newRow("inf") << QByteArray("a,y\n1,inf\n") << target << QByteArray("Column 'y'|'inf'|line 2|finite");
        QTest::newRow("text target") << QByteArray("a,y\n1,red\n") << target << QByteArray("'red'|line 2|regression");
        QTest::newRow("missing target") << QByteArray("a,why\n1,2\n") << target << QByteArray("no column 'y'|why");
        QTest::newRow("ragged: fewer") << QByteArray("a,b,y\n1,2,3\n1,2\n") << train << QByteArray("Line 3|2 cells|header has 3");
        QTest::newRow("ragged: more") << QByteArray("a,y\n1,2\n1,2,3\n") << train << QByteArray("Line 3|3 cells|header has 2");
        QTest::newRow("open quote") << QByteArray("a,y\n1,2\n\"3,4\n5,6\n") << train << QByteArray("Line 3|never closed");
        QTest::newRow("text behind a quote") << QByteArray("a,y\n\"1\"x,2\n") << train << QByteArray("Line 2|behind a closing quote");
        QTest::newRow("UTF-16") << QByteArray("\xFF\xFE""a\0,\0y\0\n\0", 10) << train << QByteArray("UTF-8");
        QTest::newRow("zero bytes") << QByteArray("a,y\n1,\0\0\n", 9) << train << QByteArray("zero byte");
        QTest::newRow("only the target") << QByteArray("y\n1\n") << features << QByteArray("no column left");
        QTest::newRow("5 MB of one cell") << "a,y\n" + QByteArray(5 << 20, 'x') << train << QByteArray("1 MiB");
    }
    void badFilesGiveASentence() {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, key);
        QFETCH(QByteArray, parts);
        COMPARE_ERROR(open(section(text), regression(), Part::Train), key.constData(), parts.constData());
    }

    void badChoicesOfColumnsGiveASentence() {
        const QByteArray text("age,height,w,label\n1,2,1,a\n3,4,-1,b\n");
        config::DataSection data = section(text, {"lable"});
        COMPARE_ERROR(open(data, {}, Part::Train), "data.target", "no column 'lable'|Did you mean 'label'?");
        data.target = {};
        COMPARE_ERROR(open(data, {}, Part::Train), "data.target", "age, height, w, label");
        data.target = {"age", "label"};
        COMPARE_ERROR(open(data, {}, Part::Train), "data.target", "one target column");
        data.target = {"age", "age"};
        COMPARE_ERROR(open(data, regression(), Part::Train), "data.target", "stands twice");
        data.target = {"label"};
        data.features = {"Height"};
        COMPARE_ERROR(open(data, {}, Part::Train), "data.features", "Did you mean 'height'?");
        data.features = {"age", "age"};
        COMPARE_ERROR(open(data, {}, Part::Train), "data.features", "stands twice");
        data.features = {"age", "label"};
        COMPARE_ERROR(open(data, {}, Part::Train), "data.features", "'label'|target or weight");
        data.features = {};
        data.weight = "w";
        COMPARE_ERROR(open(data, {}, Part::Train), "data.weight", "'-1'|line 3|negative");
        data.weight = "ww";
        COMPARE_ERROR(open(data, {}, Part::Train), "data.weight", "Did you mean 'w'?");
        data.weight = "label";
        COMPARE_ERROR(open(data, {}, Part::Train), "data.weight", "target and the weight");
    }
    void badClassesGiveASentence() {
        COMPARE_ERROR(open(section("a,y\n1,x\n2,x\n"), {}, Part::Train), "data.train", "only one class (x)");
        COMPARE_ERROR(open(section("a,y\n1,x\n2,\n"), {}, Part::Train), "data.target", "empty cell|line 3");
        config::TaskSection task;
        task.numClasses = 2;
        COMPARE_ERROR(open(section("a,y\n1,p\n2,q\n3,r\n"), task, Part::Train), "task.num_classes", "3 classes|task.num_classes is 2");
        QByteArray many("a,y\n");
        for (int i = 0; i < 3000; ++i) many += "1," + QByteArray::number(i * 0.37) + "\n";
        COMPARE_ERROR(open(section(many), {}, Part::Train), "data.target", "3,000 different values|regression");
    }
    void aFolderIsNoCsvFile() {
        config::DataSection data = section("a,y\n1,2\n");
        data.train = m_folder.dir.path().toStdString();
        data.format = "csv";
        COMPARE_ERROR(open(data, regression(), Part::Train), "data.train", "not a regular file");
    }
    void gzipIsUnpacked() {
        if (data_files::shared().isEmpty()) QSKIP("the shared data sets are not here");
        config::DataSection data;
        data.train = (data_files::shared() + QStringLiteral("/digits/digits.csv.gz")).toStdString();
        data.target = {"y"};
        COMPARE_ERROR(open(data, {}, Part::Train), "data.train", "no line of column names|0, 0, 5, 13");
    }
    void theFingerprintFollowsEveryNumber() {
        const auto print = [&](const QByteArray& text) { return fingerprint(**open(section(text), regression(), Part::Train)); };
        QCOMPARE(print("a,y\n1,2\n"), print("a,y\r\n1.0,2\r\n"));
        QVERIFY(print("a,y\n1,2\n") != print("a,y\n1,3\n"));
        QVERIFY(print("a,y\n1,2\n") != print("b,y\n1,2\n"));
    }
    void examplesShowEveryClass() {
        const auto opened = open(section("a,y\n1,p\n2,p\n3,p\n4,q\n5,r\n"), {}, Part::Train);
        QVERIFY(opened.ok());
        QVERIFY(examples(**opened, 4) == (std::vector<std::int64_t>{0, 3, 4, 1}));
        QCOMPARE(examples(**opened, 9).size(), std::size_t{5});
        const auto thumbnail = (*opened)->thumbnail(3, 64);
        QVERIFY(thumbnail.ok());
        QCOMPARE(QString::fromStdString(thumbnail->text), QStringLiteral("a 4"));
        QCOMPARE(QString::fromStdString(thumbnail->answer), QStringLiteral("q"));
        QCOMPARE(QString::fromStdString(thumbnail->where), QStringLiteral("line 5"));
    }
};

QTEST_GUILESS_MAIN(TestCsv)
#include "tst_csv.moc"
