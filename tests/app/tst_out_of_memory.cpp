// labels: process
// Memory that runs out while a real worker trains: what is written down, what is said to help, and that it helps.
#include "trainer_process.h"

#include "store/run_store.h"

#include <QtTest>

#include <cmath>
#include <fstream>

using namespace lathe;
using namespace lathe::test;
using nlohmann::json;
namespace stdfs = std::filesystem;

class OutOfMemoryTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() {
        m_work = std::make_unique<Workspace>();
        const auto folder = m_work->scratch() / "plugins";
        stdfs::create_directory(folder);
        stdfs::permissions(folder, stdfs::perms::owner_all);
        stdfs::copy_file(LATHE_PLUGIN_HUNGRY, folder / "hungry.so");
        stdfs::permissions(folder / "hungry.so", stdfs::perms::owner_read | stdfs::perms::owner_write);
        m_work->setEnvironment("LATHE_PLUGINS", folder.string());
        std::ofstream data(m_work->scratch() / "line.csv");
        data << "x,y\n";
        for (int i = 0; i < 150; ++i) data << i / 150.0 << "," << 2.0 * i / 150.0 << "\n";
        data.close();
        std::ofstream(m_work->scratch() / "line.yaml") << "data: {train: line.csv, target: [y], batch_size: 16, loader_threads: 0}\nmodel: {name: hungry/product}\ntask: {name: regression}\n"
                                                          "optimizer: {name: sgd, learning_rate: 0.1}\nschedule: {name: constant}\nrun: {epochs: none, max_updates: 8}\n"
                                                          "evaluation: {every: never}\nparallel: {threads: 1}\nplugins: {use: [hungry]}\n";
    }

    void aDeviceThatIsFullIsToldWithWhatItSaid() {
        QCOMPARE(train({"plugins.hungry.most_samples=8", "plugins.hungry.from_attempt=3", "accumulation.micro_batches=2"}).code, static_cast<int>(ExitCode::OutOfMemory));
        const auto record = rundir::readSession(m_work->latest(), 1).value();
        QVERIFY(record.memory.has_value());
        const auto& memory = *record.memory;
        QCOMPARE(memory.facts.device, std::string("cuda:0"));
        QCOMPARE(*memory.facts.requested, std::uint64_t{2} << 30);
        QCOMPARE(*memory.facts.free, std::uint64_t{126353408});
        QCOMPARE(memory.attempt, 4);
        QCOMPARE(memory.microStep, 1);
        QCOMPARE(memory.microSteps, 2);
        QCOMPARE(memory.shape, (std::vector<std::int64_t>{16, 1}));
        QCOMPARE(memory.samples.size(), std::size_t(16));
        QVERIFY2(record.why.find("2.0 GiB more were asked for") != std::string::npos && record.why.find("update attempt 4") != std::string::npos, record.why.c_str());
        QCOMPARE(record.counters->globalStep.value(), 3);
        QVERIFY(!record.lastCheckpoint.empty());   // what was learned so far is kept
    }

    void theRecordIsInShowAndInAnEventAndARemedyHelps() {
        train({"plugins.hungry.most_samples=8"});
        const json shown = m_work->ask({"show", "latest", "--json"}).json();
        QCOMPARE(shown["exit"]["memory"]["remedies"][0]["edits"][0], (json{{"key", "data.batch_size"}, {"from", "16"}, {"to", "8"}}));
        const auto reader = store::RunReader::open(m_work->latest().database()).value();
        std::vector<store::EventRow> events = reader->events().value();
        std::erase_if(events, [](const store::EventRow& row) { return row.event.kind != "out_of_memory"; });
        QCOMPARE(events.size(), std::size_t(1));
        QCOMPARE(json::parse(events[0].event.json), shown["exit"]["memory"]);
        const std::string text = m_work->ask({"show", "latest"}).out;
        QVERIFY2(text.find("  1. data.batch_size 16 → 8, accumulation.micro_batches 1 → 2") != std::string::npos, text.c_str());
        const Answer refused = m_work->ask({"continue", "latest", "--remedy", "1"});
        QCOMPARE(refused.code, static_cast<int>(ExitCode::Usage));
        QVERIFY2(refused.err.find("--remedy 1") != std::string::npos, refused.err.c_str());
        const json again = m_work->ask({"again", "latest", "--remedy", "1", "--json"}).json();
        QCOMPARE(again["state"], json("completed"));
        QCOMPARE(again["counters"]["global_step"], json(8));
    }

    // a limit on the address space that really fails, in LibTorch's own allocator
    void mainMemoryThatRunsOutIsToldWithWhatThereWas() {
        QCOMPARE(train({"plugins.hungry.memory_mib=300", "plugins.hungry.mib_per_sample=64"}).code, static_cast<int>(ExitCode::OutOfMemory));
        const auto record = rundir::readSession(m_work->latest(), 1).value();
        QVERIFY(record.memory.has_value());
        QCOMPARE(record.memory->facts.device, std::string("cpu"));
        QCOMPARE(*record.memory->facts.requested, std::uint64_t{16 * 64} << 20);
        QVERIFY(*record.memory->facts.free < *record.memory->facts.requested && *record.memory->facts.peak > 0);
        QCOMPARE(record.memory->remedies.front().edits.front().key, std::string("data.batch_size"));
    }

    /// SEMANTICS B1: the window keeps its samples, whatever parts it is computed in; another epoch's end included
    void halvedMicroBatchesAreThoseOfARunThatHasThemSo() {
        const auto halved = completed({"plugins.hungry.most_samples=8", "guard.on_out_of_memory=halve", "run.max_updates=12"});
        QCOMPARE(eventsOf(halved, "micro_batch_halved").size(), std::size_t(1));
        const json facts = json::parse(eventsOf(halved, "micro_batch_halved")[0].event.json);
        QVERIFY(facts["from"] == 16 && facts["to"] == 8 && facts["attempt"] == 1 && facts["memory"]["micro_step"] == 1);
        const auto smaller = completed({"data.batch_size=8", "accumulation.micro_batches=2", "run.max_updates=12"});
        compare(halved, smaller);
        QCOMPARE(json(m_work->ask({"show", name(halved), "--json"}).json()["counters"]), json(m_work->ask({"show", name(smaller), "--json"}).json()["counters"]));
    }

    void noUpdateIsLostAndNoSampleIsLeftOut() {
        const auto whole = completed({});
        const auto halved = completed({"plugins.hungry.most_samples=3", "plugins.hungry.from_attempt=3", "guard.on_out_of_memory=halve"});
        QCOMPARE(eventsOf(halved, "micro_batch_halved").size(), std::size_t(3));   // 8, 4, 2
        const json before = m_work->ask({"show", name(whole), "--json"}).json()["counters"], after = m_work->ask({"show", name(halved), "--json"}).json()["counters"];
        for (const char* count : {"global_step", "update_attempts", "skipped_updates", "samples", "epoch", "plan_entry"}) QCOMPARE(after[count], before[count]);
        QCOMPARE(after["micro_step"].get<int>(), 3 + 4 * 8 + 4);   // the last window is the end of an epoch of 120
        const auto losses = valuesOf(halved, "train/loss"), expected = valuesOf(whole, "train/loss");
        QCOMPARE(losses.size(), expected.size());
        for (std::size_t i = 0; i < losses.size(); ++i)
            QVERIFY(i < 3 ? losses[i] == expected[i] : std::abs(losses[i] - expected[i]) <= 1e-5 * std::abs(expected[i]));
    }

    // the limit lies in the checkpoint
    void itStaysAfterAResume() {
        const QStringList hungry{"plugins.hungry.most_samples=8", "plugins.hungry.from_attempt=3", "guard.on_out_of_memory=halve"};
        const auto straight = completed(hungry + QStringList{"run.max_updates=12"});
        const auto run = completed(hungry + QStringList{"run.max_updates=6"});
        QCOMPARE(m_work->ask({"continue", name(run), "--json", "--set", "run.max_updates=12"}).code, 0);
        compare(run, straight);
        QCOMPARE(eventsOf(run, "micro_batch_halved").size(), std::size_t(1));
        QCOMPARE(eventsOf(run, "micro_batch_limit").size(), std::size_t(1));
        const auto reports = eventsOf(run, "resume_report");
        QVERIFY(!reports.empty());
        QCOMPARE(json::parse(reports.back().event.json)["outcome"], json("continues exactly"));
    }

    // LibTorch's own allocator under a limit on the address space
    void memoryThatReallyRunsOutIsHalvedUntilItFits() {
        const auto run = completed({"plugins.hungry.memory_mib=400", "plugins.hungry.mib_per_sample=64", "guard.on_out_of_memory=halve"});
        const auto events = eventsOf(run, "micro_batch_halved");
        QCOMPARE(events.size(), std::size_t(2));   // 1024 and 512 MiB are too much, 256 are not
        QCOMPARE(json::parse(events[0].event.json)["memory"]["requested_bytes"], json(std::int64_t{1024} << 20));
    }

    void oneSampleThatDoesNotFitEndsTheRun() {
        QCOMPARE(train({"plugins.hungry.memory_mib=300", "plugins.hungry.mib_per_sample=2048", "guard.on_out_of_memory=halve"}).code, static_cast<int>(ExitCode::OutOfMemory));
        const auto run = m_work->latest();
        QCOMPARE(eventsOf(run, "micro_batch_halved").size(), std::size_t(4));
        const auto record = rundir::readSession(run, 1).value();
        QVERIFY2(record.why.find("one sample") != std::string::npos, record.why.c_str());
        QCOMPARE(record.memory->shape, (std::vector<std::int64_t>{1, 1}));
        QCOMPARE(record.counters->updateAttempts.value(), 0);
    }

    void evaluationsAreComputedInPartsOnlyWhereThatIsWished() {
        const QStringList evaluating{"evaluation.every=4 updates", "evaluation.batch_size=15", "plugins.hungry.most_evaluated=4"};
        QCOMPARE(train(evaluating).code, static_cast<int>(ExitCode::OutOfMemory));
        const auto record = rundir::readSession(m_work->latest(), 1).value();
        QCOMPARE(record.memory->facts.doing, std::string("evaluating"));
        QCOMPARE(record.memory->remedies.front().edits.front().key, std::string("evaluation.batch_size"));
        QVERIFY(record.memory->remedies.front().whenGoingOn);
        QCOMPARE(m_work->ask({"continue", "latest", "--remedy", "1", "--json", "--set", "plugins.hungry.most_evaluated=8"}).code, 0);
        for (const char* ranks : {"parallel.ranks=1", "parallel.ranks=2"}) {
            const QStringList world{ranks, "accumulation.micro_batches=2", "data.batch_size=8"};
            const auto halved = completed(world + evaluating + QStringList{"guard.on_out_of_memory=halve"});
            QVERIFY(eventsOf(halved, "evaluation_halved").size() == 2);   // 8, 4
            const auto whole = completed(world + QStringList{"evaluation.every=4 updates", "evaluation.batch_size=15"});
            const auto losses = valuesOf(halved, "eval/loss"), expected = valuesOf(whole, "eval/loss");
            QCOMPARE(losses.size(), std::size_t(2));
            for (std::size_t i = 0; i < losses.size(); ++i) QVERIFY(std::abs(losses[i] - expected.at(i)) <= 1e-6 * std::abs(expected.at(i)));
        }
    }

    void whatRunsOutBeforeTrainingIsToldToo() {
        QCOMPARE(train({"model.name=mlp", "model.hidden=20000, 20000", "plugins.use=hungry", "plugins.hungry.memory_mib=500"}).code, static_cast<int>(ExitCode::OutOfMemory));
        const auto record = rundir::readSession(m_work->latest(), 1).value();
        QCOMPARE(record.memory->facts.doing, std::string("building the model"));
        QCOMPARE(record.memory->facts.device, std::string("cpu"));
        QCOMPARE(record.memory->facts.requested.value_or(0), std::uint64_t{20'000} * 20'000 * 8);   // weights are drawn with full precision
        QCOMPARE(record.memory->remedies.front().edits.front().key, std::string("model.hidden"));
    }

    void allRanksAgreeWhereOneFallsShort() {
        const QStringList ranks{"parallel.ranks=2", "parallel.check_replicas=1 updates", "run.max_updates=12"};
        for (const char* reduction : {"parallel.reduce_at=window", "parallel.reduce_at=micro_step", "parallel.reduction=tree"}) {
            const auto halved = completed(ranks + QStringList{"data.batch_size=8", "accumulation.micro_batches=2", "plugins.hungry.most_samples=4", "plugins.hungry.on_rank=1",
                                                              "guard.on_out_of_memory=halve", reduction});
            QCOMPARE(eventsOf(halved, "micro_batch_halved").size(), std::size_t(1));
            compare(halved, completed(ranks + QStringList{"data.batch_size=4", "accumulation.micro_batches=4", reduction}));
        }
    }

    void theRankThatFellShortIsNamedAndTheStateIsKept() {
        QCOMPARE(train({"parallel.ranks=2", "data.batch_size=8", "accumulation.micro_batches=2", "plugins.hungry.most_samples=4", "plugins.hungry.on_rank=1", "plugins.hungry.from_attempt=3"}).code,
                 static_cast<int>(ExitCode::OutOfMemory));
        const auto record = rundir::readSession(m_work->latest(), 1).value();
        QVERIFY2(record.why.starts_with("Rank 1") && record.memory && record.memory->rank == 1 && record.memory->microStep == 2, record.why.c_str());
        QVERIFY(!record.lastCheckpoint.empty());
        const Answer again = m_work->ask({"continue", "latest", "--json", "--remedy", "2"});   // guard.on_out_of_memory=halve
        QCOMPARE(again.json()["state"], json("completed"));
    }

private:
    static std::vector<store::EventRow> eventsOf(const rundir::RunFolder& run, const std::string& kind) {
        const auto reader = store::RunReader::open(run.database()).value();
        std::vector<store::EventRow> all = reader->events().value();
        std::erase_if(all, [&](const store::EventRow& row) { return row.event.kind != kind; });
        return all;
    }
    static std::vector<double> valuesOf(const rundir::RunFolder& run, const std::string& series) {
        const auto reader = store::RunReader::open(run.database()).value();
        std::vector<double> values;
        const auto points = reader->points(series, store::RunReader::Line::Surviving).value();
        for (const store::Point& point : points) values.push_back(point.value);
        return values;
    }
    static void compare(const rundir::RunFolder& run, const rundir::RunFolder& expected) {
        for (const char* series : {"train/loss", "train/grad_norm"}) {
            QVERIFY(!valuesOf(run, series).empty());
            QCOMPARE(valuesOf(run, series), valuesOf(expected, series));
        }
    }
    static QString name(const rundir::RunFolder& run) { return QString::fromStdString(rundir::readManifest(run)->id); }
    rundir::RunFolder completed(const QStringList& settings) const {
        const Answer answer = train(settings);
        if (answer.code != 0) qWarning("%s%s", answer.out.c_str(), answer.err.c_str());
        return rundir::RunFolder(answer.json()["folder"].get<std::string>());
    }
    Answer train(const QStringList& settings) const {
        QStringList words{"run", QString::fromStdString((m_work->scratch() / "line.yaml").string()), "--json"};
        for (const QString& setting : settings) words << "--set" << setting;
        return m_work->ask(words);
    }

    std::unique_ptr<Workspace> m_work;
};

QTEST_GUILESS_MAIN(OutOfMemoryTest)
#include "tst_out_of_memory.moc"
