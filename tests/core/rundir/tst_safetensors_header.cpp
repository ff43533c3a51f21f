#include "rundir/safetensors_header.h"
#include "shared_data.h"

#include <QtTest/QTest>

#include <filesystem>
#include <random>

using namespace lathe;
using namespace lathe::rundir;

static std::string withLength(const std::string& json) {
    std::string out;
    for (int i = 0; i < 8; ++i) out += static_cast<char>(json.size() >> (8 * i) & 0xff);
    return out + json;
}

static Result<SafetensorsHeader> parse(const std::string& json, std::size_t dataBytes) {
    const std::string file = withLength(json) + std::string(dataBytes, '\0');
    return parseSafetensorsHeader(file, file.size(), "x.safetensors");
}

class TestSafetensorsHeader : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void whatIsWrittenIsReadBack() {
        std::vector<std::pair<std::string, TensorRange>> tensors = {
            {"b", {"F64", {2, 3}, 0, 0}}, {"a", {"BOOL", {5}, 0, 0}}, {"scalar", {"I64", {}, 0, 0}}, {"none", {"F32", {0, 4}, 0, 0}}};
        const std::string start = makeSafetensorsHeader(tensors, {{"format", "pt"}});
        QCOMPARE(start.size() % 64, std::size_t{0});
        QCOMPARE(tensors.at(0).second.begin, std::uint64_t{start.size()});
        const auto header = parseSafetensorsHeader(start, tensors.back().second.end, "x");
        QVERIFY2(header.ok(), header.ok() ? "" : header.error().text().c_str());
        QCOMPARE(header->tensors.size(), std::size_t{4});
        QCOMPARE(header->metadata.at("format"), std::string("pt"));
        for (const auto& [name, range] : tensors) {
            QCOMPARE(header->tensors.at(name).begin, range.begin);
            QCOMPARE(header->tensors.at(name).end, range.end);
            QVERIFY(header->tensors.at(name).shape == range.shape);
        }
    }
    void badHeadersAreRefused_data() {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<int>("dataBytes");
        QTest::addColumn<QByteArray>("says");
        const auto row = [](const char* name, const char* json, int bytes, const char* says) {
            QTest::newRow(name) << QByteArray(json) << bytes << QByteArray(says);
        };
        row("hole", R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[3,5]}})", 5, "hole");
        row("hole at the start", R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", 3, "hole");
        row("overlap", R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", 3, "overlap");
        row("trailing bytes", R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 3, "belong to no tensor");
        row("beyond the end", R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 3, "beyond");
        row("size", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "another size");
        row("overflow", R"({"a":{"dtype":"F64","shape":[4611686018427387904,4611686018427387904],"data_offsets":[0,0]}})", 0, "not possible");
        row("negative length", R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,0]}})", 0, "not possible");
        row("reversed", R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[2,0]}})", 2, "data_offsets");
        row("negative offset", R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[-2,0]}})", 2, "data_offsets");
        row("three offsets", R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2,4]}})", 2, "data_offsets");
        row("rank", R"({"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}})", 1, "not possible");
        row("dtype", R"({"a":{"dtype":"F7","shape":[1],"data_offsets":[0,1]}})", 1, "F7");
        row("twice", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1, "twice");
        row("float offset", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1.0]}})", 1, "integer");
        row("NaN", R"({"a":{"dtype":"U8","shape":[NaN],"data_offsets":[0,1]}})", 1, "JSON");
        row("list", "[]", 0, "begin with {");
        row("space first", " {}", 0, "begin with {");
        row("empty", "", 0, "begin with {");
        row("entry", R"({"a":[]})", 0, "object");
        row("metadata", R"({"__metadata__":{"x":1}})", 0, "text");
        row("cut", R"({"a":{)", 0, "JSON");
    }
    void badHeadersAreRefused() {
        QFETCH(QByteArray, json);
        QFETCH(int, dataBytes);
        QFETCH(QByteArray, says);
        const auto header = parse(json.toStdString(), static_cast<std::size_t>(dataBytes));
        QVERIFY(!header.ok());
        QCOMPARE(header.error().code, ErrorCode::Corrupt);
        QVERIFY2(header.error().sentence.find(says.toStdString()) != std::string::npos, header.error().sentence.c_str());
    }
    void lengthsThatLieAreRefused() {
        for (const std::string& file : {std::string(), std::string(7, '\0'), std::string(8, '\xff'), std::string("\xff\xff\xff\x7f\0\0\0\0{}", 10),
                                        std::string("\x09\0\0\0\0\0\0\0{}", 10)}) {
            const auto header = parseSafetensorsHeader(file, file.size(), "x");
            QVERIFY(!header.ok() && header.error().code == ErrorCode::Corrupt);
        }
    }
    void everyTruncationAndChangedByteIsHandled() {
        std::vector<std::pair<std::string, TensorRange>> tensors = {{"weight", {"F32", {3, 2}, 0, 0}}, {"bias", {"F32", {3}, 0, 0}}};
        std::string file = makeSafetensorsHeader(tensors, {});
        file.resize(tensors.back().second.end);
        for (std::size_t length = 0; length < file.size(); ++length)
            QVERIFY(!parseSafetensorsHeader(std::string_view(file).substr(0, length), length, "x").ok());
        std::mt19937 random(7);
        for (int i = 0; i < 20000; ++i) {
            std::string changed = file;
            for (unsigned n = 0; n <= random() % 3; ++n) changed[random() % changed.size()] = static_cast<char>(random());
            const auto header = parseSafetensorsHeader(changed, changed.size(), "x");
            for (const auto& [name, range] : header ? header->tensors : std::map<std::string, TensorRange>())
                QVERIFY(range.begin <= range.end && range.end <= changed.size());
        }
    }
    void filesOfOtherProgramsAreRead() {
        int read = 0;
        std::error_code ignored;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(sharedData(), ignored)) {
            if (entry.path().extension() != ".safetensors") continue;
            const auto header = readSafetensorsHeader(entry.path().string());
            QVERIFY2(header.ok(), header.ok() ? "" : header.error().text().c_str());
            ++read;
        }
        if (read == 0) QSKIP("no shared data on this machine");
    }
};

QTEST_GUILESS_MAIN(TestSafetensorsHeader)
#include "tst_safetensors_header.moc"
