#include "base/file_system.h"
#include "base/hash.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/safetensors_header.h"

#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <fstream>

using namespace lathe;
using namespace lathe::rundir;
namespace stdfs = std::filesystem;

static FileSystem& disk() { return FileSystem::real(); }

static void put(const stdfs::path& file, std::string_view text) { QVERIFY(replaceFile(disk(), file, text).ok()); }

static FileEntry entryOf(const std::string& name, const std::string& content) {
    return {name, content.size(), hashHex(std::as_bytes(std::span(content)))};
}

static CheckpointManifest makeCheckpoint(const stdfs::path& folder, std::int64_t step, const std::map<std::string, std::string>& metrics = {}) {
    std::vector<std::pair<std::string, TensorRange>> tensors = {{"weight", {"F32", {2, 3}, 0, 0}}};
    std::string model = makeSafetensorsHeader(tensors, {});
    model.resize(tensors.front().second.end, 'w');
    const std::string trainer = "{}";
    CheckpointManifest manifest;
    manifest.runId = "abc";
    manifest.session = parseCheckpointName(folder.filename().string())->session;
    manifest.counters.globalStep = GlobalStep(step);
    manifest.counters.updateAttempts = UpdateAttempt(step + 2);
    manifest.wallNs = 5;
    manifest.metrics = metrics;
    manifest.lastFrame = {{0, 77}};
    manifest.layout = "single";
    manifest.files = {entryOf("model-00000.safetensors", model), entryOf("trainer.json", trainer)};
    manifest.tensors = {{"weight", "parameter", "F32", {2, 3}, {{"model-00000.safetensors", "weight", {0, 0}, {2, 3}}}}};
    if (!makeFolders(disk(), folder).ok()) qFatal("no folder");
    put(folder / "model-00000.safetensors", model);
    put(folder / "trainer.json", trainer);
    put(folder / "manifest.json", manifestJson(manifest));
    return manifest;
}

static CheckpointInfo info(int session, std::int64_t step, const char* accuracy = nullptr) {
    CheckpointInfo out;
    out.session = session;
    out.step = GlobalStep(step);
    out.folder = checkpointName(session, out.step);
    if (accuracy != nullptr) out.metrics["eval/accuracy"] = accuracy;
    return out;
}

class TestCheckpointFolder : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    int m_serial = 0;

    stdfs::path fresh() { return stdfs::path(m_folder.path().toStdString()) / std::to_string(++m_serial); }

