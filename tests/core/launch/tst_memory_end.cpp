// labels: fast
// What is written down when memory ran out, and what is said to help: changes that can be made, the cheapest first.
#include "launch/session/memory_end.h"

#include "base/file_system.h"
#include "config/config.h"
#include "rundir/json_reader.h"

#include <nlohmann/json.hpp>

#include <QtTest>

using namespace lathe;
using namespace lathe::launch;
using rundir::MemoryRecord;
using rundir::Remedy;

namespace {

MemoryRecord training() {
    MemoryRecord record;
    record.facts = {"cuda:0", "computing an update", std::uint64_t{2} << 30, std::uint64_t{120} << 20, std::uint64_t{15} << 30, std::uint64_t{16} << 30};
    record.attempt = 121;
    record.microStep = 2;
    record.microSteps = 4;
    record.shape = {32, 3, 224, 224};
    record.samples = {5, 9, 1};
    return record;
}

std::vector<std::string> keysOf(const std::vector<Remedy>& remedies) {
    std::vector<std::string> keys;
    for (const Remedy& remedy : remedies) keys.push_back(remedy.edits.front().key);
    return keys;
}

config::RunConfig resnet() {
    config::RunConfig config;
    config.data.train = "photos";
    config.model.name = "resnet50";
    return config;
}

}  // namespace

class MemoryEndTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void sentenceNamesDeviceAmountsAndTheBatch() {
        QCOMPARE(rundir::sentenceOf(training()),
                 std::string("The memory of GPU 0 ran out while computing an update: 2.0 GiB more were asked for, 120.0 MiB of 16.0 GiB were free, this process had 15.0 GiB at its peak; "
                             "in micro-step 2 of 4 of update attempt 121, 32 samples (32 x 3 x 224 x 224)"));
    }

    void halfTheBatchComesFirstAndKeepsTheUpdate() {
        const config::RunConfig config = resnet();
        const auto remedies = remediesFor(config, training());
        QVERIFY(!remedies.empty());
        QCOMPARE(remedies[0].edits, (std::vector<Remedy::Edit>{{"data.batch_size", "32", "16"}, {"accumulation.micro_batches", "1", "2"}}));
        QVERIFY2(remedies[0].cost.find("BatchNorm is over 16 samples at a time instead of 32") != std::string::npos, remedies[0].cost.c_str());
        QVERIFY(!remedies[0].whenGoingOn);
        QCOMPARE(remedies[1].edits, (std::vector<Remedy::Edit>{{"guard.on_out_of_memory", "stop", "halve"}}));
        QVERIFY(remedies[1].whenGoingOn);
        const auto keys = keysOf(remedies);
        for (const char* key : {"precision.mode", "data.image_size", "model.name"}) QVERIFY2(std::find(keys.begin(), keys.end(), key) != keys.end(), key);
    }

    void everyRemedyIsAConfigurationThatCanBeRun() {
        for (const char* doing : {"computing an update", "evaluating", "building the model", "loading the data"}) {
            for (const char* device : {"cuda:0", "cpu", ""}) {
                MemoryRecord record = training();
                record.facts.doing = doing;
                record.facts.device = device;
                for (config::RunConfig config : {resnet(), config::RunConfig()}) {
                    config.data.train = "photos";
                    config.data.loaderThreads = 4;
                    config.optimizer.ema = true;
                    config.evaluation.weights = "ema";
                    config.parallel.ranks = 2;
                    config.accumulation.microBatches = 2;
                    const auto remedies = remediesFor(config, record);
                    QVERIFY2(!remedies.empty(), doing);
                    for (const Remedy& remedy : remedies) {
                        config::Loaded changed{.config = config, .problems = {}, .preset = {}, .workspace = {}};
                        std::vector<std::string> settings;
                        for (const Remedy::Edit& edit : remedy.edits) settings.push_back(edit.key + "=" + edit.to);
                        config::applySettings(changed, settings);
                        QVERIFY2(!config::hasErrors(config::check(changed)), settings.front().c_str());
                        QVERIFY(config::diff(config, changed.config).size() == remedy.edits.size());
                    }
                }
            }
        }
    }

    /// A model that is many times too large: nothing that leaves its weights as they are is offered.
    void whatCannotBeEnoughIsNotOffered() {
        config::RunConfig config;
        config.data.train = "photos";
        config.model.name = "mlp";
        config.model.hidden = {1'000'000, 1'000'000};
        config.data.loaderThreads = 2;
        config.parallel.ranks = 2;
        config.accumulation.microBatches = 2;
        config.optimizer.ema = true;
        MemoryRecord record;
        record.facts = {"cpu", "building the model", std::uint64_t{8'000'000'000'000}, std::uint64_t{20'000'000'000}, std::uint64_t{400'000'000}, std::uint64_t{24'000'000'000}};
        const auto remedies = remediesFor(config, record);
        QCOMPARE(keysOf(remedies), (std::vector<std::string>{"model.hidden"}));
        QCOMPARE(remedies[0].edits[0].to, std::string("31250, 31250"));   // a 1024th of the weights
        config.model.hidden = {4};
        QVERIFY(remediesFor(config, record).empty());
    }

    void aChangeIsAsLargeAsItMustBe() {
        MemoryRecord record = training();   // had 15 GiB
        record.facts.requested = std::uint64_t{100} << 30;
        const auto remedies = remediesFor(resnet(), record);
        QCOMPARE(remedies[0].edits, (std::vector<Remedy::Edit>{{"data.batch_size", "32", "4"}, {"accumulation.micro_batches", "1", "8"}}));
        QVERIFY2(remedies[0].cost.find("BatchNorm is over 4 samples at a time instead of 32") != std::string::npos, remedies[0].cost.c_str());
        const auto keys = keysOf(remedies);
        QVERIFY(std::find(keys.begin(), keys.end(), "precision.mode") == keys.end());   // a half is not enough
        QVERIFY(std::find(keys.begin(), keys.end(), "model.name") == keys.end());       // more than the device has
        for (const Remedy& remedy : remedies)
            if (remedy.edits[0].key == "data.image_size") QCOMPARE(remedy.edits[0].to, std::string("56"));
    }

    /// Behind those that can be enough, and told as what they are.
    void whatIsNotKnownToBeEnoughComesLast() {
        config::RunConfig config = resnet();
        config.optimizer.ema = true;
        const auto remedies = remediesFor(config, training());
        QCOMPARE(remedies.back().edits[0].key, std::string("model.name"));
        QVERIFY2(remedies.back().cost.ends_with("how much less is needed then is not known"), remedies.back().cost.c_str());
        QCOMPARE(remedies[remedies.size() - 2].edits[0].key, std::string("optimizer.ema"));
        MemoryRecord killed = training();
        killed.facts.requested.reset();
        for (const Remedy& remedy : remediesFor(config, killed)) QVERIFY(remedy.cost.find("not known") == std::string::npos);
    }

    void aBatchOfOneIsNotHalved() {
        config::RunConfig config = resnet();
        config.data.batchSize = 1;
        const auto keys = keysOf(remediesFor(config, training()));
        QVERIFY(std::find(keys.begin(), keys.end(), "data.batch_size") == keys.end());
    }

    void evaluationsAreHelpedByTheirOwnBatch() {
        MemoryRecord record = training();
        record.facts.doing = "evaluating";
        const auto remedies = remediesFor(resnet(), record);
        QCOMPARE(remedies[0].edits, (std::vector<Remedy::Edit>{{"evaluation.batch_size", "none", "16"}}));
        QVERIFY(remedies[0].whenGoingOn);
    }

    void recordComesBackAsItWas() {
        MemoryRecord record = training();
        record.killed = true;
        record.rank = 3;
        record.remedies = remediesFor(resnet(), record);
        const nlohmann::json json = rundir::memoryJson(record);
        rundir::JsonReader reader(json, "test");
        const MemoryRecord back = rundir::readMemory(reader);
        QVERIFY(reader.check().ok());
        QCOMPARE(rundir::memoryJson(back), json);
        QCOMPARE(rundir::sentenceOf(back), rundir::sentenceOf(record));
    }

    void damagedRecordsAreRefusedNotBelieved() {
        for (const char* text : {R"({"shape": "wide"})", R"({"requested_bytes": -1})", R"({"remedies": [{"edits": [{"from": "1"}]}]})", R"({"remedies": [3]})"}) {
            const nlohmann::json json = nlohmann::json::parse(text);
            rundir::JsonReader reader(json, "test");
            rundir::readMemory(reader);
            QVERIFY2(!reader.check().ok(), text);
        }
    }

    void whoWasKilledIsToldByItsLastBeat() {
        live::Heartbeat beat;
        beat.phase = live::Phase::Training;
        beat.attempt = 41;
        const MemoryRecord record = memoryOfEnd({}, beat, 1, resnet());
        QVERIFY(record.killed && record.rank == 1 && record.attempt == 42 && !record.remedies.empty());
        QVERIFY2(rundir::sentenceOf(record).find("the system ended the worker") != std::string::npos, rundir::sentenceOf(record).c_str());
    }

    void remediesOfARunAreSettings() {
        QTemporaryDir folder;
        const rundir::RunFolder run(folder.path().toStdString());
        std::filesystem::create_directories(run.sessions());
        rundir::SessionRecord session;
        session.verb = "start";
        session.state = rundir::State::OutOfMemory;
        QVERIFY(rundir::writeSession(FileSystem::real(), run, session).ok());
        QVERIFY(remedySettings(run, 1, false).error().sentence.find("not how") != std::string::npos);
        session.memory = training();
        session.memory->remedies = remediesFor(resnet(), training());
        QVERIFY(rundir::writeSession(FileSystem::real(), run, session).ok());
        QCOMPARE(remedySettings(run, 1, false).value(), (std::vector<std::string>{"data.batch_size=16", "accumulation.micro_batches=2"}));
        QVERIFY(remedySettings(run, 1, true).error().sentence.find("--remedy 1") != std::string::npos);
        QVERIFY(remedySettings(run, 99, false).error().sentence.find("There is no remedy 99") != std::string::npos);
        session.memory->remedies.clear();
        QVERIFY(rundir::writeSession(FileSystem::real(), run, session).ok());
        QVERIFY(!remedySettings(run, 1, false).ok());
    }
};

QTEST_GUILESS_MAIN(MemoryEndTest)
#include "tst_memory_end.moc"
