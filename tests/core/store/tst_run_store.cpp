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
};

QTEST_GUILESS_MAIN(TestRunStore)
#include "tst_run_store.moc"