private Q_SLOTS:
    void namesReadBackAndHaveOneSpelling() {
        QCOMPARE(checkpointName(3, GlobalStep(120)), std::string("s003-000000120"));
        for (const auto& [session, step] : {std::pair{1, 9L}, {999, 10L}, {1000, 1234567890123L}, {0, 0L}}) {
            const auto back = parseCheckpointName(checkpointName(session, GlobalStep(step)));
            QVERIFY(back && back->session == session && back->step == GlobalStep(step));
        }
        for (const char* name : {"", "s", "s3-120", "s003-120", "s003000000120", "x003-000000120", ".s003-000000120", "s003-000000120/..",
                                 "s-03-000000120", "s003-00000012a", "s99999999999999999999-000000001"})
            QVERIFY2(!parseCheckpointName(name), name);
    }
    void aManifestIsReadBackEqual() {
        const auto folder = fresh() / "s003-000000120";
        const CheckpointManifest manifest = makeCheckpoint(folder, 120, {{"eval/loss", "nan"}});
        const auto back = readCheckpoint(folder);
        QVERIFY2(back.ok(), back.ok() ? "" : back.error().text().c_str());
        QCOMPARE(manifestJson(*back), manifestJson(manifest));
        const auto verified = verifyCheckpoint(folder);
        QVERIFY(verified.ok() && verified->ok());
        QCOMPARE(verified->filesChecked, std::uint64_t{2});
    }
    void aFlippedByteNamesItsFile() {
        const auto folder = fresh() / "s001-000000010";
        makeCheckpoint(folder, 10);
        const auto file = folder / "model-00000.safetensors";
        std::string content = *readFile(file, 1 << 20);
        for (std::size_t i = 0; i < content.size(); ++i) {
            content[i] = static_cast<char>(content[i] ^ 1);
            put(file, content);
            const auto verified = verifyCheckpoint(folder);
            QVERIFY(verified.ok() && verified->badFiles.size() == 1);
            QVERIFY(verified->badFiles.front().name == "model-00000.safetensors");
            content[i] = static_cast<char>(content[i] ^ 1);
        }
    }
    void piecesMustMatchTheirFile() {
        const auto folder = fresh() / "s001-000000010";
        CheckpointManifest manifest = makeCheckpoint(folder, 10);
        manifest.tensors.front().shape = {3, 2};
        manifest.tensors.front().pieces.front().shape = {3, 2};
        put(folder / "manifest.json", manifestJson(manifest));
        QVERIFY(readCheckpoint(folder).ok());
        QVERIFY(!verifyCheckpoint(folder)->ok());
        manifest.tensors.front().pieces.front().key = "other";
        put(folder / "manifest.json", manifestJson(manifest));
        QVERIFY(verifyCheckpoint(folder)->badFiles.front().why.find("lacks") != std::string::npos);
    }
    void unusableCheckpointsSayWhy() {
        const auto all = fresh();
        makeCheckpoint(all / "s001-000000010", 10);
        makeCheckpoint(all / "s001-000000020", 20);
        makeCheckpoint(all / "s001-000000030", 30);
        makeCheckpoint(all / "s001-000000040", 40);
        makeCheckpoint(all / "s001-000000050", 50);
        stdfs::remove(all / "s001-000000020/trainer.json");
        stdfs::resize_file(all / "s001-000000030/model-00000.safetensors", 10);
        stdfs::rename(all / "s001-000000040", all / ".s001-000000040");
        stdfs::rename(all / "s001-000000050", all / "s001-000000051");
        QVERIFY(makeFolders(disk(), all / "s001-000000060").ok());
        QVERIFY(makeFolders(disk(), all / "notes").ok());
        const auto list = listCheckpoints(all, {"s001-000000010"});
        QCOMPARE(list.size(), std::size_t{6});
        QVERIFY(list.at(0).problem.empty() && list.at(0).pinned && list.at(0).bytes > 24);
        for (const auto& [i, says] : {std::pair{1, "trainer.json"}, {2, "bytes"}, {3, "Incomplete"}, {4, "named for step 51"}, {5, "Incomplete"}})
            QVERIFY2(list.at(static_cast<std::size_t>(i)).problem.find(says) != std::string::npos, list.at(static_cast<std::size_t>(i)).problem.c_str());
    }
    void aManifestOfTheFirstFormatHasNoSeal() {
        const auto folder = fresh() / "s001-000000010";
        const std::string text = manifestJson(makeCheckpoint(folder, 10));
        std::string old = text.substr(0, text.rfind(",\n \"seal\"")) + "\n}\n";
        QVERIFY(!parseManifest(old).ok());
        old.replace(old.find("\"format\": 2"), 11, "\"format\": 1");
        QVERIFY(parseManifest(old).ok());
    }
    /// RELIABILITY F7: at every length, and one bit in every byte, of every file
    void nothingThatWasCutOrFlippedIsTaken() {
        const auto folder = fresh() / "s001-000000010";
        makeCheckpoint(folder, 10);
        std::size_t tried = 0;
        const std::vector<std::string> names = *listFolder(folder);
        for (const std::string& name : names) {
            const std::string whole = *readFile(folder / name, 1 << 20);
            const auto isRefused = [&](const std::string& damaged) {
                std::ofstream(folder / name, std::ios::binary | std::ios::trunc) << damaged;
                ++tried;
                const auto verified = verifyCheckpoint(folder);
                return !verified.ok() ? verified.error().text().find("manifest.json") != std::string::npos : !verified->ok() && verified->badFiles.front().name == name;
            };
            for (std::size_t length = 0; length < whole.size(); ++length) QVERIFY2(isRefused(whole.substr(0, length)), (name + " cut at " + std::to_string(length)).c_str());
            for (std::size_t at = 0; at < whole.size(); ++at) {
                std::string flipped = whole;
                flipped[at] ^= static_cast<char>(1u << at % 8);
                QVERIFY2(isRefused(flipped), (name + ", byte " + std::to_string(at)).c_str());
            }
            put(folder / name, whole);
        }
        QVERIFY(verifyCheckpoint(folder)->ok());
        qInfo("%zu damaged checkpoints, none taken", tried);
    }
    void aManifestThatClimbsOutIsRefused_data() {
        QTest::addColumn<QByteArray>("from");
        QTest::addColumn<QByteArray>("to");
        QTest::addColumn<int>("code");
        const int corrupt = int(ErrorCode::Corrupt);
        QTest::newRow("climbing") << QByteArray("\"trainer.json\"") << QByteArray("\"../trainer.json\"") << corrupt;
        QTest::newRow("absolute") << QByteArray("\"trainer.json\"") << QByteArray("\"/etc/passwd\"") << corrupt;
        QTest::newRow("hidden") << QByteArray("\"trainer.json\"") << QByteArray("\".trainer.json\"") << corrupt;
        QTest::newRow("twice") << QByteArray("\"trainer.json\"") << QByteArray("\"model-00000.safetensors\"") << corrupt;
        QTest::newRow("role type") << QByteArray("\"parameter\"") << QByteArray("1") << corrupt;
        QTest::newRow("dtype") << QByteArray("\"F32\"") << QByteArray("\"F99\"") << corrupt;
        QTest::newRow("newer") << QByteArray("\"format\": 2") << QByteArray("\"format\": 3") << int(ErrorCode::Version);
        QTest::newRow("negative counter") << QByteArray("\"global_step\": 10") << QByteArray("\"global_step\": -10") << corrupt;
        QTest::newRow("file unknown") << QByteArray("\"file\": \"model-00000") << QByteArray("\"file\": \"modem-00000") << corrupt;
    }
    void aManifestThatClimbsOutIsRefused() {
        QFETCH(QByteArray, from);
        QFETCH(QByteArray, to);
        QFETCH(int, code);
        const auto folder = fresh() / "s001-000000010";
        makeCheckpoint(folder, 10);
        QByteArray text = QByteArray::fromStdString(*readFile(folder / "manifest.json", 1 << 20));
        QVERIFY(text.contains(from));
        put(folder / "manifest.json", sealed(text.replace(from, to).toStdString()));
        const auto manifest = readCheckpoint(folder);
        QVERIFY(!manifest.ok());
        QCOMPARE(int(manifest.error().code), code);
    }
    void piecesMustTileTheirTensor() {
        const auto folder = fresh() / "s001-000000010";
        CheckpointManifest manifest = makeCheckpoint(folder, 10);
        const std::string file = "model-00000.safetensors";
        const auto judged = [&](std::vector<Piece> pieces) {
            manifest.tensors.front().pieces = std::move(pieces);
            return parseManifest(manifestJson(manifest)).ok();
        };
        QVERIFY(judged({{file, "a", {0, 0}, {1, 3}}, {file, "b", {1, 0}, {1, 3}}}));
        QVERIFY(!judged({{file, "a", {0, 0}, {1, 3}}}));
        QVERIFY(!judged({{file, "a", {0, 0}, {1, 3}}, {file, "b", {0, 0}, {1, 3}}}));
        QVERIFY(!judged({{file, "a", {1, 0}, {2, 3}}}));
        QVERIFY(!judged({{file, "a", {-1, 0}, {2, 3}}}));
        QVERIFY(!judged({{file, "a", {0}, {6}}}));
        QVERIFY(!judged({{file, "a", {0, 0}, {2, 9223372036854775807}}}));
        QVERIFY(!judged({}));
    }
    void ofEqualOnesTheLowerLossIsBest() {
        std::vector<CheckpointInfo> all = {info(1, 20, "1"), info(1, 40, "1"), info(1, 60, "1"), info(1, 80, "0.9")};
        all[0].metrics["eval/loss"] = "1.057";
        all[1].metrics["eval/loss"] = "5e-06";
        all[2].metrics["eval/loss"] = "5e-06";
        all[3].metrics["eval/loss"] = "1e-9";
        const auto ranked = bestFirst(all, "eval/accuracy", true);
        QCOMPARE(ranked.size(), std::size_t(4));
        QVERIFY(ranked[0] == &all[1] && ranked[1] == &all[2] && ranked[2] == &all[0] && ranked[3] == &all[3]);
    }

    void whatReReadingFoundIsListed() {
        const stdfs::path checkpoints = fresh();
        makeCheckpoint(checkpoints / "s001-000000010", 10);
        makeCheckpoint(checkpoints / "s001-000000020", 20);
        put(checkpoints / "s001-000000020/model-00000.safetensors", readFile(checkpoints / "s001-000000010/model-00000.safetensors", 1u << 20).value() + "x");
        for (const char* name : {"s001-000000010", "s001-000000020"})
            QVERIFY(writeVerified(disk(), checkpoints / name, verifyCheckpoint(checkpoints / name, {.fromDisk = true}).value(), 77).ok());
        const auto all = listCheckpoints(checkpoints);
        QCOMPARE(all[0].verifiedNs, 77);
        QVERIFY(all[0].problem.empty());
        QCOMPARE(all[1].verifiedNs, 0);
        QVERIFY2(all[1].problem.find("model-00000.safetensors") != std::string::npos, all[1].problem.c_str());
        put(checkpoints / "s001-000000010/verified.json", "{\"format\": 1, \"wall_ns\": \"x\"}");   // says nothing
        QCOMPARE(listCheckpoints(checkpoints)[0].verifiedNs, 0);
        QVERIFY(listCheckpoints(checkpoints)[0].problem.empty());
    }
    void damageThatOnlyReReadingFindsIsListed() {
        const stdfs::path checkpoints = fresh();
        makeCheckpoint(checkpoints / "s001-000000010", 10);
        std::string content = readFile(checkpoints / "s001-000000010/model-00000.safetensors", 1u << 20).value();
        content.back() = static_cast<char>(content.back() ^ 1);
        put(checkpoints / "s001-000000010/model-00000.safetensors", content);
        QVERIFY(listCheckpoints(checkpoints)[0].problem.empty());
        QVERIFY(writeVerified(disk(), checkpoints / "s001-000000010", verifyCheckpoint(checkpoints / "s001-000000010").value(), 77).ok());
        const auto all = listCheckpoints(checkpoints);
        QVERIFY2(all[0].problem.starts_with("Damaged: model-00000.safetensors"), all[0].problem.c_str());
    }
    void readingCanBeGivenUp() {
        const stdfs::path checkpoints = fresh();
        makeCheckpoint(checkpoints / "s001-000000010", 10);
        const auto found = verifyCheckpoint(checkpoints / "s001-000000010", {.goesOn = [] { return false; }});
        QVERIFY(!found.ok());
        QCOMPARE(found.error().code, ErrorCode::Stopped);
    }
};

QTEST_GUILESS_MAIN(TestCheckpointFolder)
#include "tst_checkpoint_folder.moc"
