// What records say, against bytes written by hand, and what comes of hostile ones.
#include "fixture_run.h"
#include "store/record_content.h"

#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <algorithm>

using namespace lathe;
using namespace lathe::store;
using live::FrameType;

class TestRecordContent : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

private Q_SLOTS:
    void aHistogramIsReadAsTheDocumentSays() {
        // u32 2, edges -1, 0, 0.5, counts 3, nan
        const QByteArray bytes = QByteArray::fromHex("02000000000000000000f0bf0000000000000000000000000000e03f0000000000000840000000000000f87f");
        const auto histogram = parseHistogram(bytes.toStdString());
        QVERIFY(histogram.ok());
        QCOMPARE(histogram->edges, (std::vector<double>{-1, 0, 0.5}));
        QCOMPARE(histogram->counts[0], 3.0);
        QVERIFY(histogram->counts[1] != histogram->counts[1]);
        for (qsizetype cut = 0; cut < bytes.size(); ++cut) QVERIFY(!parseHistogram(bytes.left(cut).toStdString()).ok());
        QVERIFY(!parseHistogram((bytes + "x").toStdString()).ok());
    }
    void aTableKeepsItsOrderAndTellsNumbersFromTexts() {
        const auto table = parseTable(R"({"columns":["b","a"],"rows":[[1,"nan"],[0.1,"x"],[null,true,[2]],[]]})");
        QVERIFY(table.ok());
        QCOMPARE(table->columns, (std::vector<std::string>{"b", "a"}));
        std::string all;
        for (const auto& row : table->rows) {
            for (const RecordCell& cell : row) all += cell.text + (cell.isNumber ? "# " : " ");
            all += "/";
        }
        QCOMPARE(all, std::string("1# nan# /0.1# x / true [2] /  /"));
    }
    void nonsenseIsRefused_data() {
        QTest::addColumn<QString>("table");
        for (const char* text : {"", "[]", "{}", R"({"columns":[],"rows":3})", R"({"columns":["a"],"rows":[1]})", R"({"columns":["a"],"rows":[[1])"}) QTest::newRow(text) << text;
        QTest::newRow("deep") << QStringLiteral("{\"columns\":[],\"rows\":[") + QString(100, QLatin1Char('[')) + QString(100, QLatin1Char(']')) + QStringLiteral("]}");
    }
    void nonsenseIsRefused() {
        QFETCH(QString, table);
        const auto parsed = parseTable(table.toStdString());
        QVERIFY(!parsed.ok());
        QVERIFY(parsed.error().text().find("The table") != std::string::npos);
    }
    void placesAndSingleRecordsAreReadWithoutTheOthers() {
        tests::FixtureRun run(m_folder.path().toStdString());
        run.beginSession(1);
        for (int step = 1; step <= 5; ++step)
            for (const char* name : {"a", "b"}) run.record({FrameType::Text, 0, 0, step, 0, name, {}, name + std::to_string(step), {}});
        run.flush();
        const auto reader = std::move(RunReader::open(run.folder().database())).value();
        const auto places = reader->recordPlaces(FrameType::Text, "b");
        QVERIFY(places.ok());
        QCOMPARE(places->size(), std::size_t{5});
        QCOMPARE((*places)[2].step, std::int64_t{3});
        QCOMPARE(reader->recordPlaces(FrameType::Text, "b", (*places)[2].id)->size(), std::size_t{2});
        QCOMPARE(reader->recordPlaces(FrameType::Text, "b", 0, 3)->size(), std::size_t{3});
        QCOMPARE((*reader->record((*places)[2].id))->record.content, std::string("b3"));
        QVERIFY(reader->record(1000).ok() && !reader->record(1000)->has_value());
        const auto all = reader->recordNames(), newer = reader->recordNames((*places)[3].id);
        QCOMPARE(all->size(), std::size_t{2});
        QCOMPARE((*all)[0].count, std::int64_t{5});
        QCOMPARE((*newer)[0].count, std::int64_t{1});
        QCOMPARE((*newer)[0].firstStep, std::int64_t{5});
    }
    void aContentOfAnySizeIsFoundAndItsDamageToo() {
        tests::FixtureRun run(m_folder.path().toStdString(), "sizes");
        run.beginSession(1);
        const std::string large(1'000'000, 'z');
        run.record({FrameType::Text, 0, 0, 1, 0, "large", {}, large, {}});
        run.flush();
        const auto reader = std::move(RunReader::open(run.folder().database())).value();
        const live::RecordFrame record = reader->newestRecords(FrameType::Text)->at(0).record;
        QVERIFY(record.content.empty());
        QCOMPARE(*recordContent(run.folder(), record), large);
        const auto file = run.folder().blobs() / record.blob;
        std::filesystem::resize_file(file, 999'999);
        QCOMPARE(recordContent(run.folder(), record).error().code, ErrorCode::Corrupt);
        std::filesystem::resize_file(file, kMostRecordBytes + 1);  // sparse
        QCOMPARE(recordContent(run.folder(), record).error().code, ErrorCode::Corrupt);
        std::filesystem::remove(file);
        QCOMPARE(recordContent(run.folder(), record).error().code, ErrorCode::NotFound);
    }
};

QTEST_MAIN(TestRecordContent)
#include "tst_record_content.moc"
