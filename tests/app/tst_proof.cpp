// labels: process
// timeout: 300
// The proof of resume: a session that goes on from a checkpoint says whether it makes the same updates as before, and
// where not; verify --replay does so at any time and leaves no trace. SEMANTICS F1 (another place in the data), F10 (less is
// restored than the checkpoint says: a lost moment, a flipped weight), P9.
#include "worker_run.h"

#include "base/file_system.h"
#include "engine/checkpoint/checkpoint_reader.h"
#include "engine/checkpoint/checkpoint_writer.h"
#include "engine/session/setup.h"
#include "store/run_store.h"
#include "trainer_process.h"

#include <QtTest>

#include <csignal>

using namespace lathe;
using namespace lathe::tests;

namespace {

namespace stdfs = std::filesystem;

using lathe::test::Answer;
using lathe::test::Workspace;

constexpr const char* kFrom = "s001-000000020";

/// Everything below a folder: names, times of change and content.
std::map<std::string, std::string> contentOf(const stdfs::path& folder) {
    std::map<std::string, std::string> all;
    for (const auto& entry : stdfs::recursive_directory_iterator(folder)) {
        const std::string name = entry.path().lexically_relative(folder).string();
        if (entry.is_regular_file()) all[name] = readFile(entry.path(), 1u << 28).value() + std::to_string(entry.last_write_time().time_since_epoch().count());
        else all[name] = "folder";
    }
    return all;
}

/// The checkpoint of update 20 once more with something else in it, whole by every checksum, as nobody could tell from the
/// file alone.
void tamper(const rundir::RunFolder& run, const std::function<void(engine::Setup&)>& change) {
    const auto setup = engine::Setup::ofRun(run).value();
    const auto loaded = engine::loadCheckpoint(run.checkpoints() / kFrom, setup->state).value();
    change(*setup);
    const rundir::CheckpointManifest& was = loaded.manifest;
    engine::CheckpointWriter writer(FileSystem::real(), {run.checkpoints(), was.runId, was.session, was.configHash, was.layout, {}}, setup->state,
                                    loaded.record, {});
    QVERIFY(writer.save({setup->progress, {}, false, loaded.record.probe, "asked"}).ok());
}

at::Tensor tensorOf(engine::Setup& setup, const std::string& ending) {
    for (const engine::StateTensor& item : setup.state.tensors())
        if (item.name.ends_with(ending)) return item.tensor;
    qFatal("no tensor %s", ending.c_str());
}

}  // namespace

class ProofTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        config::RunConfig config = digitsConfig();
        config.model.dropout = 0.1;
        config.data.batchSize = 8;
        config.accumulation.microBatches = 3;
        config.run.maxUpdates = 40;
        config.checkpoint.every = {Interval::Unit::Updates, 10};
        config.checkpoint.keepLast = 100;
        QVERIFY(makeFolders(FileSystem::real(), m_work.scratch()).ok());
        m_config = (m_work.scratch() / "config.yaml").string();
        QVERIFY(replaceFile(FileSystem::real(), m_config, config::toYaml(config)).ok());
    }

    void goingBackComparesSeveralUpdates() {
        const rundir::RunFolder run = trained();
        const auto digests = store::RunReader::open(run.database()).value()->digests(1, 20, 100).value();
        QCOMPARE(digests.size(), std::size_t(4));
        const nlohmann::json report = wentOn(run, {});
        QCOMPARE(report["outcome"], "continues exactly");
        QCOMPARE(report["compared"], 4);
        const nlohmann::json shown = m_work.ask({"show", idOf(run), "--json"}).json();
        QVERIFY(shown["sessions"][0]["resume"].is_null());
        QCOMPARE(shown["sessions"][1]["resume"], report);
        const Answer text = m_work.ask({"show", idOf(run)});
        QVERIFY2(text.out.find("continues exactly (4 updates compared)") != std::string::npos, text.out.c_str());
        QVERIFY(readFile(run.rankLog(0), 1u << 24).value().find("The run continues exactly: 4 updates compared") != std::string::npos);
    }

    void aStoppedRunIsProvenByTheUpdateThatItDidNotMake() {
        const rundir::RunFolder run = trained();
        const Answer answer = m_work.ask({"continue", idOf(run), "--json", "--set", "run.max_updates=50"});
        QCOMPARE(answer.json()["resume"]["outcome"], "continues exactly");
        QCOMPARE(answer.json()["resume"]["compared"], 1);
    }

    void whatIsNotTheSameIsNamedWithItsUpdate_data() {
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("detail");
        QTest::newRow("a flipped weight") << "weight" << "loss, update 21";
        QTest::newRow("a lost moment") << "moment" << "loss, update 22";
        QTest::newRow("another place in the data") << "place" << "data order, update 21";
    }
    /// SEMANTICS F1 (another place in the data), F10 (less restored than told)
    void whatIsNotTheSameIsNamedWithItsUpdate() {
        QFETCH(QString, what);
        QFETCH(QString, detail);
        const rundir::RunFolder run = trained();
        tamper(run, [&](engine::Setup& setup) {
            const at::NoGradGuard noGrad;
            if (what == "weight") {  // one bit
                auto* bits = static_cast<std::uint32_t*>(tensorOf(setup, "bias").mutable_data_ptr());
                bits[0] ^= 1u << 20;
            }
            if (what == "moment") tensorOf(setup, "exp_avg").zero_();
            if (what == "place") setup.progress.counters.planEntry = PlanEntry(setup.progress.counters.planEntry.value() + 24);
        });
        QVERIFY(rundir::verifyCheckpoint(run.checkpoints() / kFrom)->ok());
        const Answer replayed = m_work.ask({"verify", "--replay", idOf(run) + "@20", "--json"});
        QCOMPARE(replayed.code, static_cast<int>(ExitCode::Failed));
        QCOMPARE(replayed.json()["detail"], detail.toStdString());
        const nlohmann::json report = wentOn(run, {});
        QCOMPARE(report["outcome"], "differs");
        QCOMPARE(report["detail"], detail.toStdString());
    }

    /// SEMANTICS P9: what was changed is named with its setting
    void otherTermsAreNamedAndNothingIsGuessed() {
        const rundir::RunFolder run = trained();
        const nlohmann::json threads = wentOn(run, {"--set", "parallel.threads=2"});
        QCOMPARE(threads["outcome"], "not comparable");
        QCOMPARE(threads["detail"], "threads 1 → 2");
        const nlohmann::json rate = wentOn(run, {"--set", "optimizer.learning_rate=1e-4"});
        QCOMPARE(rate["outcome"], "not comparable");
        QVERIFY2(rate["detail"].get<std::string>().starts_with("optimizer.learning_rate"), rate.dump().c_str());
        const nlohmann::json harmless = wentOn(run, {"--set", "checkpoint.every=never", "--set", "run.note=again", "--set", "evaluation.every=never"});
        QCOMPARE(harmless["outcome"], "continues exactly");
    }

    void fastProvesNothingAndSaysSo() {
        const rundir::RunFolder run = trained({"--set", "parallel.determinism=fast"});
        const nlohmann::json report = wentOn(run, {});
        QCOMPARE(report["outcome"], "not comparable");
        QCOMPARE(report["detail"], "parallel.determinism is fast");
        QCOMPARE(report["compared"], 0);
        QVERIFY(store::RunReader::open(run.database()).value()->digests(1, 20, 9).value().empty());
        const nlohmann::json changed = wentOn(run, {"--set", "parallel.determinism=exact"});
        QCOMPARE(changed["detail"], "deterministic no → yes");
    }

    void anotherSeedIsRefusedAndToldWhereItWasForced() {
        const rundir::RunFolder run = trained();
        const Answer refused = m_work.ask({"roll-back", idOf(run) + "@20", "--set", "run.seed=7"});
        QCOMPARE(refused.code, static_cast<int>(ExitCode::Usage));
        QVERIFY2(refused.err.find("run.seed cannot change from 42 to 7") != std::string::npos, refused.err.c_str());
        config::RunConfig config = digitsConfig();
        WorkerRun forced(m_work.scratch() / "forced", config);
        forced.start(config);
        QVERIFY(forced.wait());
        config.run.seed = 7;
        config.run.maxUpdates = 25;
        forced.start(config, forced.newestCheckpoint());
        QVERIFY(forced.wait());
        QCOMPARE(forced.events("resume_report").size(), std::size_t(1));
        QVERIFY(forced.events("resume_report").front().json.find("not comparable") != std::string::npos);
        QVERIFY(forced.events("resume_report").front().json.find("run.seed 42 → 7") != std::string::npos);
    }

    void otherDataAreRefused() {
        const stdfs::path table = m_work.scratch() / "table.csv";
        std::string text = "a,b,y\n";
        for (int i = 0; i < 60; ++i) text += std::to_string(i % 7) + "," + std::to_string(i % 5) + "," + std::to_string(i % 3) + "\n";
        QVERIFY(replaceFile(FileSystem::real(), table, text).ok());
        const QStringList settings{"--set", "data.format=csv", "--set", "data.train_labels=", "--set", "data.target=y", "--set", "task.name=regression", "--set", "evaluation.best_metric=loss",
                                   "--set", QString::fromStdString("data.train=" + table.string())};
        const Answer made = m_work.ask(QStringList{"run", QString::fromStdString(m_config), "--json"} + settings);
        QVERIFY2(made.code == 0, (made.out + made.err).c_str());
        const QString id = QString::fromStdString(made.json()["run"].get<std::string>());
        QCOMPARE(m_work.ask({"verify", "--replay", id + "@20"}).code, 0);
        text[text.find("3,3,0")] = '4';  // a cell of the same length
        QVERIFY(replaceFile(FileSystem::real(), table, text).ok());
        const Answer replayed = m_work.ask({"verify", "--replay", id + "@20"});
        QVERIFY(replayed.code != 0);
        QVERIFY2(replayed.err.find("The training data are not those of checkpoint") != std::string::npos, replayed.err.c_str());
        QVERIFY(!stdfs::exists(m_work.folder() / "scratch"));
    }

    /// What depends on evaluations, and goes back or exports by them, can be made once more all the same.
    void aReplayNeedsNoEvaluations_data() {
        QTest::addColumn<QStringList>("settings");
        QTest::newRow("plateau") << QStringList{"--set", "schedule.name=plateau", "--set", "schedule.patience=0"};
        QTest::newRow("goes back when worse") << QStringList{"--set", "guard.on_worse=roll_back"};
        QTest::newRow("leaves the best") << QStringList{"--set", "evaluation.restore_best=true", "--set", "evaluation.patience=3"};
        QTest::newRow("in epochs") << QStringList{"--set", "run.epochs=1"};
    }
    void aReplayNeedsNoEvaluations() {
        QFETCH(QStringList, settings);
        const rundir::RunFolder run = trained(QStringList{"--set", "evaluation.every=10"} + settings);
        for (const char* step : {"20", "40"}) {
            const Answer replayed = m_work.ask({"verify", "--replay", idOf(run) + "@" + step, "--json"});
            QVERIFY2(replayed.code == 0, (replayed.out + replayed.err).c_str());
            QCOMPARE(replayed.json()["outcome"], "continues exactly");
        }
    }

    void aReplayHarmsNothingAndLeavesNothing() {
        const rundir::RunFolder run = trained();
        const auto before = contentOf(m_work.folder());
        const Answer exact = m_work.ask({"verify", "--replay", idOf(run) + "@20"});
        QCOMPARE(exact.code, 0);
        QVERIFY2(exact.out.find("continues exactly (4 updates compared)") != std::string::npos, exact.out.c_str());
        const Answer newest = m_work.ask({"verify", "--replay", idOf(run), "--json"});
        QCOMPARE(newest.code, 0);
        QCOMPARE(newest.json()["checkpoint"], "s001-000000040");
        QCOMPARE(newest.json()["ok"], true);
        QVERIFY(contentOf(m_work.folder()) == before);
    }

    void whatAKilledReplayLeftIsRemovedByTheNext() {
        const rundir::RunFolder run = trained();
        const auto process = m_work.start({"verify", "--replay", idOf(run) + "@20"});
        const stdfs::path replays = m_work.folder() / "scratch";
        QVERIFY(test::eventually([&] { return stdfs::exists(replays) && !stdfs::is_empty(replays); }));
        process->kill();
        QVERIFY(process->waitForFinished());
        const auto isLeft = [&] {
            for (const auto& scratch : stdfs::directory_iterator(replays))
                for (const rundir::RunFolder& left : rundir::listRuns(scratch.path()))
                    if (rundir::RunLock::isHeld(left.workersLock())) return false;
            return true;
        };
        QVERIFY(test::eventually(isLeft));
        QCOMPARE(m_work.ask({"verify", "--replay", idOf(run) + "@20"}).code, 0);
        QVERIFY(!stdfs::exists(replays));
    }

    void whatCannotBeReplayedIsRefused() {
        const rundir::RunFolder run = trained();
        const Answer unknown = m_work.ask({"verify", "--replay", idOf(run) + "@21"});
        QVERIFY2(unknown.code != 0 && !unknown.err.empty(), unknown.err.c_str());
        stdfs::remove(run.checkpoints() / kFrom / "optimizer-00000.safetensors");
        const Answer damaged = m_work.ask({"verify", "--replay", idOf(run) + "@20"});
        QVERIFY(damaged.code != 0);
        QVERIFY(!stdfs::exists(m_work.folder() / "scratch"));
        const Answer command = m_work.ask({"run", "--json", "--name", "own", "--command", "true"});
        QCOMPARE(command.code, 0);
        const Answer own = m_work.ask({"verify", "--replay", "own"});
        QVERIFY2(own.err.find("keeps its own checkpoints") != std::string::npos, own.err.c_str());
        // Without its record the first update is still proven: its digest lies in the checkpoint.
        stdfs::remove(run.database());
        const Answer without = m_work.ask({"verify", "--replay", idOf(run) + "@30", "--json"});
        QVERIFY2(without.code == 0, without.err.c_str());
        QCOMPARE(without.json()["compared"], 1);
    }

private:
    /// A run of 40 updates, saved every 10.
    rundir::RunFolder trained(const QStringList& words = {}) {
        const Answer answer = m_work.ask(QStringList{"run", QString::fromStdString(m_config), "--json"} + words);
        if (answer.code != 0) qFatal("%s", (answer.out + answer.err).c_str());
        return rundir::RunFolder(answer.json()["folder"].get<std::string>());
    }
    static QString idOf(const rundir::RunFolder& run) { return QString::fromStdString(rundir::readManifest(run)->id); }
    /// What a session tells that goes back to update 20.
    nlohmann::json wentOn(const rundir::RunFolder& run, const QStringList& words) {
        const Answer answer = m_work.ask(QStringList{"roll-back", idOf(run) + "@20", "--json"} + words);
        if (answer.code != 0) qFatal("%s", (answer.out + answer.err).c_str());
        return answer.json()["resume"];
    }

    Workspace m_work;
    std::string m_config;
};

QTEST_GUILESS_MAIN(ProofTest)
#include "tst_proof.moc"
