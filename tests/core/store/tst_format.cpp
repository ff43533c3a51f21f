// The worked examples of core/store/FORMAT.md, and hostile blobs. The bytes there were made by a separate encoder.
#include "store/codec.h"
#include "store/row_group.h"

#include <QtCore/QByteArray>
#include <QtCore/QFile>
#include <QtTest/QTest>

#include <bit>
#include <random>

using namespace lathe;
using namespace lathe::store;

namespace {

QByteArray hex(const Bytes& bytes) {
    return QByteArray(reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size())).toHex();
}
Bytes bytesOf(const QByteArray& text) {
    const QByteArray raw = QByteArray::fromHex(text);
    const auto* data = reinterpret_cast<const std::byte*>(raw.constData());
    return Bytes(data, data + raw.size());
}

const QByteArray kIntegers = "020a000000000000000200020204";
const QByteArray kReals = "01000000000000f03f001010";
const QByteArray kAxis =
    "020a00000000000000020002020402090000000000000001000202e8030000000000000a00d0d0a007070f0220a107000000000002000000c8";
const QByteArray kChunk = "010d00000000000000f03f02a00001e0f83f7f";
const QByteArray kAxisLevel = "020900000000000000020c00000000000000";
const QByteArray kLevel = "00000000000000e03f00000000000000f03f020300000000000000020100000000000000";
const QByteArray kTail = "5441494c0100000007000000000000000100000000100000000000000400000001000000030000000000000039000000" + kAxis +
                         "13000000" + kChunk;

Axis axis() { return {{10, 11, 12, 14}, {9, 10, 11, 12}, {1000, 2000, 3000, 5000}, {501000, 502000, 503000, 505100}}; }
Values values() {
    return {{1, 0, 1, 1}, {std::bit_cast<std::uint64_t>(1.0), std::bit_cast<std::uint64_t>(0.5), 0x7ff8000000000001}};
}

}  // namespace

