// Checkpoints: everything comes back, whatever is damaged is named and loads nothing, a failed save leaves nothing.
#include "checkpoint_fixture.h"
#include "engine/checkpoint/checkpoint_reader.h"
#include "engine/train/curve.h"
#include "base/hash.h"
#include "rundir/checkpoint_publishing.h"
#include "rundir/safetensors_header.h"

#include <QtTest>

#include <algorithm>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace lathe;
using namespace lathe::engine;
using namespace lathe::engine::test;

namespace {

std::string slurp(const stdfs::path& file) { return readFile(file, 1u << 26).value(); }

void spit(const stdfs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

QString textOf(const Error& error) { return QString::fromStdString(error.text()); }

}  // namespace

class CheckpointTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_folder = m_temporary->path().toStdString();
    }

    void everythingComesBack() {
        Bench saved(m_folder);
        saved.train(10);
        saved.best->take({{"loss", 0.25}}, GlobalStep(4));
        saved.progress.skippedInARow = 3;
        const auto outcome = saved.save();
        QVERIFY2(outcome.ok(), outcome.ok() ? "" : outcome.error().text().c_str());
        QCOMPARE(outcome->folder, std::string("s001-000000010"));

        Bench loaded(m_folder);
        const auto checkpoint = loadCheckpoint(m_folder / outcome->folder, loaded.state);
        QVERIFY2(checkpoint.ok(), checkpoint.ok() ? "" : checkpoint.error().text().c_str());
        QVERIFY(at::equal(loaded.model.p(), saved.model.p()));
        QCOMPARE(loaded.state.digest(), saved.state.digest());
        QVERIFY(loaded.progress.counters == saved.progress.counters);
        QCOMPARE(loaded.progress.skippedInARow, 3);
        QCOMPARE(*loaded.best->value(), 0.25);
        QCOMPARE(checkpoint->record.probe.gradNorm, std::string("nan"));
        QCOMPARE(checkpoint->manifest.metrics.at("eval/loss"), std::string("0.1"));
        QVERIFY(checkpoint->manifest.best);

        saved.train(1);  // update 11 is the same bits on both sides: Adam's count was restored
        loaded.train(1);
        QVERIFY(at::equal(loaded.model.p(), saved.model.p()));
    }

    void plainSafetensorsHoldTheModelsNames() {
        Bench saved(m_folder);
        QVERIFY(saved.save().ok());
        const auto header = rundir::readSafetensorsHeader((m_folder / "s001-000000000/model-00000.safetensors").string());
        QVERIFY(header.ok());
        QVERIFY(header->tensors.contains("p") && header->tensors.contains("seen"));
        QCOMPARE(header->tensors.size(), std::size_t(2));
    }

    void onlyTheOwnerMayReadIt() {
        Bench saved(m_folder);
        QVERIFY(saved.save().ok());
        for (const auto& entry : stdfs::recursive_directory_iterator(m_folder)) {
            const auto permissions = entry.status().permissions();
            QCOMPARE(permissions & (stdfs::perms::group_all | stdfs::perms::others_all), stdfs::perms::none);
        }
    }

    void flippedByteIsNamedAndNothingIsLoaded_data() {
        QTest::addColumn<QString>("file");
        for (const char* file : {"model-00000.safetensors", "optimizer-00000.safetensors", "trainer.json"}) QTest::newRow(file) << file;
    }
    /// SEMANTICS G1: a flipped bit is found by its hash
    void flippedByteIsNamedAndNothingIsLoaded() {
        QFETCH(QString, file);
        Bench saved(m_folder);
        saved.train(3);
        QVERIFY(saved.save().ok());
        const stdfs::path path = m_folder / "s001-000000003" / file.toStdString();
        std::string content = slurp(path);
        content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 0x10);
        spit(path, content);
        Bench other(m_folder);
        const std::string before = other.state.digest();
        const auto loaded = loadCheckpoint(m_folder / "s001-000000003", other.state);
        QVERIFY(!loaded.ok());
        QVERIFY2(textOf(loaded.error()).contains(file), loaded.error().text().c_str());
        QCOMPARE(loaded.error().code, ErrorCode::Corrupt);
        QCOMPARE(other.state.digest(), before);
    }

    /// SEMANTICS G1: wherever it lies in a file that is read in many blocks, by several threads
    void aFlippedByteIsFoundInAnyBlock() {
        Bench saved(m_folder, 300'000);
        saved.train(1);
        QVERIFY(saved.save().ok());
        const stdfs::path path = m_folder / "s001-000000001/optimizer-00000.safetensors";
        const std::string whole = slurp(path);
        Bench other(m_folder, 300'000);
        const std::string before = other.state.digest();
        for (const std::size_t at : {std::size_t(0), std::size_t(262'143), std::size_t(262'144), whole.size() / 2, whole.size() - 1}) {
            std::string content = whole;
            content[at] = static_cast<char>(content[at] ^ 1);
            spit(path, content);
            const auto loaded = loadCheckpoint(m_folder / "s001-000000001", other.state);
            QVERIFY2(!loaded.ok(), std::to_string(at).c_str());
            QCOMPARE(loaded.error().sentence, std::string("optimizer-00000.safetensors is damaged: its content does not match its checksum. Choose another checkpoint"));
            QCOMPARE(other.state.digest(), before);
        }
        spit(path, whole);
        QVERIFY(loadCheckpoint(m_folder / "s001-000000001", other.state).ok());
        QCOMPARE(other.state.digest(), saved.state.digest());
    }

    /// SEMANTICS G1: between the check and the reading, where a mapping would end the process
    void aFileThatIsCutShortMeanwhileIsAnError() {
        Bench saved(m_folder, 300'000);
        saved.train(1);
        QVERIFY(saved.save().ok());
        const stdfs::path path = m_folder / "s001-000000001/optimizer-00000.safetensors";
        const auto cut = [&](std::uint64_t done, std::uint64_t total) {
            if (done == total) stdfs::resize_file(path, 1'000'000);
        };
        Bench other(m_folder, 300'000);
        const auto loaded = loadCheckpoint(m_folder / "s001-000000001", other.state, cut);
        QVERIFY(!loaded.ok());
        QCOMPARE(loaded.error().code, ErrorCode::Corrupt);
        QVERIFY2(textOf(loaded.error()).contains("optimizer-00000.safetensors was cut short: it ends after 1000000 bytes"), loaded.error().text().c_str());
    }

    /// A tensor in several pieces, and one that lies in memory in another order than in the file
    void piecesAndOtherLayoutsComeBack() {
        const stdfs::path folder = m_folder / "s001-000000000";
        Bench saved(m_folder);
        QVERIFY(saved.save().ok());
        auto manifest = rundir::readCheckpoint(folder).value();
        std::vector<std::pair<std::string, rundir::TensorRange>> tensors{{"top", {"F32", {2, 3}, 0, 0}}, {"bottom", {"F32", {1, 3}, 0, 0}}};
        std::string content = rundir::makeSafetensorsHeader(tensors, {});
        const at::Tensor values = at::arange(9, at::kFloat).view({3, 3});
        content.append(static_cast<const char*>(values.const_data_ptr()), values.nbytes());
        const std::string name = "model-00000.safetensors";
        spit(folder / name, content);
        for (rundir::FileEntry& file : manifest.files)
            if (file.name == name) file = {name, content.size(), hashHex(std::as_bytes(std::span(content)))};
        manifest.tensors = {{"w", "parameter", "F32", {3, 3}, {{name, "top", {0, 0}, {2, 3}}, {name, "bottom", {2, 0}, {1, 3}}}}};
        spit(folder / "manifest.json", rundir::manifestJson(manifest));
        for (const at::Tensor& target : {at::zeros({3, 3}), at::zeros({3, 3}).t(), at::zeros({3, 6}).narrow(1, 1, 3)}) {
            const auto loaded = loadCheckpointWeights(folder, {{.name = "w", .role = "parameter", .tensor = target}});
            QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().text().c_str());
            QVERIFY(at::equal(target, values));
        }
        manifest.tensors[0].pieces = {{"trainer.json", "w", {0, 0}, {3, 3}}};
        spit(folder / "manifest.json", rundir::manifestJson(manifest));
        const auto refused = loadCheckpointWeights(folder, {{.name = "w", .role = "parameter", .tensor = at::zeros({3, 3})}});
        QVERIFY(!refused.ok());
        QVERIFY2(textOf(refused.error()).contains("trainer.json lacks the tensor"), refused.error().text().c_str());
    }

    void truncatedAndMissingFilesAreNamed_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<bool>("remove");
        for (const char* file : {"model-00000.safetensors", "optimizer-00000.safetensors", "trainer.json", "manifest.json"}) {
            QTest::addRow("%s missing", file) << file << true;
            QTest::addRow("%s cut", file) << file << false;
        }
    }
    /// SEMANTICS G1: so is a file cut short
    void truncatedAndMissingFilesAreNamed() {
        QFETCH(QString, file);
        QFETCH(bool, remove);
        Bench saved(m_folder);
        saved.train(3);
        QVERIFY(saved.save().ok());
        const stdfs::path path = m_folder / "s001-000000003" / file.toStdString();
        if (remove) stdfs::remove(path);
        else stdfs::resize_file(path, stdfs::file_size(path) / 2);
        Bench other(m_folder);
        const std::string before = other.state.digest();
        const auto loaded = loadCheckpoint(m_folder / "s001-000000003", other.state);
        QVERIFY(!loaded.ok());
        QVERIFY2(textOf(loaded.error()).contains(file), loaded.error().text().c_str());
        QCOMPARE(other.state.digest(), before);
    }

    void newerVersionIsRefusedByNumber() {
        Bench saved(m_folder);
        QVERIFY(saved.save().ok());
        const stdfs::path path = m_folder / "s001-000000000/manifest.json";
        std::string text = slurp(path);
        text.replace(text.find("\"format\": 2"), 11, "\"format\": 9");
        spit(path, text);
        const auto loaded = loadCheckpoint(m_folder / "s001-000000000", saved.state);
        QVERIFY(!loaded.ok());
        QCOMPARE(loaded.error().code, ErrorCode::Version);
        QVERIFY(textOf(loaded.error()).contains("9"));
    }

    void everyMisfitIsListedAtOnce() {
        Bench saved(m_folder, 5);
        saved.train(2);
        QVERIFY(saved.save().ok());
        Bench wider(m_folder, 6), renamed(m_folder, 5, false, "other.");
        const auto shapes = loadCheckpoint(m_folder / "s001-000000002", wider.state);
        QVERIFY(!shapes.ok());
        QVERIFY2(textOf(shapes.error()).contains("p has shape [5], this model needs [6]"), shapes.error().text().c_str());
        QVERIFY(textOf(shapes.error()).contains("p/exp_avg_sq has shape [5]"));
        const auto names = loadCheckpoint(m_folder / "s001-000000002", renamed.state);
        QVERIFY(!names.ok());
        for (const char* part : {"other.p is missing", "other.seen is missing", "p is not in this run", "seen is not in this run"})
            QVERIFY2(textOf(names.error()).contains(part), names.error().text().c_str());
        QVERIFY(at::equal(renamed.model.p(), at::ones({5})));
    }

    void unknownAndMissingStateIsAnError() {
        Bench saved(m_folder);
        QVERIFY(saved.save().ok());
        Bench more(m_folder);
        Curve curve = Curve::make({}, GlobalStep(10)).value();
        more.state.add(curve);
        const auto missing = loadCheckpoint(m_folder / "s001-000000000", more.state);
        QVERIFY(!missing.ok());
        QVERIFY2(textOf(missing.error()).contains("“schedule” is missing"), missing.error().text().c_str());
        QVERIFY(more.save().ok());
        const auto unknown = loadCheckpoint(m_folder / "s001-000000000", saved.state);
        QVERIFY(!unknown.ok());
        QVERIFY2(textOf(unknown.error()).contains("“schedule” is unknown"), unknown.error().text().c_str());
    }

    void weightsAloneLeaveTheRest() {
        Bench saved(m_folder);
        saved.train(5);
        QVERIFY(saved.save().ok());
        Bench fresh(m_folder);
        QVERIFY(loadCheckpointWeights(m_folder / "s001-000000005", fresh.modelState->stateTensors()).ok());
        QVERIFY(at::equal(fresh.model.p(), saved.model.p()));
        QCOMPARE(fresh.optimizer->updates(), 0);
        QCOMPARE(fresh.progress.counters.globalStep.value(), 0);
    }

    void unchangedFrozenTensorsAreLinked() {
        Bench saved(m_folder, 5, true);
        QVERIFY(saved.save().ok());
        saved.train(1);
        const auto second = saved.again();
        QVERIFY(second.ok());
        const std::string file = "frozen-00000.safetensors";
        QCOMPARE(inodeOf(m_folder / "s001-000000000" / file), inodeOf(m_folder / "s001-000000001" / file));
        QVERIFY(second->linkedBytes > 0);
        QVERIFY(inodeOf(m_folder / "s001-000000000/model-00000.safetensors") != inodeOf(m_folder / "s001-000000001/model-00000.safetensors"));
        saved.train(1);
        saved.files.failLink = true;  // another file system: copied instead
        QVERIFY(saved.again().ok());
        QVERIFY(inodeOf(m_folder / "s001-000000002" / file) != inodeOf(m_folder / "s001-000000001" / file));
        QCOMPARE(slurp(m_folder / "s001-000000002" / file), slurp(m_folder / "s001-000000001" / file));
        stdfs::remove_all(m_folder / "s001-000000000");
        QVERIFY(rundir::verifyCheckpoint(m_folder / "s001-000000001")->ok());
    }

    /// SEMANTICS G5: the save says what it needs and what is there, leaves the one before, and works once there is room
    void missingSpaceIsToldBeforeAnythingIsWritten() {
        Bench saved(m_folder);
        saved.train(1);
        QVERIFY(saved.save().ok());
        saved.train(1);
        saved.files.free = 1000;
        const auto full = saved.again();
        QVERIFY(!full.ok());
        QCOMPARE(full.error().code, ErrorCode::NoSpace);
        QVERIFY2(textOf(full.error()).contains("need 1.0") && textOf(full.error()).contains("have 1"), full.error().text().c_str());
        QCOMPARE(rundir::listCheckpoints(m_folder).size(), std::size_t(1));
        saved.files.free.reset();
        QVERIFY(saved.again().ok());
    }

    /// SEMANTICS G2, G5: whichever file cannot be written, nothing of the save stays and the one before still loads
    void failureAtAnyFileLeavesNothingBehind() {
        Bench saved(m_folder);
        saved.train(1);
        QVERIFY(saved.save().ok());
        saved.train(1);
        int failures = 0;
        for (int n = 0; n < 20; ++n, ++failures) {
            saved.files.createsLeft = n;
            if (saved.again().ok()) break;
            QCOMPARE(listFolder(m_folder)->size(), std::size_t(1));
            Bench loaded(m_folder);
            QVERIFY(loadCheckpoint(m_folder / "s001-000000001", loaded.state).ok());
        }
        QCOMPARE(failures, 4);  // model, optimizer, trainer.json, manifest.json
        saved.files.createsLeft = -1;
        saved.train(1);
        saved.files.failRename = true;
        QVERIFY(!saved.again().ok());
        QCOMPARE(listFolder(m_folder)->size(), std::size_t(2));
    }

    /// SEMANTICS P7: every file and the folder are synced before the rename that publishes them, the manifest after all others
    void everythingIsDurableBeforeItIsPublished() {
        Bench saved(m_folder);
        saved.train(1);
        QVERIFY(saved.save().ok());
        const auto& told = saved.files.told;
        const auto place = [&](const std::string& what) { return std::find(told.begin(), told.end(), what) - told.begin(); };
        const auto all = std::ssize(told), published = place("rename to s001-000000001"), manifest = place("create manifest.json");
        QVERIFY(published < all && manifest < all);
        for (const char* file : {"model-00000.safetensors", "optimizer-00000.safetensors", "trainer.json"}) QVERIFY2(place(std::string("sync ") + file) < manifest, file);
        QVERIFY(place("sync manifest.json") < published && place("sync .s001-000000001") < published);
        QCOMPARE(place("sync " + m_folder.filename().string()), published + 1);
    }

    /// SEMANTICS G1: killed at each of fifty calls to the disk, within a write too: what is listed is whole, and the newest is the previous or the next
    void killedAtAnyCallTheNewestIsThePreviousOrTheNext() {
        Bench first(m_folder);
        QVERIFY(first.save().ok());
        std::int64_t newest = 0;
        int torn = 0;
        for (int call = 0; call < 50; ++call) {
            Bench bench(m_folder);
            QVERIFY(loadCheckpoint(m_folder / rundir::checkpointName(1, GlobalStep(newest)), bench.state).ok());
            const pid_t child = ::fork();
            if (child == 0) {
                bench.files.faults.kill.at = call;
                bench.train(1);
                while (bench.writer ? bench.again().ok() : bench.save().ok()) bench.train(1);
                ::_exit(1);
            }
            int status = 0;
            QCOMPARE(::waitpid(child, &status, 0), child);
            QVERIFY2(WIFSIGNALED(status), "a save failed");
            std::vector<std::string> names = listFolder(m_folder).value();
            torn += static_cast<int>(std::erase_if(names, [](const std::string& name) { return !rundir::parseCheckpointName(name); }));
            const std::int64_t before = newest;
            for (const std::string& name : names) {
                QVERIFY2(rundir::verifyCheckpoint(m_folder / name)->ok(), name.c_str());
                newest = std::max(newest, rundir::parseCheckpointName(name)->step.value());
            }
            QVERIFY2(std::ssize(names) == newest - before + 1, "a checkpoint is gone");
            for (std::int64_t step = before; step < newest; ++step) QVERIFY(removeTree(FileSystem::real(), m_folder / rundir::checkpointName(1, GlobalStep(step))).ok());
        }
        qInfo("%d of 50 kills left a torn save, the newest is %lld", torn, static_cast<long long>(newest));
        QVERIFY(torn > 10 && newest > 0);
    }

    void replacingOneOfItsNameHasNoMomentWithoutIt_data() {
        QTest::addColumn<bool>("cannotExchange");
        QTest::newRow("in one step") << false;
        QTest::newRow("in two, where the disk cannot exchange names") << true;
    }
    /// SEMANTICS G1: the same for a save that replaces the checkpoint of its step; in two steps once what it left is cleared
    void replacingOneOfItsNameHasNoMomentWithoutIt() {
        QFETCH(bool, cannotExchange);
        Bench first(m_folder);
        QVERIFY(first.save().ok());
        bool isKilled = true;
        int kills = 0;
        for (; isKilled && kills < 200; ++kills) {
            Bench bench(m_folder);
            bench.files.cannotExchange = cannotExchange;
            const pid_t child = ::fork();
            if (child == 0) {
                bench.files.faults.kill.at = kills;
                ::_exit(bench.save().ok() ? 0 : 1);
            }
            int status = 0;
            QCOMPARE(::waitpid(child, &status, 0), child);
            isKilled = WIFSIGNALED(status);
            QVERIFY2(isKilled || WEXITSTATUS(status) == 0, "a save failed");
            if (cannotExchange) rundir::clearUnfinished(FileSystem::real(), m_folder);
            QVERIFY2(stdfs::exists(m_folder / "s001-000000000"), qPrintable(QString("gone at call %1").arg(kills)));
            QVERIFY(rundir::verifyCheckpoint(m_folder / "s001-000000000")->ok());
        }
        QVERIFY(!isKilled && kills > 10);
        QCOMPARE(*listFolder(m_folder), std::vector<std::string>{"s001-000000000"});
    }

    /// SEMANTICS G2: a save whose name may not last is taken back; the one that it replaces is there again
    void whatMayNotLastIsNotPublished() {
        for (const bool cannotExchange : {false, true}) {
            Bench saved(m_folder);
            saved.files.cannotExchange = cannotExchange;
            saved.files.folderSyncsLeft = 1;   // the folder of checkpoints, after its own
            QVERIFY(!saved.save().ok());
            QVERIFY(listFolder(m_folder)->empty());
            QVERIFY(saved.again().ok());
            const std::string before = rundir::readCheckpoint(m_folder / "s001-000000000")->stateDigest;
            saved.best->take({{"loss", 0.5}}, GlobalStep(0));
            saved.files.folderSyncsLeft = 1;
            QVERIFY(!saved.again().ok());
            QCOMPARE(*listFolder(m_folder), std::vector<std::string>{"s001-000000000"});
            QCOMPARE(rundir::readCheckpoint(m_folder / "s001-000000000")->stateDigest, before);
            QVERIFY(rundir::verifyCheckpoint(m_folder / "s001-000000000")->ok());
            stdfs::remove_all(m_folder / "s001-000000000");
        }
    }

    void aSaveIsDoneAlsoWhereTheOneItReplacedCannotBeRemoved() {
        for (const bool cannotExchange : {false, true}) {
            Bench saved(m_folder);
            saved.files.cannotExchange = cannotExchange;
            QVERIFY(saved.save().ok());
            saved.best->take({{"loss", 0.5}}, GlobalStep(0));
            saved.files.failRemove = true;
            const auto outcome = saved.again();
            QVERIFY2(outcome.ok(), outcome.ok() ? "" : outcome.error().text().c_str());
            QCOMPARE(rundir::readCheckpoint(m_folder / "s001-000000000")->stateDigest, saved.state.digest());
            saved.files.failRemove = false;
            QVERIFY(saved.again().ok());
            QCOMPARE(*listFolder(m_folder), std::vector<std::string>{"s001-000000000"});
            stdfs::remove_all(m_folder / "s001-000000000");
        }
    }

    void framesAreAwaitedBeforePublishing() {
        Bench saved(m_folder);
        saved.hooks.lastFrames = [] { return std::map<int, std::uint64_t>{{0, 17}}; };
        bool seenUnpublished = false;
        saved.hooks.beforePublish = [&](const std::map<int, std::uint64_t>& last) {
            seenUnpublished = last.at(0) == 17 && stdfs::exists(m_folder / ".s001-000000000/manifest.json") && !stdfs::exists(m_folder / "s001-000000000");
            return Result<void>();
        };
        QVERIFY(saved.save().ok());
        QVERIFY(seenUnpublished);
        QCOMPARE(rundir::readCheckpoint(m_folder / "s001-000000000")->lastFrame.at(0), std::uint64_t(17));
    }

    void leftoversAndEqualNamesAreReplaced() {
        Bench saved(m_folder);
        stdfs::create_directories(m_folder / ".s001-000000000/torn");
        QVERIFY(saved.save().ok());
        saved.best->take({{"loss", 0.5}}, GlobalStep(0));
        QVERIFY(saved.again().ok());
        QCOMPARE(*listFolder(m_folder), std::vector<std::string>{"s001-000000000"});
        Bench loaded(m_folder);
        QVERIFY(loadCheckpoint(m_folder / "s001-000000000", loaded.state).ok());
        QCOMPARE(*loaded.best->value(), 0.5);
    }

    void whatADeadProcessLeftIsClearedAndRestored() {
        Bench saved(m_folder);
        QVERIFY(saved.save().ok());
        saved.train(1);
        QVERIFY(saved.again().ok());
        stdfs::create_directories(m_folder / ".s001-000000007/torn");
        stdfs::create_directories(m_folder / ".old-s001-000000000");                    // had been replaced
        stdfs::rename(m_folder / "s001-000000001", m_folder / ".old-s001-000000001");   // had not
        saved.train(1);
        QVERIFY(saved.save().ok());
        QCOMPARE(*listFolder(m_folder), (std::vector<std::string>{"s001-000000000", "s001-000000001", "s001-000000002"}));
        QVERIFY(rundir::verifyCheckpoint(m_folder / "s001-000000001")->ok());
    }

    void lengthenedRunKeepsItsCurve() {
        config::RunConfig config;
        config.optimizer.learningRate = 1e-3;
        Curve curve = Curve::make(config, GlobalStep(20)).value();
        Curve loaded = Curve::make(config, GlobalStep(40)).value();
        QVERIFY(loaded.setStateValues(curve.stateValues()).ok());
        auto told = loaded.reconcile(config, GlobalStep(40), GlobalStep(12), false);
        QCOMPARE(loaded.schedule().totalUpdates, 20);
        QCOMPARE(told.size(), std::size_t(1));
        QVERIFY(told[0].find("40") != std::string::npos && told[0].find("20") != std::string::npos);
        config.schedule.totalUpdates = 40;
        config.optimizer.learningRate = 1e-4;
        told = loaded.reconcile(config, GlobalStep(40), GlobalStep(12), false);
        QCOMPARE(loaded.schedule().totalUpdates, 40);
        QCOMPARE(loaded.baseRate(), 1e-4);
        QCOMPARE(told.size(), std::size_t(3));
    }
    void aNewCurveIsMadeOnlyWhenAskedForAndTellsBothRates() {
        config::RunConfig config;
        config.optimizer.learningRate = 1e-3;
        config.schedule.name = "linear";
        config.schedule.warmupUpdates = 0;
        config.schedule.finalFactor = 0;
        const Curve stored = Curve::make(config, GlobalStep(20)).value();
        Curve kept = Curve::make(config, GlobalStep(40)).value(), anew = kept;
        QVERIFY(kept.setStateValues(stored.stateValues()).ok() && anew.setStateValues(stored.stateValues()).ok());
        const auto rate = [](const Curve& curve, std::int64_t step) { return curve.rateAt(GlobalStep(step)); };

        auto told = kept.reconcile(config, GlobalStep(40), GlobalStep(12), false);
        QCOMPARE(told.size(), std::size_t(1));
        QVERIFY2(told[0].find("--new-curve") != std::string::npos && told[0].find("0.0004") != std::string::npos, told[0].c_str());
        QCOMPARE(rate(kept, 12), 1e-3 * (1 - 12.0 / 20));
        QCOMPARE(rate(kept, 30), 0.0);

        told = anew.reconcile(config, GlobalStep(40), GlobalStep(12), true);
        QCOMPARE(rate(anew, 12), 1e-3 * (1 - 12.0 / 40));
        QCOMPARE(told.size(), std::size_t(2));
        QVERIFY2(told[1].find("update 13") != std::string::npos && told[1].find("0.0007") != std::string::npos && told[1].find("0.0004") != std::string::npos, told[1].c_str());
        QVERIFY(anew.reconcile(config, GlobalStep(40), GlobalStep(13), false).empty());  // from now on it is the stored one
    }

private:
    std::unique_ptr<QTemporaryDir> m_temporary;
    stdfs::path m_folder;
};

QTEST_GUILESS_MAIN(CheckpointTest)
#include "tst_checkpoint.moc"
