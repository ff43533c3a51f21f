// TensorBoard's event files byte by byte: vectors from the documents, every form of a scalar, every kind of damage.
#include "event_files.h"
#include "event_messages.h"
#include "shared_data.h"
#include "tensorboard/crc32c.h"
#include "tensorboard/event_folder.h"
#include "tensorboard/event_writer.h"

#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <bit>
#include <cmath>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

using namespace lathe;
using namespace lathe::tensorboard;
using namespace lathe::test;
namespace stdfs = std::filesystem;

using Kind = Value::Kind;

static std::span<const std::byte> bytesOf(const std::string& text) { return std::as_bytes(std::span(text)); }

struct Read {
    std::vector<Bytes> payloads;
    RecordReader::Progress progress;
    std::uint64_t offset = 0;
};

static Read readAll(const stdfs::path& file, std::uint64_t from = 0) {
    Read out;
    auto reader = RecordReader::open(file, from);
    if (!reader) return out;
    const auto progress = reader->read(UINT64_MAX, [&](std::span<const std::byte> payload) { out.payloads.emplace_back(payload.begin(), payload.end()); });
    if (progress) out.progress = *progress;
    out.offset = reader->offset();
    return out;
}

class TestEventFiles : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    int m_serial = 0;

    stdfs::path fresh() { return stdfs::path(m_folder.path().toStdString()) / ("f" + std::to_string(++m_serial)); }
    stdfs::path fileWith(const Bytes& bytes) {
        const auto file = fresh();
        appendTo(file, bytes);
        return file;
    }