class TestFormat : public QObject {
    Q_OBJECT
    Codec m_codec;

private Q_SLOTS:
    void theDocumentHoldsTheseBytes_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("integers") << kIntegers;
        QTest::newRow("reals") << kReals;
        QTest::newRow("axis") << kAxis;
        QTest::newRow("chunk") << kChunk;
        QTest::newRow("axis level") << kAxisLevel;
        QTest::newRow("level") << kLevel;
        QTest::newRow("tail") << kTail;
    }
    void theDocumentHoldsTheseBytes() {
        QFETCH(QByteArray, bytes);
        QFile document(LATHE_SOURCE_DIR "/core/store/FORMAT.md");
        QVERIFY(document.open(QIODevice::ReadOnly));
        QVERIFY(document.readAll().contains("`" + bytes + "`"));
    }
    void columnsAreEncodedAsWritten() {
        Bytes out;
        m_codec.putColumn(out, std::vector<std::uint64_t>{10, 11, 12, 14}, Codec::Kind::Integers);
        QCOMPARE(hex(out), kIntegers);
        out.clear();
        m_codec.putColumn(out, std::vector{std::bit_cast<std::uint64_t>(1.0), std::bit_cast<std::uint64_t>(0.5)}, Codec::Kind::Reals);
        QCOMPARE(hex(out), kReals);
    }
    void axisAndChunkAreEncodedAndDecodedAsWritten() {
        QCOMPARE(hex(m_codec.encode(axis())), kAxis);
        QCOMPARE(hex(m_codec.encode(values())), kChunk);
        QCOMPARE(hex(m_codec.encode(levelOf(axis()))), kAxisLevel);
        QCOMPARE(hex(m_codec.encode(levelOf(values()))), kLevel);
        const auto readAxis = m_codec.decodeAxis(bytesOf(kAxis), 4);
        QVERIFY(readAxis.has_value());
        QVERIFY(readAxis->attempt == axis().attempt && readAxis->step == axis().step);
        QVERIFY(readAxis->activeNs == axis().activeNs && readAxis->wallNs == axis().wallNs);
        const auto readValues = m_codec.decodeValues(bytesOf(kChunk), 4);
        QVERIFY(readValues.has_value());
        QVERIFY(readValues->present == values().present && readValues->bits == values().bits);
    }
    void tailIsEncodedAndDecodedAsWritten() {
        RowGroup group;
        group.id = 7;
        group.session = 1;
        group.firstRow = 4096;
        group.axis = axis();
        group.columns.push_back({3, values()});
        QCOMPARE(hex(encodeTail(m_codec, std::span(&group, 1))), kTail);
        const auto groups = decodeTail(m_codec, bytesOf(kTail));
        QVERIFY(groups.has_value());
        QCOMPARE(groups->size(), std::size_t{1});
        QCOMPARE(groups->front().firstRow, std::int64_t{4096});
        QCOMPARE(groups->front().columns.front().series, std::int64_t{3});
        QVERIFY(groups->front().columns.front().values.bits == values().bits);
    }

    void columnsOfAnyNumbersComeBack() {
        std::mt19937_64 random(11);
        for (int round = 0; round < 400; ++round) {
            const std::size_t count = random() % 3 == 0 ? random() % 5 : random() % 4097;
            std::vector<std::uint64_t> numbers(count);
            const int kind = static_cast<int>(random() % 5);
            std::uint64_t running = random();
            for (std::uint64_t& number : numbers) {
                if (kind == 0) number = random();
                if (kind == 1) number = running;
                if (kind == 2) number = running += 3;
                if (kind == 3) number = running -= random() % 1000;
                if (kind == 4) number = std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<float>(random() % 1000) / 3));
            }
            Bytes out;
            m_codec.putColumn(out, numbers, round % 2 == 0 ? Codec::Kind::Integers : Codec::Kind::Reals);
            ByteReader in(out);
            QVERIFY(m_codec.getColumn(in, count) == numbers);
            QVERIFY(in.finished());
        }
    }
    void damagedBlobsAreRefusedOrDecodeToSomethingOfTheRightSize() {
        std::mt19937_64 random(12);
        Values many{std::vector<std::uint8_t>(4096, 1), {}};
        for (int i = 0; i < 4096; ++i) many.bits.push_back(std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<float>(random() % 99999))));
        const std::vector<Bytes> good{bytesOf(kTail), bytesOf(kAxis), bytesOf(kChunk), m_codec.encode(many), bytesOf(kLevel)};
        for (int round = 0; round < 20000; ++round) {
            Bytes bytes = good[static_cast<std::size_t>(round) % good.size()];
            if (random() % 4 == 0) bytes.resize(random() % bytes.size());
            for (std::size_t flips = random() % 4; flips > 0 && !bytes.empty(); --flips)
                bytes[random() % bytes.size()] = static_cast<std::byte>(random());
            const std::size_t rows = random() % 2 == 0 ? 4 : 4096;
            if (const auto groups = decodeTail(m_codec, bytes)) {
                for (const RowGroup& group : *groups)
                    for (const RowGroup::Column& column : group.columns) QCOMPARE(column.values.present.size(), group.axis.rows());
            }
            if (const auto read = m_codec.decodeAxis(bytes, rows)) QCOMPARE(read->wallNs.size(), rows);
            if (const auto read = m_codec.decodeValues(bytes, rows)) QCOMPARE(read->present.size(), rows);
            if (const auto read = m_codec.decodeLevel(bytes, rows)) QCOMPARE(read->count.size(), bucketsOf(rows));
        }
    }
    void aSmallTailCannotClaimUnboundedMemory() {
        // 65,535 groups that each claim 4,096 rows of constant planes.
        Bytes tail;
        put(tail, std::uint32_t{0x4c494154});
        put(tail, std::uint32_t{65535});
        for (int i = 0; i < 65535; ++i) {
            put(tail, std::int64_t{i});
            put(tail, std::int32_t{1});
            put(tail, std::int64_t{0});
            put(tail, std::uint32_t{4096});
            put(tail, std::uint32_t{0});
            Bytes column;
            for (int c = 0; c < 4; ++c) {
                put(column, std::uint8_t{2});
                put(column, std::uint64_t{0});
                put(column, std::uint16_t{0});
            }
            put(tail, static_cast<std::uint32_t>(column.size()));
            putBytes(tail, column);
        }
        QVERIFY(!decodeTail(m_codec, tail).has_value());
    }
};

QTEST_GUILESS_MAIN(TestFormat)
#include "tst_format.moc"
