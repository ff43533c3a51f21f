// Points, events and checkpoints through RunWriter and back through RunReader.
#include "ring_script.h"
#include "store/run_store.h"

#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <sqlite3.h>

using namespace lathe;
using namespace lathe::store;
using tests::RingScript;

namespace {

SessionRow session(std::int32_t number, std::int32_t parent = 0, std::int64_t parentAttempt = 0) {
    SessionRow row;
    row.number = number;
    row.parentSession = parent;
    row.parentAttempt = parentAttempt;
    row.verb = parent == 0 ? "start" : "roll-back";
    row.startedNs = 1000 + number;
    return row;
}

std::vector<std::uint64_t> bitsOf(const std::vector<Point>& points) {
    std::vector<std::uint64_t> bits;
    for (const Point& point : points) bits.push_back(std::bit_cast<std::uint64_t>(point.value));
    return bits;
}

/// Every kind of bit pattern: noise, NaN payloads, denormals, infinities, negative zero.
double strangeValue(std::mt19937_64& random) {
    switch (random() % 8) {
    case 0: return std::bit_cast<double>(random());
    case 1: return std::bit_cast<double>(0x7ff0000000000000u | (random() >> 12));
    case 2: return std::bit_cast<double>(random() >> 13);
    case 3: return -0.0;
    case 4: return random() % 2 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
    default: return static_cast<double>(static_cast<float>(random() % 100000) / 7.0f);
    }
}

}  // namespace