private Q_SLOTS:
    void checksumsEqualTheVectors() {
        QCOMPARE(crc32c(bytesOf("123456789")), 0xe3069283u);  // the check value of CRC-32C
        QCOMPARE(crc32c(bytesOf(std::string(32, '\0'))), 0x8a9136aau);
        QCOMPARE(maskedCrc(bytesOf("\x1a\x11" "CRC test, one two")), 0x5794d08au);
        QCOMPARE(crc32c({}), 0u);
        // Every length, so that the words and the bytes behind them both count.
        const std::string text = "The quick brown fox jumps over the lazy dog";
        for (std::size_t n = 1; n <= text.size(); ++n) {
            std::uint32_t crc = ~0u;
            for (std::size_t i = 0; i < n; ++i) {
                crc ^= static_cast<unsigned char>(text[i]);
                for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
            }
            QCOMPARE(crc32c(bytesOf(text.substr(0, n))), ~crc);
        }
    }
    void recordsEqualTheVectors() {
        QCOMPARE(versionRecord(1700000000.5), fromHex("1800000000000000a37f4b220900002040fc54d9411a0d627261696e2e4576656e743a322b353110"));
        QCOMPARE(scalarRecord(3, "loss", 1.5f, 1700000001.0),
                 fromHex("1a00000000000000129bd82d0900004040fc54d94110032a0d0a0b0a046c6f7373150000c03fd70c9364"));
    }
    void aWrittenFileIsThoseRecords() {
        const auto file = fresh();
        auto writer = EventWriter::create(FileSystem::real(), file, 1700000000.5, std::nullopt);
        QVERIFY(writer.ok());
        writer->scalar(1700000001.0, 3, "loss", 1.5);
        QVERIFY(writer->flush().ok());
        QCOMPARE(QByteArray::fromStdString(*readFile(file, 1 << 20)).toHex(),
                 QByteArray("1800000000000000a37f4b220900002040fc54d9411a0d627261696e2e4576656e743a322b353110"
                            "1a00000000000000129bd82d0900004040fc54d94110032a0d0a0b0a046c6f7373150000c03fd70c9364"));
        QVERIFY(!EventWriter::create(FileSystem::real(), file, 1, std::nullopt).ok());  // never over another file
    }
    void aRestartIsMarkedAsOtherWritersDo() {
        const auto file = fresh();
        QVERIFY(EventWriter::create(FileSystem::real(), file, 1700000000.5, 12).ok());
        const Read read = readAll(file);
        QCOMPARE(read.payloads.size(), std::size_t{2});
        Event event;
        QVERIFY(parseEvent(read.payloads[0], event));
        QVERIFY(event.step == 12 && !event.isStart);
        QVERIFY(parseEvent(read.payloads[1], event));
        QVERIFY(event.isStart && event.step == 12 && event.values.empty());
        // The bytes of a real writer (its second and third record), but for their times.
        const auto shared = sharedData();
        if (shared.empty()) QSKIP("The shared data sets are not there");
        const Read theirs = readAll(shared / "interop/tensorboard/run_restart/events.out.tfevents.1700010000.host.1.1");
        for (std::size_t i = 0; i < 2; ++i)
            QVERIFY(std::equal(read.payloads[i].begin() + 9, read.payloads[i].end(), theirs.payloads[i + 1].begin() + 9, theirs.payloads[i + 1].end()));
    }
    void everyFloatComesBack_data() {
        QTest::addColumn<double>("written");
        QTest::addColumn<double>("read");
        const double infinity = std::numeric_limits<double>::infinity();
        QTest::newRow("nan") << std::nan("") << std::nan("");
        QTest::newRow("inf") << infinity << infinity;
        QTest::newRow("-inf") << -infinity << -infinity;
        QTest::newRow("-0") << -0.0 << -0.0;
        QTest::newRow("denormal") << double(1e-40f) << double(1e-40f);
        QTest::newRow("largest") << double(std::numeric_limits<float>::max()) << double(std::numeric_limits<float>::max());
        QTest::newRow("rounds to the largest") << 3.4028234663852887e38 << double(std::numeric_limits<float>::max());
        QTest::newRow("too large") << 1e300 << infinity;
        QTest::newRow("too large below") << -1e39 << -infinity;
        QTest::newRow("rounded") << 0.1 << double(0.1f);
        QTest::newRow("too small") << 1e-60 << 0.0;
    }
    void everyFloatComesBack() {
        QFETCH(double, written);
        QFETCH(double, read);
        const auto file = fresh();
        auto writer = EventWriter::create(FileSystem::real(), file, 1, std::nullopt);
        writer->scalar(2, -5, "größe/a b", written);
        QVERIFY(writer->flush().ok());
        const auto all = readAll(file);
        Event event;
        QVERIFY(parseEvent(all.payloads.at(1), event));
        QCOMPARE(event.step, std::int64_t{-5});
        QVERIFY(event.values.at(0).tag == "größe/a b" && event.values[0].kind == Kind::Scalar);
        QCOMPARE(std::bit_cast<std::uint64_t>(event.values[0].number) & 0xfff0000000000000, std::bit_cast<std::uint64_t>(read) & 0xfff0000000000000);
        QVERIFY(std::isnan(read) ? std::isnan(event.values[0].number) : event.values[0].number == read);
    }
    void wallTimesComeBackExactly() {
        for (const double wall : {0.0, 1700000008.9, 1795969635.5384326, 0.1, 1e9 + 1.0 / 3, -1.5, 9e9})
            QCOMPARE(wallSecondsOf(wallNsOf(wall)), wall);
        QCOMPARE(wallNsOf(1700000000.5), std::int64_t{1700000000500000000});
        for (const double wall : {std::nan(""), std::numeric_limits<double>::infinity(), -1e300, 1e10}) QCOMPARE(wallNsOf(wall), std::int64_t{0});
    }

    void scalarsOfEveryFormAreRead_data() {
        QTest::addColumn<QByteArray>("tensor");
        QTest::addColumn<double>("number");
        const auto row = [](const char* name, const std::string& tensor, double number) { QTest::newRow(name) << QByteArray::fromStdString(tensor) << number; };
        const auto content = [](auto value) {
            return [value](protozero::pbf_writer& writer) { writer.add_bytes(4, std::string(reinterpret_cast<const char*>(&value), sizeof value)); };
        };
        row("float content", tensorOf(1, content(2.5f)), 2.5);
        row("double content", tensorOf(2, content(0.1)), 0.1);
        row("int32 content", tensorOf(3, content(std::int32_t{-7})), -7);
        row("int64 content", tensorOf(9, content(std::int64_t{1} << 40)), std::ldexp(1, 40));
        row("uint8 content", tensorOf(4, content(std::uint8_t{200})), 200);
        row("half content", tensorOf(19, content(std::uint16_t{0xc100})), -2.5);
        row("bfloat16 content", tensorOf(14, content(std::uint16_t{0x3fc0})), 1.5);
        row("half infinity", tensorOf(19, content(std::uint16_t{0x7c00})), std::numeric_limits<double>::infinity());
        row("half denormal", tensorOf(19, content(std::uint16_t{0x0001})), std::ldexp(1, -24));
        row("packed float", tensorOf(1, [](auto& writer) { const float v[] = {0.25f}; writer.add_packed_float(5, v, v + 1); }), 0.25);
        row("single float", tensorOf(1, [](auto& writer) { writer.add_float(5, 0.75f); }), 0.75);
        row("packed double", tensorOf(2, [](auto& writer) { const double v[] = {0.3}; writer.add_packed_double(6, v, v + 1); }), 0.3);
        row("packed int", tensorOf(3, [](auto& writer) { const std::int32_t v[] = {-3}; writer.add_packed_int32(7, v, v + 1); }), -3);
        row("packed int64", tensorOf(9, [](auto& writer) { const std::int64_t v[] = {-4}; writer.add_packed_int64(10, v, v + 1); }), -4);
        row("bool", tensorOf(10, [](auto& writer) { writer.add_bool(11, true); }), 1);
        row("packed half", tensorOf(19, [](auto& writer) { const std::int32_t v[] = {0x3c00}; writer.add_packed_int32(13, v, v + 1); }), 1);
        row("uint32", tensorOf(22, [](auto& writer) { writer.add_uint32(16, 4'000'000'000u); }), 4e9);
        row("uint64", tensorOf(23, [](auto& writer) { writer.add_uint64(17, 5); }), 5);
        row("default value", tensorOf(1, [](auto&) {}), 0);
    }
    void scalarsOfEveryFormAreRead() {
        QFETCH(QByteArray, tensor);
        QFETCH(double, number);
        for (const char* plugin : {"", "scalars"}) {  // a tag's plug-in often stands at its first value only
            Event event;
            QVERIFY(parseEvent(bytesOf(eventWith([&](auto& writer) {
                writer.add_string(1, "m");
                if (*plugin) writer.add_message(9, metadataOf(plugin));
                writer.add_message(8, tensor.toStdString());
            })), event));
            QCOMPARE(event.values.size(), std::size_t{1});
            QVERIFY(event.values[0].kind == Kind::Scalar);
            QCOMPARE(event.values[0].number, number);
            QVERIFY(event.step == 7 && event.wallSeconds == 5.0);
        }
    }
    void whatIsNoScalarIsToldApart_data() {
        QTest::addColumn<QByteArray>("event");
        QTest::addColumn<int>("kind");
        const auto row = [](const char* name, Kind kind, const std::string& event) { QTest::newRow(name) << QByteArray::fromStdString(event) << static_cast<int>(kind); };
        const auto tensor = [](const std::string& plugin, const std::string& content) {
            return eventWith([&](auto& writer) { writer.add_string(1, "m"); writer.add_message(8, content); if (!plugin.empty()) writer.add_message(9, metadataOf(plugin)); });
        };
        const auto field = [](int number) { return eventWith([=](auto& writer) { writer.add_string(1, "m"); writer.add_message(number, std::string()); }); };
        row("histogram", Kind::Histogram, field(5));
        row("old histogram", Kind::Histogram, field(3));
        row("image", Kind::Image, field(4));
        row("audio", Kind::Audio, field(6));
        row("histogram tensor", Kind::Histogram, tensor("histograms", tensorOf(2, [](auto&) {}, 2)));
        row("image tensor", Kind::Image, tensor("images", tensorOf(7, [](auto& writer) { writer.add_bytes(8, "png"); }, 1)));
        row("vector", Kind::Tensor, tensor("", tensorOf(1, [](auto&) {}, 1)));
        row("curve", Kind::Tensor, tensor("pr_curves", tensorOf(1, [](auto&) {})));
        row("text", Kind::Text, tensor("text", tensorOf(7, [](auto& writer) { writer.add_bytes(8, "hello"); }, 1)));
        row("strings", Kind::Strings, tensor("", tensorOf(7, [](auto& writer) { writer.add_bytes(8, "hello"); }, 1)));
    }
    void whatIsNoScalarIsToldApart() {
        QFETCH(QByteArray, event);
        QFETCH(int, kind);
        Event read;
        QVERIFY(parseEvent(bytesOf(event.toStdString()), read));
        QCOMPARE(read.values.size(), std::size_t{1});
        QCOMPARE(static_cast<int>(read.values[0].kind), kind);
        if (kind == static_cast<int>(Kind::Text)) QCOMPARE(read.values[0].text, std::string("hello"));
    }
    void brokenMessagesAreNoEvents() {
        Event event;
        const std::string good = eventWith([](auto& writer) { writer.add_string(1, "loss"); writer.add_float(2, 1); });
        int broken = 0;
        for (std::size_t n = 1; n < good.size(); ++n) broken += parseEvent(bytesOf(good.substr(0, n)), event) ? 0 : 1;
        QVERIFY(broken > static_cast<int>(good.size()) / 2);  // cut between two fields it is still a message
        for (std::size_t at = 0; at < good.size(); ++at) {
            for (int value = 0; value < 256; ++value) {
                std::string bad = good;
                bad[at] = static_cast<char>(value);
                static_cast<void>(parseEvent(bytesOf(bad), event));  // whatever it says: no crash, no read beyond the end
            }
        }
        QVERIFY(!parseEvent(bytesOf("no protobuf at all"), event));
        QVERIFY(event.values.empty());
    }

    void aFlippedBitInALengthEndsTheFile() {
        const Bytes first = versionRecord() + scalarRecord(1, "loss", 1), second = scalarRecord(2, "loss", 2);
        for (std::size_t at = 0; at < 12; ++at) {
            Bytes bad = second;
            bad[at] ^= std::byte{0x10};
            const Read read = readAll(fileWith(first + bad + scalarRecord(3, "loss", 3)));
            QCOMPARE(read.payloads.size(), std::size_t{2});
            QVERIFY(read.progress.damaged);
            QCOMPARE(read.offset, std::uint64_t{first.size()});
        }
    }
    void aFlippedBitInDataLosesOneRecord() {
        const Bytes first = versionRecord(), second = scalarRecord(2, "loss", 2), third = scalarRecord(3, "loss", 3);
        for (std::size_t at = 12; at < second.size(); ++at) {
            Bytes bad = second;
            bad[at] ^= std::byte{0x01};
            const Read read = readAll(fileWith(first + bad + third));
            QCOMPARE(read.payloads.size(), std::size_t{2});
            QCOMPARE(read.progress.badRecords, std::uint64_t{1});
            QVERIFY(!read.progress.damaged && read.progress.unfinished == 0);
        }
    }
    void aRecordThatIsNotWholeYetIsWaitedFor() {
        const Bytes first = versionRecord(), second = scalarRecord(2, "loss", 2);
        for (std::size_t n = 0; n < second.size(); ++n) {
            const auto file = fileWith(first + Bytes(second.begin(), second.begin() + static_cast<std::ptrdiff_t>(n)));
            const Read half = readAll(file);
            QCOMPARE(half.payloads.size(), std::size_t{1});
            QCOMPARE(half.offset, std::uint64_t{first.size()});
            QCOMPARE(half.progress.unfinished, std::uint64_t{n});
            appendTo(file, std::span(second).subspan(n));
            const Read rest = readAll(file, half.offset);
            QCOMPARE(rest.payloads.size(), std::size_t{1});
            QCOMPARE(rest.progress.unfinished, std::uint64_t{0});
        }
    }
    void aHugeLengthTakesNoMemory() {
        Bytes head;
        put(head, std::uint64_t{1} << 62);
        put(head, maskedCrc(std::span<const std::byte>(head).first(8)));
        const Read read = readAll(fileWith(versionRecord() + head + scalarRecord(1, "loss", 1)));
        QCOMPARE(read.payloads.size(), std::size_t{1});
        QVERIFY(!read.progress.damaged && read.progress.unfinished > 0);
        // One that is there in full, as a hole of the file, is passed over.
        const std::uint64_t length = kLongestRecord + 1;
        Bytes sized;
        put(sized, length);
        put(sized, maskedCrc(std::span<const std::byte>(sized).first(8)));
        const auto file = fileWith(versionRecord() + sized);
        std::filesystem::resize_file(file, std::filesystem::file_size(file) + length + 4);
        appendTo(file, scalarRecord(1, "loss", 1));
        const Read passed = readAll(file);
        QCOMPARE(passed.payloads.size(), std::size_t{2});
        QCOMPARE(passed.progress.longRecords, std::uint64_t{1});
    }
    void smallBudgetsAddUpToTheWhole() {
        Bytes all = versionRecord();
        for (int i = 0; i < 50'000; ++i) all = std::move(all) + scalarRecord(i, "loss", 1);  // over two blocks of the reader
        const auto file = fileWith(all);
        auto reader = RecordReader::open(file, 0);
        int records = 0;
        for (bool more = true; more;) {
            const auto progress = reader->read(10'000, [&](std::span<const std::byte>) { ++records; });
            QVERIFY(progress.ok());
            more = progress->more;
        }
        QCOMPARE(records, 50'001);
    }
    void whatIsNoEventFileIsTold() {
        QVERIFY(readAll(fileWith({})).payloads.empty());
        const Read text = readAll(fileWith(Bytes(100, std::byte{'x'})));
        QVERIFY(text.payloads.empty() && text.progress.damaged);
        QVERIFY(!RecordReader::open(fresh(), 0).ok());
        QVERIFY(!RecordReader::open(m_folder.path().toStdString(), 0).ok());  // a folder
        const auto pipe = fresh();
        QVERIFY(::mkfifo(pipe.c_str(), 0600) == 0);
        QVERIFY(!RecordReader::open(pipe, 0).ok());  // and it does not wait for a writer
        const auto shrunk = fileWith(versionRecord());
        QVERIFY(readAll(shrunk, 1000).progress.shrunk);
    }

    void foldersAreFoundAndCirclesEnd() {
        const auto root = fresh();
        for (const char* name : {"events.out.tfevents.2.h", "b/events.out.tfevents.1.h", "b/deep/x.tfevents", "c/other.txt"}) appendTo(root / name, versionRecord());
        stdfs::create_directory_symlink(root, root / "b/again");
        stdfs::create_directory_symlink(root / "b", root / "linked");
        stdfs::create_symlink(root / "nowhere", root / "c/gone.tfevents");
        stdfs::create_directories(root / "c/folder.tfevents");
        QVERIFY(::mkfifo((root / "c/pipe.tfevents").c_str(), 0600) == 0);
        const auto found = findEventFolders(root);
        QVERIFY(found.ok());
        QCOMPARE(found->withEvents, (std::vector<std::string>{".", "b", "b/deep"}));
        QVERIFY(found->problems.empty());
        QCOMPARE(found->all.size(), std::size_t{5});
        QVERIFY(!findEventFolders(root / "missing").ok());
    }
    void filesComeInTheOrderOfTheirNames() {
        const auto root = fresh();
        for (const char* name : {"events.out.tfevents.1700010000.h.1.1", "events.out.tfevents.1700000000.h.1.0", "notes.txt", "old.tfevents.v2"}) appendTo(root / name, versionRecord());
        QCOMPARE(*eventFilesIn(root), (std::vector<std::string>{"events.out.tfevents.1700000000.h.1.0", "events.out.tfevents.1700010000.h.1.1", "old.tfevents.v2"}));
        QCOMPARE(sessionFileName(17, "host", 3), std::string("events.out.tfevents.0000000017.host.000003.0.0"));
    }
};

QTEST_GUILESS_MAIN(TestEventFiles)
#include "tst_event_files.moc"
