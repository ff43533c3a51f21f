// Checkpoints written behind training: what is saved is the state at the save, nothing is seen before it is durable, and
// whatever goes wrong with the disk or with memory leaves the ones before as they are.
#include "checkpoint_fixture.h"
#include "engine/checkpoint/checkpoint_reader.h"

#include <ATen/Parallel.h>
#include <QtTest>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <random>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace lathe;
using namespace lathe::engine;
using namespace lathe::engine::test;

namespace {

QString textOf(const Error& error) { return QString::fromStdString(error.text()); }

/// Blocks of the disk below a folder, those of linked files once.
std::uint64_t diskBytes(const stdfs::path& folder) {
    std::map<ino_t, std::uint64_t> blocks;
    for (const auto& entry : stdfs::recursive_directory_iterator(folder)) {
        struct stat info {};
        if (::lstat(entry.path().c_str(), &info) == 0) blocks[info.st_ino] = static_cast<std::uint64_t>(info.st_blocks) * 512;
    }
    std::uint64_t total = 0;
    for (const auto& [inode, bytes] : blocks) total += bytes;
    return total;
}

/// Of this process, in bytes.
std::uint64_t addressSpace() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t pages = 0;
    file >> pages;
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

bool isWhole(const stdfs::path& checkpoint) {
    const auto verified = rundir::verifyCheckpoint(checkpoint);
    return verified.ok() && verified->ok();
}

}  // namespace

class CheckpointBehindTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }   // children of fork() compute too

    void init() {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_folder = m_temporary->path().toStdString();
    }

    void whatTrainingDoesMeanwhileIsNotInIt() {
        Bench bench(m_folder), then(m_folder);
        bench.train(3);
        bench.makeWriter();
        QVERIFY(bench.writer->waitsBecause().empty());
        const std::string digest = bench.state.digest();
        bench.files.faults.shut();
        bench.begin();
        QVERIFY(!bench.writer->ended());
        bench.train(4);
        bench.best->take({{"loss", 0.5}}, GlobalStep(7));
        QVERIFY(rundir::listCheckpoints(m_folder).empty() || !rundir::listCheckpoints(m_folder)[0].problem.empty());
        bench.files.faults.open();
        const auto outcome = bench.writer->finish();
        QVERIFY2(outcome.ok(), outcome.ok() ? "" : outcome.error().text().c_str());
        QCOMPARE(outcome->folder, std::string("s001-000000003"));
        QCOMPARE(outcome->counters.globalStep.value(), 3);
        QVERIFY(loadCheckpoint(m_folder / outcome->folder, then.state).ok());
        QCOMPARE(then.state.digest(), digest);
        then.train(4);
        QVERIFY(at::equal(then.model.p(), bench.model.p()));
    }

    /// There is one copy: beginning another save while it is being written would write over it.
    void aSaveIsNotBegunBeforeTheOneBeforeIsFinished() {
        const pid_t child = ::fork();
        if (child == 0) {
            ::signal(SIGABRT, SIG_DFL);
            Bench bench(m_folder);
            bench.makeWriter();
            bench.files.faults.shut();
            bench.begin();
            while (!stdfs::exists(m_folder / ".s001-000000000")) std::this_thread::yield();   // taken by the writing thread
            bench.begin();
            ::_exit(0);
        }
        int status = 0;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QVERIFY(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }

    /// Address space for one copy of the larger state and half of one more.
    void aLargerCopyIsNotMadeBesideTheOldOne() {
        struct More final : Stateful {
            std::string stateName() const override { return "more"; }
            std::vector<StateTensor> stateTensors() const override { return {{"more", "state", tensor, false}}; }
            at::Tensor tensor;
        };
        const pid_t child = ::fork();
        if (child == 0) {
            constexpr std::int64_t kFloats = 32 << 20;   // 128 MiB
            Bench bench(m_folder);
            More more;
            more.tensor = at::zeros({kFloats});
            bench.state.add(more);
            bench.makeWriter({}, std::uint64_t{1} << 31);
            more.tensor = at::zeros({kFloats + (16 << 20)});
            rlimit room{};
            ::getrlimit(RLIMIT_AS, &room);
            room.rlim_cur = addressSpace() + (96u << 20);   // of 192 MiB
            ::setrlimit(RLIMIT_AS, &room);
            bench.files.failRename = true;   // whatever becomes of the files
            bench.begin();
            ::_exit(bench.writer->waitsBecause().empty() ? 0 : 1);
        }
        int status = 0;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QVERIFY(WIFEXITED(status));
        QCOMPARE(WEXITSTATUS(status), 0);
    }

    void destroyingTheWriterFinishesWhatWasBegun() {
        Bench bench(m_folder);
        bench.train(1);
        bench.makeWriter();
        bench.files.faults.shut();
        bench.begin();
        std::thread later([&] { bench.files.faults.open(); });
        bench.writer.reset();
        later.join();
        QVERIFY(isWhole(m_folder / "s001-000000001"));
    }

    void withoutMemoryForACopyTrainingWaitsForTheDisk() {
        Bench bench(m_folder), then(m_folder);
        bench.train(2);
        bench.makeWriter({}, 10);
        QVERIFY2(bench.writer->waitsBecause().find("no memory for a copy") != std::string::npos, bench.writer->waitsBecause().c_str());
        const std::string digest = bench.state.digest();
        bench.begin();
        QVERIFY(bench.writer->ended());
        bench.train(1);
        QVERIFY(bench.writer->finish().ok());
        QVERIFY(loadCheckpoint(m_folder / "s001-000000002", then.state).ok());
        QCOMPARE(then.state.digest(), digest);
    }

    /// State that comes only later (of a hook) has its place too
    void stateThatGrowsIsSaved() {
        struct Growing final : Stateful {
            std::string stateName() const override { return "growing"; }
            std::vector<StateTensor> stateTensors() const override { return {{"grown", "state", grown, false}}; }
            at::Tensor grown = at::zeros({1});
        } growing, loaded;
        Bench bench(m_folder), then(m_folder);
        bench.state.add(growing);
        bench.makeWriter();
        growing.grown = at::arange(5000, at::kFloat);
        QVERIFY(bench.again().ok());
        loaded.grown = at::zeros({5000});
        then.state.add(loaded);
        QVERIFY(loadCheckpoint(m_folder / "s001-000000000", then.state).ok());
        QVERIFY(at::equal(loaded.grown, growing.grown));
    }

    void transposedAndHalfTensorsAreCopiedAsTheyAre() {
        struct Mixed final : Stateful {
            std::string stateName() const override { return "mixed"; }
            std::vector<StateTensor> stateTensors() const override {
                return {{"turned", "state", turned.t(), false}, {"half", "state", half, false}, {"none", "state", none, false}, {"one", "state", one, false}};
            }
            at::Tensor turned = at::zeros({3, 5}), half = at::zeros({7}, at::kBFloat16), none = at::zeros({0, 4}), one = at::zeros({}, at::kDouble);
        } saved, loaded;
        Bench bench(m_folder), then(m_folder);
        bench.state.add(saved);
        then.state.add(loaded);
        saved.turned = at::arange(15, at::kFloat).view({3, 5});
        saved.half.fill_(1.5);
        saved.one.fill_(0.1);
        QVERIFY(bench.save().ok());
        QVERIFY(loadCheckpoint(m_folder / "s001-000000000", then.state).ok());
        QVERIFY(at::equal(loaded.turned, saved.turned) && at::equal(loaded.half, saved.half) && at::equal(loaded.one, saved.one));
    }

    /// A sync that failed is never asked for again of the same file: the next try writes new ones
    void afterAFailedSyncNewFilesAreWritten() {
        Bench bench(m_folder);
        bench.train(1);
        QVERIFY(bench.save().ok());
        bench.train(1);
        for (int sync = 0; sync < 4; ++sync) {  // model, optimizer, trainer.json, manifest.json
            bench.files.told.clear();
            bench.files.faults.syncsLeft = sync;
            const auto failed = bench.again();
            QVERIFY(!failed.ok());
            QCOMPARE(failed.error().code, ErrorCode::Io);
            QCOMPARE(std::ranges::count(bench.files.told, bench.files.told.back()), 1);   // the last thing that was done to the disk
            QVERIFY(bench.files.told.back().starts_with("sync "));
            QCOMPARE(*listFolder(m_folder), std::vector<std::string>{"s001-000000001"});
        }
        bench.files.told.clear();
        bench.files.faults.syncsLeft = -1;
        QVERIFY(bench.again().ok());
        QCOMPARE(std::ranges::count(bench.files.told, "create model-00000.safetensors"), 1);
        QVERIFY(isWhole(m_folder / "s001-000000001") && isWhole(m_folder / "s001-000000002"));
    }

    void roomThatGoesAwayAtTheLastMomentIsNamed() {
        Bench bench(m_folder);
        bench.makeWriter();
        bench.files.free = 2000;
        auto full = bench.again();
        QVERIFY(!full.ok());
        QVERIFY2(textOf(full.error()).contains("bytes are missing"), full.error().text().c_str());
        bench.files.free.reset();
        bench.files.faults.failReserve = true;
        full = bench.again();
        QVERIFY(!full.ok());
        QCOMPARE(full.error().code, ErrorCode::NoSpace);
        QVERIFY2(textOf(full.error()).contains("There is no space for a checkpoint: need"), full.error().text().c_str());
        QVERIFY(listFolder(m_folder)->empty());
    }

    /// Files of what no update changes are linked, also when the previous checkpoint came from another run
    void fiftyCheckpointsWithFrozenLayersCostLittle() {
        constexpr int kCheckpoints = 50;
        Bench bench(m_folder, 2000, true, {}, 400'000);
        QVERIFY(bench.save().ok());
        const std::uint64_t whole = diskBytes(m_folder);
        for (int i = 1; i < kCheckpoints; ++i) {
            bench.train(1);
            QVERIFY(bench.again().ok());
        }
        const double ratio = static_cast<double>(diskBytes(m_folder)) / static_cast<double>(whole * kCheckpoints);
        qInfo("50 checkpoints of which %.1f %% is trained: %.3f of 50 whole ones", 100 * 2000.0 * 3 / 406'000, ratio);
        QVERIFY2(ratio <= 0.1, std::to_string(ratio).c_str());
        Bench fork(m_folder / "fork", 2000, true, {}, 400'000);
        stdfs::create_directories(m_folder / "fork/s000-000000003");
        for (const auto& entry : stdfs::directory_iterator(m_folder / "s001-000000003")) stdfs::create_hard_link(entry.path(), m_folder / "fork/s000-000000003" / entry.path().filename());
        QVERIFY(loadCheckpoint(m_folder / "fork/s000-000000003", fork.state).ok());
        fork.train(1);
        QVERIFY(fork.save("s000-000000003")->linkedBytes > 1'600'000);
        const std::string file = "frozen-00000.safetensors";
        QCOMPARE(inodeOf(m_folder / "fork/s001-000000004" / file), inodeOf(m_folder / "s001-000000000" / file));
    }

    void aFileThatWasFoundDamagedIsWrittenAnew() {
        Bench bench(m_folder, 5, true);
        QVERIFY(bench.save().ok());
        const stdfs::path first = m_folder / "s001-000000000";
        std::string content = readFile(first / "frozen-00000.safetensors", 1u << 20).value();
        content.back() = static_cast<char>(content.back() ^ 1);
        QVERIFY(FileSystem::real().remove(first / "frozen-00000.safetensors").ok() && replaceFile(FileSystem::real(), first / "frozen-00000.safetensors", content).ok());
        QVERIFY(rundir::writeVerified(FileSystem::real(), first, rundir::verifyCheckpoint(first).value(), 7).ok());
        bench.train(1);
        QVERIFY(bench.again().ok());
        QVERIFY(isWhole(m_folder / "s001-000000001"));
    }

    /// Whichever goes, in whatever order
    void deletingACheckpointNeverHurtsAnother() {
        std::vector<std::string> names = {"s001-000000000", "s001-000000001", "s001-000000002", "s001-000000003"};
        do {
            const QTemporaryDir place;
            const stdfs::path folder = place.path().toStdString();
            Bench bench(folder, 5, true);
            bench.makeWriter();
            for (int i = 0; i < 4; ++i, bench.train(1)) QVERIFY(bench.again().ok());
            for (std::size_t gone = 0; gone < names.size(); ++gone) {
                QVERIFY(removeTree(FileSystem::real(), folder / names[gone]).ok());
                for (std::size_t left = gone + 1; left < names.size(); ++left) QVERIFY2(isWhole(folder / names[left]), names[left].c_str());
            }
        } while (std::next_permutation(names.begin(), names.end()));
    }

    /// Not marked as frozen, and yet the same: of an update with a learning rate of zero, which shows when it was written
    void aFileThatTurnsOutTheSameIsLinked() {
        Bench bench(m_folder);
        bench.train(1);
        QVERIFY(bench.save().ok());
        Counters& at = bench.progress.counters;
        at.globalStep = at.globalStep.next();
        at.updateAttempts = at.updateAttempts.next();
        const auto second = bench.again();
        QVERIFY(second.ok() && second->linkedBytes > 0);
        for (const char* file : {"model-00000.safetensors", "optimizer-00000.safetensors"})
            QCOMPARE(inodeOf(m_folder / "s001-000000001" / file), inodeOf(m_folder / "s001-000000002" / file));
        QVERIFY(isWhole(m_folder / "s001-000000001") && isWhole(m_folder / "s001-000000002"));
    }

    /// Before an evaluation and after it: tensors are not written twice
    void aSecondSaveOfTheSameUpdateWritesOnlyWhatIsSmall() {
        Bench bench(m_folder);
        bench.train(1);
        QVERIFY(bench.save().ok());
        const ino_t model = inodeOf(m_folder / "s001-000000001/model-00000.safetensors");
        bench.files.told.clear();
        bench.best->take({{"loss", 0.5}}, GlobalStep(1));
        QVERIFY(bench.again().ok());
        QVERIFY(!std::ranges::count(bench.files.told, "create model-00000.safetensors"));
        QCOMPARE(inodeOf(m_folder / "s001-000000001/model-00000.safetensors"), model);
        Bench loaded(m_folder);
        QVERIFY(loadCheckpoint(m_folder / "s001-000000001", loaded.state).ok());
        QCOMPARE(*loaded.best->value(), 0.5);
    }

    /// Killed at a random moment while the writer is busy and training changes the state: what is there is whole and is the
    /// state at its save, and what goes on from it equals what never stopped, bit for bit
    void killedWhileTheWriterIsBusyTheRestIsExact() {
        std::mt19937 random(20);
        int torn = 0;
        for (int round = 0; round < 20; ++round) {
            const QTemporaryDir place;
            const stdfs::path folder = place.path().toStdString();
            const int call = std::uniform_int_distribution(0, 60)(random);
            const pid_t child = ::fork();
            if (child == 0) {
                Bench bench(folder, 5000);
                bench.makeWriter();
                bench.files.faults.kill.at = call;
                for (int save = 0; save < 8; ++save) {
                    bench.begin();
                    bench.train(3);
                    if (!bench.writer->finish().ok()) ::_exit(1);
                }
                ::raise(SIGKILL);
            }
            int status = 0;
            QCOMPARE(::waitpid(child, &status, 0), child);
            QVERIFY(WIFSIGNALED(status));
            Bench straight(folder, 5000);
            for (int save = 0; save < 8; ++save) straight.train(3);
            std::vector<rundir::CheckpointInfo> all = rundir::listCheckpoints(folder);
            torn += static_cast<int>(std::erase_if(all, [](const auto& info) { return !info.problem.empty(); }));
            for (const rundir::CheckpointInfo& info : all) {
                Bench resumed(folder, 5000);
                QVERIFY2(loadCheckpoint(folder / info.folder, resumed.state).ok(), info.folder.c_str());
                for (std::int64_t step = info.step.value(); step < 24; step += 3) resumed.train(3);
                QCOMPARE(resumed.state.digest(), straight.state.digest());
            }
            Bench next(folder, 5000);
            next.makeWriter();
            const std::vector<std::string> names = listFolder(folder).value();
            for (const std::string& name : names) QVERIFY2(!name.starts_with('.'), name.c_str());   // swept
        }
        qInfo("%d of 20 kills left a torn checkpoint", torn);
        QVERIFY(torn > 3);
    }

private:
    std::unique_ptr<QTemporaryDir> m_temporary;
    stdfs::path m_folder;
};

QTEST_GUILESS_MAIN(CheckpointBehindTest)
#include "tst_checkpoint_behind.moc"