class TestRunStore : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    int m_serial = 0;
    std::filesystem::path freshFile() { return m_folder.filePath(QString("run%1.sqlite").arg(++m_serial)).toStdString(); }
    static std::unique_ptr<RunWriter> writer(const std::filesystem::path& file) {
        auto opened = RunWriter::open(file);
        if (!opened.ok()) qFatal("%s", opened.error().text().c_str());
        return std::move(*opened);
    }
    static std::unique_ptr<RunReader> reader(const std::filesystem::path& file) {
        auto opened = RunReader::open(file);
        if (!opened.ok()) qFatal("%s", opened.error().text().c_str());
        return std::move(*opened);
    }

    /// Asked from the outside, as any SQLite tool could.
    static std::int64_t number(const std::filesystem::path& file, const char* sql) {
        sqlite3* db = nullptr;
        sqlite3_stmt* query = nullptr;
        std::int64_t value = -1;
        if (sqlite3_open_v2(file.c_str(), &db, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK &&
            sqlite3_prepare_v2(db, sql, -1, &query, nullptr) == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW)
            value = sqlite3_column_int64(query, 0);
        sqlite3_finalize(query);
        sqlite3_close(db);
        return value;
    }

private Q_SLOTS:
    void everyBitPatternComesBackInOrder_data() {
        QTest::addColumn<int>("rows");
        QTest::addColumn<int>("flushEvery");
        QTest::addColumn<bool>("ended");
        for (const bool ended : {false, true}) {
            QTest::addRow("one row %d", ended) << 1 << 1 << ended;
            QTest::addRow("tails only %d", ended) << 900 << 10 << ended;
            QTest::addRow("chunks and tails %d", ended) << 10000 << 700 << ended;
            QTest::addRow("exactly two chunks %d", ended) << 8192 << 4096 << ended;
            QTest::addRow("one flush %d", ended) << 20000 << 20000 << ended;
        }
    }
    void everyBitPatternComesBackInOrder() {
        QFETCH(int, rows);
        QFETCH(int, flushEvery);
        QFETCH(bool, ended);
        const auto file = freshFile();
        auto out = writer(file);
        QVERIFY(out->beginSession(session(1)).ok());
        std::mt19937_64 random(7);
        std::map<std::string, std::vector<Point>> expected;
        RingScript ring(*out, 0, 1);
        std::int64_t active = 5, wall = 1'700'000'000'000'000'000;
        for (int i = 1; i <= rows; ++i) {
            active += static_cast<std::int64_t>(random() % 1000000);
            wall += static_cast<std::int64_t>(random() % 2000000) - 500000;  // wall time may go back
            std::vector<std::pair<std::string, double>> values{{"train/loss", strangeValue(random)}, {"train/lr", strangeValue(random)}};
            if (random() % 3 == 0) values.emplace_back("train/sometimes", strangeValue(random));
            if (random() % 500 == 0) values.emplace_back("eval/loss", strangeValue(random));
            ring.points({i, i - i / 10, active, wall}, values);
            for (const auto& [name, value] : values) expected[name].push_back({1, i, i - i / 10, active, wall, value});
            if (i % flushEvery == 0) QVERIFY(out->flush().ok());
        }
        QVERIFY(out->flush().ok());
        if (ended) QVERIFY(out->endSession(session(1)).ok());
        const auto in = reader(file);
        for (const auto& [name, points] : expected) {
            const auto got = in->points(name, RunReader::Line::Surviving);
            QVERIFY(got.ok());
            QCOMPARE(got->size(), points.size());
            QVERIFY(bitsOf(*got) == bitsOf(points));
            for (std::size_t i = 0; i < points.size(); ++i) {
                QCOMPARE((*got)[i].attempt, points[i].attempt);
                QCOMPARE((*got)[i].step, points[i].step);
                QCOMPARE((*got)[i].activeNs, points[i].activeNs);
                QCOMPARE((*got)[i].wallNs, points[i].wallNs);
            }
        }
        QVERIFY(in->verify().ok());
        QCOMPARE(in->recordedSequence(0, 1), ring.sequence());
    }

    void doublesAreIgnoredBySequence() {
        const auto file = freshFile();
        auto out = writer(file);
        QVERIFY(out->beginSession(session(1)).ok());
        std::vector<std::byte> name, first, second;
        live::encode(live::SeriesFrame{4, "train/loss", "nats"}, name);
        live::encode(live::PointsFrame{1, 1, 1, 0, 0, {{4, 1.5}}}, first);
        live::encode(live::PointsFrame{1, 2, 2, 0, 0, {{4, 2.5}}}, second);
        for (int repeat = 0; repeat < 3; ++repeat) {
            out->take(0, 1, 1, live::FrameType::Series, name);
            out->take(0, 1, 2, live::FrameType::Points, first);
            out->take(0, 1, 3, live::FrameType::Points, second);
            QVERIFY(out->flush().ok());
        }
        out.reset();
        out = writer(file);  // and after a new start
        QCOMPARE(out->recordedSequence(0, 1), std::uint64_t{3});
        out->take(0, 1, 3, live::FrameType::Points, second);
        QVERIFY(out->flush().ok());
        const auto points = reader(file)->points("train/loss", RunReader::Line::All);
        QVERIFY(points.ok());
        QCOMPARE(points->size(), std::size_t{2});
        QCOMPARE(reader(file)->series()->front().unit, std::string("nats"));
    }
    void namesOfARingOutliveTheWriter() {
        const auto file = freshFile();
        auto out = writer(file);
        QVERIFY(out->beginSession(session(1)).ok());
        RingScript(*out, 2, 1).points(1, {{"a", 1}, {"b", 2}});
        QVERIFY(out->flush().ok());
        out.reset();
        out = writer(file);
        std::vector<std::byte> spilled;
        live::encode(live::PointsFrame{1, 2, 2, 0, 0, {{2, 22}}}, spilled);
        out->take(2, 1, 4, live::FrameType::Points, spilled);
        QVERIFY(out->flush().ok());
        const auto points = reader(file)->points("b", RunReader::Line::Surviving);
        QVERIFY(points.ok());
        QCOMPARE(points->size(), std::size_t{2});
        QCOMPARE(points->back().value, 22.0);
    }
    void aValueIsKeptWhereItsNameWasLost() {
        const auto file = freshFile();
        auto out = writer(file);
        std::vector<std::byte> payload;
        live::encode(live::PointsFrame{1, 1, 1, 0, 0, {{9, 4.5}}}, payload);
        out->take(3, 1, 1, live::FrameType::Points, payload);
        QVERIFY(out->flush().ok());
        const auto points = reader(file)->points("unnamed/ring3/9", RunReader::Line::All);
        QVERIFY(points.ok());
        QCOMPARE(points->front().value, 4.5);
    }
    void damagedFramesAreLeftOutAndCounted() {
        const auto file = freshFile();
        auto out = writer(file);
        QVERIFY(out->beginSession(session(1)).ok());
        RingScript ring(*out, 0, 1);
        ring.points(1, {{"a", 1}});
        std::mt19937_64 random(3);
        std::uint64_t sequence = ring.sequence();
        for (int i = 0; i < 2000; ++i) {
            std::vector<std::byte> rubbish(random() % 60);
            for (std::byte& byte : rubbish) byte = static_cast<std::byte>(random());
            out->take(0, 1, ++sequence, static_cast<live::FrameType>(random() % 9), rubbish);
        }
        RingScript(*out, 0, 1, sequence).points(2, {{"a", 2}});
        QVERIFY(out->flush().ok());
        QVERIFY(out->recordedSequence(0, 1) > sequence);
        const auto points = reader(file)->points("a", RunReader::Line::All);
        QVERIFY(points.ok());
        QCOMPARE(points->size(), std::size_t{2});
    }
    void oneSeriesFromTwoRingsKeepsAllItsPointsInOrder() {
        const auto file = freshFile();
        auto out = writer(file);
        QVERIFY(out->beginSession(session(1)).ok());
        RingScript first(*out, 0, 1), second(*out, 1, 1);
        for (int i = 1; i <= 6000; ++i) {
            first.points(i, {{"shared", i}, {"twice", 1}, {"twice", 2}});
            if (i % 7 == 0) second.points(i, {{"shared", -i}});
            if (i % 500 == 0) QVERIFY(out->flush().ok());
        }
        for (const bool ended : {false, true}) {
            if (ended) QVERIFY(out->endSession(session(1)).ok());
            const auto points = reader(file)->points("shared", RunReader::Line::All);
            QVERIFY(points.ok());
            QCOMPARE(points->size(), std::size_t{6000 + 6000 / 7});
            QVERIFY(std::is_sorted(points->begin(), points->end(), [](const Point& a, const Point& b) { return a.attempt < b.attempt; }));
            double sum = 0;
            for (const Point& point : *points) sum += point.value;
            QCOMPARE(sum, 6000.0 * 6001 / 2 - 7.0 * 857 * 858 / 2);
            const auto twice = reader(file)->points("twice", RunReader::Line::All);
            QCOMPARE(twice->size(), std::size_t{6000});
            QCOMPARE(twice->back().value, 2.0);
        }
    }
    void aGroupOfManySeriesIsKept() {
        const auto file = freshFile();
        auto out = writer(file);
        QVERIFY(out->beginSession(session(1)).ok());
        RingScript ring(*out, 0, 1);
        std::vector<std::pair<std::string, double>> values;
        for (int i = 0; i < 3000; ++i) values.emplace_back("layer/" + std::to_string(i), i);
        for (int attempt = 1; attempt <= 3; ++attempt) ring.points(attempt, values);
        QVERIFY(out->flush().ok());
        const auto in = reader(file);
        QCOMPARE(in->points("layer/2999", RunReader::Line::All)->size(), std::size_t{3});
        QCOMPARE(in->series()->size(), std::size_t{3000});
        QVERIFY(in->verify().ok());
    }

    void readingOnBringsOnlyWhatIsNew() {
        const auto file = freshFile();
        auto out = writer(file);
        QVERIFY(out->beginSession(session(1)).ok());
        const auto in = reader(file);
        RingScript ring(*out, 0, 1);
        std::vector<Point> collected;
        for (int i = 1; i <= 20000; ++i) {
            ring.points(i, {{"a", i}});
            if (i % 7 == 0) RingScript(*out, 1, 1, static_cast<std::uint64_t>(2 * i)).points(i, {{"slow", i}});  // keeps tails alive
            if (i % 333 != 0) continue;
            QVERIFY(out->flush().ok());
            const auto more = collected.empty() ? in->points("a", RunReader::Line::Surviving)
                                                : in->points("a", RunReader::Line::Surviving, 1, collected.back().attempt);
            QVERIFY(more.ok());
            QCOMPARE(more->size(), std::size_t{333});
            collected.insert(collected.end(), more->begin(), more->end());
        }
        for (std::size_t i = 0; i < collected.size(); ++i) QCOMPARE(collected[i].value, static_cast<double>(i + 1));
    }
    void closedChunksReplaceTheirTailsAndSlowSeriesDoNotPileThemUp() {
        const auto file = freshFile();
        auto out = writer(file);
        QVERIFY(out->beginSession(session(1)).ok());
        RingScript fast(*out, 0, 1), slow(*out, 1, 1);
        for (int flush = 1; flush <= 900; ++flush) {
            for (int i = 0; i < 20; ++i) fast.points((flush - 1) * 20 + i + 1, {{"fast", i}});
            slow.points(flush, {{"slow", flush}});
            QVERIFY(out->flush().ok());
            QVERIFY(number(file, "SELECT count(*) FROM tails") <= 256);
        }
        QCOMPARE(number(file, "SELECT sum(n) FROM chunks"), std::int64_t{4 * 4096});
        const auto in = reader(file);
        QCOMPARE(in->points("fast", RunReader::Line::All)->size(), std::size_t{18000});
        QCOMPARE(in->points("slow", RunReader::Line::All)->size(), std::size_t{900});
        QVERIFY(out->endSession(session(1)).ok());
        QCOMPARE(number(file, "SELECT count(*) FROM tails"), std::int64_t{0});
        // The same reader, whose tails are now chunks.
        QCOMPARE(in->points("slow", RunReader::Line::All)->size(), std::size_t{900});
        QCOMPARE(in->points("fast", RunReader::Line::All)->size(), std::size_t{18000});
    }
    void exactlyOneChunkLeavesNoTail() {
        const auto file = freshFile();
        auto out = writer(file);
        QVERIFY(out->beginSession(session(1)).ok());
        RingScript ring(*out, 0, 1);
        for (int i = 1; i <= 4096; ++i) {
            ring.points(i, {{"a", i}});
            if (i == 4000 || i == 4096) QVERIFY(out->flush().ok());
            if (i == 4000) QCOMPARE(number(file, "SELECT count(*) FROM tails"), std::int64_t{1});
        }
        QCOMPARE(number(file, "SELECT count(*) FROM tails"), std::int64_t{0});
        QCOMPARE(number(file, "SELECT n FROM chunks"), std::int64_t{4096});
    }
    void anEndedSessionLeavesOnePlainFile() {
        const auto file = freshFile();
        auto out = writer(file);
        QVERIFY(out->beginSession(session(1)).ok());
        QVERIFY(std::filesystem::exists(file.string() + "-wal"));
        RingScript(*out, 0, 1).points(1, {{"a", 1}});
        QVERIFY(out->endSession(session(1)).ok());
        QVERIFY(!std::filesystem::exists(file.string() + "-wal"));
        QVERIFY(!std::filesystem::exists(file.string() + "-shm"));
        QCOMPARE(static_cast<int>(std::filesystem::status(file).permissions()), 0600);
        // Copied away, it holds everything.
        const auto copy = freshFile();
        std::filesystem::copy_file(file, copy);
        QCOMPARE(reader(copy)->points("a", RunReader::Line::All)->size(), std::size_t{1});
        QVERIFY(out->beginSession(session(2, 1, 1)).ok());
        QVERIFY(std::filesystem::exists(file.string() + "-wal"));
    }
    void aNetworkFileSystemGetsNoWriteAheadLog() {
        const auto file = freshFile();
        auto out = std::move(*RunWriter::open(file, true));
        QVERIFY(out->beginSession(session(1)).ok());
        RingScript ring(*out, 0, 1);
        for (int i = 1; i <= 5000; ++i) ring.points(i, {{"a", i}});
        QVERIFY(out->flush().ok());
        QVERIFY(!std::filesystem::exists(file.string() + "-wal"));
        QCOMPARE(reader(file)->points("a", RunReader::Line::All)->size(), std::size_t{5000});
    }

    /// 1: attempts 1–9000; 2 from attempt 6000 of 1: 6001–12000; 3 rolls back 2 to 7000: 7001–7500; 4 rolls 3 back to
    /// before it began, 6500 in 2: 6501–11000.
    void theSurvivingLineGoesThroughTheParents() {
        const auto file = freshFile();
        auto out = writer(file);
        struct Part { int number, parent, from, to; };
        const std::vector<Part> parts{{1, 0, 0, 9000}, {2, 1, 6000, 12000}, {3, 2, 7000, 7500}, {4, 2, 6500, 11000}};
        for (const Part& part : parts) {
            QVERIFY(out->beginSession(session(part.number, part.parent, part.from)).ok());
            RingScript ring(*out, 0, part.number);
            for (int i = part.from + 1; i <= part.to; ++i) ring.points(i, {{"a", part.number * 100000 + i}, {"b", i % 3 ? i : NAN}});
            if (part.number != 4) QVERIFY(out->endSession(session(part.number, part.parent, part.from)).ok());
            else QVERIFY(out->flush().ok());
        }
        std::vector<double> expected;
        for (int i = 1; i <= 11000; ++i) expected.push_back((i <= 6000 ? 1 : i <= 6500 ? 2 : 4) * 100000 + i);
        const auto in = reader(file);
        const auto points = in->points("a", RunReader::Line::Surviving);
        QVERIFY(points.ok());
        QCOMPARE(points->size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) QCOMPARE((*points)[i].value, expected[i]);
        QCOMPARE(in->points("a", RunReader::Line::All)->size(), std::size_t{9000 + 6000 + 500 + 4500});
        QCOMPARE(in->points("a", RunReader::Line::Surviving, 2, 6400)->size(), std::size_t{100 + 4500});
        QCOMPARE(in->points("a", RunReader::Line::Surviving, 3, 0)->size(), std::size_t{4500});

        const auto summaries = in->series();
        QVERIFY(summaries.ok());
        const SeriesSummary& a = summaries->at(0);
        QCOMPARE(a.points, std::int64_t{11000});
        QCOMPARE(*a.minimum, 100001.0);
        QCOMPARE(*a.maximum, 411000.0);
        QCOMPARE(a.maximumStep, std::int64_t{11000});
        QCOMPARE(*a.last, 411000.0);
        QCOMPARE(a.lastStep, std::int64_t{11000});
        const SeriesSummary& b = summaries->at(1);
        QCOMPARE(b.nonFinite, std::int64_t{11000 / 3});
        QCOMPARE(*b.minimum, 1.0);
        QCOMPARE(b.minimumStep, std::int64_t{1});
        QVERIFY(in->verify().ok());
    }
    void theLineOfOddTables_data() {
        QTest::addColumn<QList<QList<int>>>("sessions");  // number, parent, parent attempt
        QTest::addColumn<QList<QList<int>>>("line");      // number, last attempt (-1: open), newest first
        using Rows = QList<QList<int>>;
        QTest::newRow("none") << Rows{} << Rows{};
        QTest::newRow("one") << Rows{{1, 0, 0}} << Rows{{1, -1}};
        QTest::newRow("chain") << Rows{{1, 0, 0}, {2, 1, 50}, {3, 2, 80}} << Rows{{3, -1}, {2, 80}, {1, 50}};
        QTest::newRow("back over a roll-back") << Rows{{1, 0, 0}, {2, 1, 50}, {3, 2, 40}, {4, 1, 30}} << Rows{{4, -1}, {1, 30}};
        QTest::newRow("back behind the parent's own start") << Rows{{1, 0, 0}, {2, 1, 50}, {3, 2, 20}} << Rows{{3, -1}, {2, 20}, {1, 20}};
        QTest::newRow("out of order") << Rows{{2, 1, 5}, {1, 0, 0}} << Rows{{2, -1}, {1, 5}};
        QTest::newRow("unknown parent") << Rows{{7, 6, 5}} << Rows{{7, -1}};
        QTest::newRow("own parent") << Rows{{1, 1, 5}} << Rows{{1, -1}};
        QTest::newRow("circle") << Rows{{1, 2, 5}, {2, 1, 5}} << Rows{{2, -1}, {1, 5}};
    }
    void theLineOfOddTables() {
        QFETCH(QList<QList<int>>, sessions);
        QFETCH(QList<QList<int>>, line);
        std::vector<SessionRow> rows;
        for (const auto& row : sessions) rows.push_back(session(row[0], row[1], row[2]));
        QList<QList<int>> got;
        for (const LinePart& part : survivingLine(rows))
            got.append({part.session, part.lastAttempt == std::numeric_limits<std::int64_t>::max() ? -1 : static_cast<int>(part.lastAttempt)});
        QCOMPARE(got, line);
    }

    void summariesEqualACountOverAllPoints() {
        const auto file = freshFile();
        auto out = writer(file);
        std::mt19937_64 random(21);
        for (int number = 1; number <= 3; ++number) {
            const int from = number == 1 ? 0 : number == 2 ? 5000 : 9000;
            QVERIFY(out->beginSession(session(number, number - 1, from)).ok());
            RingScript ring(*out, 0, number);
            for (int i = from + 1; i <= from + 7000; ++i) {
                std::vector<std::pair<std::string, double>> values{{"all", strangeValue(random)}};
                if (random() % 40 == 0) values.emplace_back("rare", static_cast<double>(random() % 1000));
                ring.points(i, values);
                if (i % 900 == 0) QVERIFY(out->flush().ok());
            }
            QVERIFY(out->flush().ok());
        }
        const auto in = reader(file);
        const auto summaries = in->series();
        QVERIFY(summaries.ok());
        QCOMPARE(summaries->size(), std::size_t{2});
        for (const SeriesSummary& summary : *summaries) {
            const auto points = in->points(summary.name, RunReader::Line::Surviving);
            QVERIFY(points.ok());
            std::int64_t nonFinite = 0;
            const Point *minimum = nullptr, *maximum = nullptr;
            for (const Point& point : *points) {
                if (!std::isfinite(point.value)) {
                    ++nonFinite;
                    continue;
                }
                if (minimum == nullptr || point.value < minimum->value) minimum = &point;
                if (maximum == nullptr || point.value > maximum->value) maximum = &point;
            }
            QCOMPARE(summary.points, static_cast<std::int64_t>(points->size()));
            QCOMPARE(summary.nonFinite, nonFinite);
            QVERIFY(*summary.minimum == minimum->value && *summary.maximum == maximum->value);
            QCOMPARE(summary.minimumStep, minimum->step);
            QCOMPARE(summary.maximumStep, maximum->step);
            QCOMPARE(summary.lastStep, points->back().step);
            QCOMPARE(std::bit_cast<std::uint64_t>(*summary.last), std::bit_cast<std::uint64_t>(points->back().value));
        }
    }
    void overviewCoversEveryPointAndKeepsExtremes_data() {
        QTest::addColumn<int>("rows");
        QTest::addColumn<int>("buckets");
        QTest::newRow("points") << 500 << 1000;
        QTest::newRow("few points joined") << 500 << 100;
        QTest::newRow("tails and chunks as points") << 30000 << 800;
        QTest::newRow("finer level") << 60000 << 300;
        QTest::newRow("chunk headers") << 60000 << 10;
        QTest::newRow("one bucket") << 60000 << 1;
        QTest::newRow("none wanted") << 100 << 0;
    }
    void overviewCoversEveryPointAndKeepsExtremes() {
        QFETCH(int, rows);
        QFETCH(int, buckets);
        const auto file = freshFile();
        auto out = writer(file);
        QVERIFY(out->beginSession(session(1)).ok());
        RingScript first(*out, 0, 1);
        for (int i = 1; i <= rows; ++i) first.points(i, {{"a", i == rows / 3 ? 1e9 : i == rows / 5 ? NAN : std::sin(i)}});
        QVERIFY(out->endSession(session(1)).ok());
        const int cut = rows / 2 + 7;
        QVERIFY(out->beginSession(session(2, 1, cut)).ok());
        RingScript second(*out, 0, 2);
        for (int i = cut + 1; i <= rows; ++i) second.points(i, {{"a", i == rows - 3 ? -1e9 : std::cos(i)}});
        QVERIFY(out->flush().ok());
        const auto in = reader(file);
        const auto got = in->overview("a", RunReader::Line::Surviving, static_cast<std::size_t>(buckets));
        QVERIFY(got.ok());
        QVERIFY(got->size() <= static_cast<std::size_t>(std::max(buckets, 1)) + 2);
        if (rows > buckets) QVERIFY(got->size() * 3 >= static_cast<std::size_t>(buckets));
        std::int64_t count = 0, nonFinite = 0, step = 0;
        double minimum = 0, maximum = 0;
        for (const auto& bucket : *got) {
            QVERIFY(bucket.firstStep > step && bucket.lastStep >= bucket.firstStep);
            step = bucket.lastStep;
            count += bucket.count;
            nonFinite += bucket.nonFinite;
            if (bucket.count == bucket.nonFinite) continue;
            minimum = std::min(minimum, bucket.minimum);
            maximum = std::max(maximum, bucket.maximum);
        }
        QCOMPARE(count, std::int64_t{rows});
        QCOMPARE(nonFinite, std::int64_t{1});
        QCOMPARE(step, std::int64_t{rows});
        QCOMPARE(minimum, -1e9);
        QCOMPARE(maximum, 1e9);
    }
    void overviewOfAllBranchesShowsTheLeftOne() {
        const auto file = freshFile();
        auto out = writer(file);
        for (int number = 1; number <= 2; ++number) {
            QVERIFY(out->beginSession(session(number, number - 1, 10)).ok());
            RingScript ring(*out, 0, number);
            for (int i = number == 1 ? 1 : 11; i <= 100; ++i) ring.points(i, {{"a", i}});
            QVERIFY(out->flush().ok());
        }
        const auto sum = [](const std::vector<RunReader::Bucket>& buckets) {
            std::int64_t count = 0;
            for (const auto& bucket : buckets) count += bucket.count;
            return count;
        };
        QCOMPARE(sum(*reader(file)->overview("a", RunReader::Line::All, 20)), std::int64_t{190});
        QCOMPARE(sum(*reader(file)->overview("a", RunReader::Line::Surviving, 20)), std::int64_t{100});
    }
    void unknownSeriesIsSaidByName() {
        const auto file = freshFile();
        const auto out = writer(file);
        const auto points = reader(file)->points("train/loss", RunReader::Line::All);
        QVERIFY(!points.ok());
        QCOMPARE(points.error().code, ErrorCode::NotFound);
        QVERIFY(points.error().sentence.find("train/loss") != std::string::npos);
        QVERIFY(!reader(file)->overview("train/loss", RunReader::Line::All, 9).ok());
    }

    void eventsSessionsCheckpointsAndFactsComeBack() {
        const auto file = freshFile();
        auto out = writer(file);
        QVERIFY(out->beginSession(session(1)).ok());
        RingScript ring(*out, 0, 1);
        for (int i = 1; i <= 10; ++i) ring.event("phase", "Zug № " + std::to_string(i), i);
        QVERIFY(reader(file)->events()->empty());
        QVERIFY(out->flush().ok());
        CheckpointRow checkpoint{"s001-000000120", 1, 121, 120, 77, 1u << 20, false, false, R"({"eval/loss": "0.12"})"};
        QVERIFY(out->addCheckpoint(checkpoint).ok());
        checkpoint.folder = "s001-000000240", checkpoint.attempt = 241;
        QVERIFY(out->addCheckpoint(checkpoint).ok());
        QVERIFY(out->markBest("s001-000000120").ok());
        QVERIFY(out->markBest("s001-000000240").ok());
        QVERIFY(out->markCheckpointDeleted("s001-000000120").ok());
        SessionRow end = session(1);
        end.end = "stopped", end.why = "Asked to stop", end.endedNs = 99, end.firstStep = 1, end.lastStep = 10;
        QVERIFY(out->endSession(end).ok());

        const auto in = reader(file);
        const auto events = in->events();
        QCOMPARE(events->size(), std::size_t{10});
        QCOMPARE(events->at(4).event.text, std::string("Zug № 5"));
        QCOMPARE(events->at(4).event.attempt, std::int64_t{5});
        QCOMPARE(in->events(events->at(7).id)->size(), std::size_t{2});
        QCOMPARE(in->events(0, 3)->size(), std::size_t{3});
        const auto checkpoints = in->checkpoints();
        QCOMPARE(checkpoints->size(), std::size_t{2});
        QVERIFY(checkpoints->at(0).deleted && !checkpoints->at(0).isBest);
        QVERIFY(!checkpoints->at(1).deleted && checkpoints->at(1).isBest);
        QCOMPARE(checkpoints->at(0).metricsJson, std::string(R"({"eval/loss": "0.12"})"));
        QCOMPARE(checkpoints->at(0).bytes, std::uint64_t{1u << 20});
        const auto sessions = in->sessions();
        QCOMPARE(sessions->size(), std::size_t{1});
        QCOMPARE(sessions->front().end, std::string("stopped"));
        QCOMPARE(sessions->front().why, std::string("Asked to stop"));
        QCOMPARE(sessions->front().lastStep, std::int64_t{10});
        QCOMPARE(sessions->front().verb, std::string("start"));
    }
    void digestsOfUpdatesComeBackBitForBitUpToTheFirstGap() {
        const auto file = freshFile();
        auto out = writer(file);
        QVERIFY(out->beginSession(session(1)).ok());
        QVERIFY(reader(file)->digests(1, 0, 9)->empty());  // as in a file of an older program
        RingScript ring(*out, 0, 1);
        const double strange = std::bit_cast<double>(0x7ff8000000000abcu);
        ring.digest(11, 0xffffffffffffffffu, strange, -0.0);
        ring.digest(12, 1, 0.1, 0.2);
        ring.digest(14, 2, 0.1, 0.2);
        RingScript(*out, 0, 2).digest(11, 3, 0.5, 0.5);
        QVERIFY(out->flush().ok());
        const auto digests = reader(file)->digests(1, 10, 9);
        QCOMPARE(digests->size(), std::size_t{2});
        QCOMPARE(digests->front().samples, 0xffffffffffffffffu);
        QCOMPARE(std::bit_cast<std::uint64_t>(digests->front().loss), 0x7ff8000000000abcu);
        QVERIFY(std::signbit(digests->front().gradNorm));
        QCOMPARE(reader(file)->digests(1, 10, 1)->size(), std::size_t{1});
        QVERIFY(reader(file)->digests(1, 12, 9)->empty());
        std::vector<std::byte> payload(31);
        QVERIFY(!live::decodeDigest(payload).ok());
    }
    void hostileTextIsOnlyText() {
        const auto file = freshFile();
        auto out = writer(file);
        QVERIFY(out->beginSession(session(1)).ok());
        const std::string name = "a'); DROP TABLE series; --\n\x01\"é";
        RingScript(*out, 0, 1).points(1, {{name, 1}, {"", 2}});
        QVERIFY(out->flush().ok());
        QCOMPARE(reader(file)->points(name, RunReader::Line::All)->size(), std::size_t{1});
        QCOMPARE(reader(file)->points("", RunReader::Line::All)->size(), std::size_t{1});
    }
};

QTEST_GUILESS_MAIN(TestRunStore)
#include "tst_run_store.moc"
