// The flat form: what each key is understood as, and what this version says it cannot do.
#include "config/config.h"
#include "config/flat_form.h"

#include <QtTest/QTest>

#include <algorithm>

using namespace lathe;
using namespace lathe::config;

namespace {

const char* const kHonourable = "pretrained: false\nuse_amp: false\n";

const Problem* findAbout(const Loaded& loaded, const std::string& part) {
    const auto found = std::find_if(loaded.problems.begin(), loaded.problems.end(),
                                    [&](const Problem& problem) { return problem.sentence.find(part) != std::string::npos; });
    return found == loaded.problems.end() ? nullptr : &*found;
}

}  // namespace

class TestFlatForm : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyKeyMapsToOneOfOurs() {
        const Loaded loaded = parse(R"(model_name: resnet18
num_classes: 5
pretrained: false
epochs: 7
batch_size: 16
learning_rate: 0.001
weight_decay: 0.01
warmup_steps: 20
max_grad_norm: 0.5
use_ddp: false
use_amp: false
gradient_accumulation_steps: 3
output_dir: out
checkpoint_dir: ck
seed: 9
log_every_n_steps: 10
accelerator: cpu
devices: 1
precision: 32-true
data.train: flowers
)", "/base");
        QVERIFY(loaded.flatForm);
        QVERIFY(!hasErrors(check(loaded)));
        const RunConfig& config = loaded.config;
        QCOMPARE(config.model.name, std::string("resnet18"));
        QCOMPARE(*config.task.numClasses, 5);
        QCOMPARE(*config.run.epochs, 7);
        QCOMPARE(config.data.batchSize, 16);
        QCOMPARE(config.optimizer.learningRate, 0.001);
        QCOMPARE(config.optimizer.weightDecay, 0.01);
        QCOMPARE(config.schedule.warmupUpdates, 20);
        QCOMPARE(*config.optimizer.maxGradNorm, 0.5);
        QCOMPARE(config.accumulation.microBatches, 3);
        QCOMPARE(config.run.seed, 9);
        QVERIFY((config.telemetry.logEvery == Interval{Interval::Unit::Updates, 10}));
        QCOMPARE(config.parallel.device, std::string("cpu"));
        QCOMPARE(config.precision.mode, std::string("fp32"));
        QCOMPARE(config.data.train, std::string("/base/flowers"));
        QCOMPARE(loaded.workspace.string(), std::string("/base/out"));
        for (const char* key : {"model_name", "num_classes", "pretrained", "epochs", "batch_size", "learning_rate", "weight_decay", "warmup_steps", "max_grad_norm", "use_ddp",
                                "use_amp", "gradient_accumulation_steps", "checkpoint_dir", "seed", "log_every_n_steps", "accelerator", "devices", "precision"}) {
            const Problem* told = findAbout(loaded, std::string(key) + ": ");
            QVERIFY2(told && told->severity == Severity::Notice, key);
        }
        QVERIFY(findAbout(loaded, "checkpoint_dir: ck is ignored"));
    }

    void absentKeysHaveTheFlatFormsDefaults() {
        const Loaded loaded = parse("epochs: 100\n", "/base");
        const RunConfig& config = loaded.config;
        QCOMPARE(config.model.name, std::string("resnet50"));
        QCOMPARE(*config.task.numClasses, 10);
        QCOMPARE(*config.run.epochs, 100);
        QCOMPARE(config.data.batchSize, 32);
        QCOMPARE(config.optimizer.learningRate, 3e-4);
        QCOMPARE(config.optimizer.weightDecay, 1e-4);
        QCOMPARE(config.schedule.warmupUpdates, 500);
        QCOMPARE(*config.optimizer.maxGradNorm, 1.0);
        QCOMPARE(config.accumulation.microBatches, 1);
        QCOMPARE(config.run.seed, 42);
        QCOMPARE(loaded.workspace.string(), std::string("/base/outputs"));
        QVERIFY(findAbout(loaded, "pretrained is not given")->severity == Severity::Error);
        QVERIFY(findAbout(loaded, "use_amp is not given")->severity == Severity::Notice);
        QCOMPARE(config.precision.mode, std::string("auto"));
        QVERIFY(findAbout(loaded, "batch_size is not given")->severity == Severity::Notice);
    }

    void whatCannotBeDoneIsSaid_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("key");
        QTest::addColumn<QString>("part");
        QTest::addColumn<int>("severity");
        const auto row = [](const char* line, const char* key, const char* part, Severity severity) {
            QTest::newRow(line) << QString(line) << QString(key) << QString(part) << static_cast<int>(severity);
        };
        row("precision: float7", "precision.mode", "32-true", Severity::Error);
        row("use_ddp: true", "parallel.device", "trains on one", Severity::Warning);
        row("strategy: ddp", "parallel.device", "trains on one", Severity::Warning);
        row("strategy: fsdp", "parallel.device", "trains on one", Severity::Warning);
        row("strategy: zero1", "parallel.device", "trains on one", Severity::Warning);
        row("strategy: zero3", "parallel.device", "trains on one", Severity::Warning);
        row("strategy: magic", "parallel.device", "not known", Severity::Error);
        row("devices: 2\nstrategy: zero3", "parallel.strategy", "write strategy: ddp", Severity::Error);
        row("devices: many", "parallel.device", "UUID", Severity::Error);
        row("accelerator: tpu", "parallel.device", "auto, cpu or gpu", Severity::Error);
        row("fast_dev_run: true", "run.max_updates", "run.max_updates: 1", Severity::Warning);
        row("fast_dev_run: maybe", "run.max_updates", "number of updates", Severity::Error);
        row("max_sequence_length: 1", "data.context", "from 2", Severity::Error);
        row("use_ddp: perhaps", "parallel.device", "true or false", Severity::Error);
        row("batch_size: many", "data.batch_size", "whole number", Severity::Error);
        row("batch_size: [1, 2]", "data.batch_size", "a list stands", Severity::Error);
        row("model_name: vgg16", "model.name", "resnet18", Severity::Error);
        row("learning_rte: 3", "learning_rte", "did you mean learning_rate?", Severity::Error);
        row("quark: 3", "quark", "data.train: folder", Severity::Error);
        row("max_grad_norm: -1", "optimizer.max_grad_norm", "above 0", Severity::Error);
    }
    void whatCannotBeDoneIsSaid() {
        QFETCH(QString, line);
        QFETCH(QString, key);
        QFETCH(QString, part);
        QFETCH(int, severity);
        const Loaded loaded = parse(kHonourable + line.toStdString() + "\n", "/base");
        const auto worse = std::count_if(loaded.problems.begin(), loaded.problems.end(), [](const Problem& problem) { return problem.severity != Severity::Notice; });
        QCOMPARE(worse, 1);
        const Problem* told = findAbout(loaded, part.toStdString());
        QVERIFY(told);
        QCOMPARE(told->key, key.toStdString());
        QCOMPARE(static_cast<int>(told->severity), severity);
    }

    void severalDevicesShareAnUpdateOfThatManyBatches() {
        for (const char* text : {"devices: 4\nstrategy: ddp\n", "devices: [0, 1, 2, 3]\nuse_ddp: true\n", "devices: 4\n"}) {
            const Loaded loaded = parse(std::string(kHonourable) + "gradient_accumulation_steps: 3\n" + text, "/base");
            QCOMPARE(loaded.config.parallel.ranks, 4);
            QCOMPARE(loaded.config.accumulation.microBatches, 12);
            QVERIFY(std::none_of(loaded.problems.begin(), loaded.problems.end(), [](const Problem& problem) { return problem.severity != Severity::Notice; }));
        }
    }

    void mixedPrecisionIsOneOfOurModes() {
        for (const auto& [theirs, ours] : {std::pair{"bf16-mixed", "bf16"}, {"16-mixed", "fp16"}, {"32-true", "fp32"}})
            QCOMPARE(parse(std::string(kHonourable) + "precision: " + theirs + "\n", "/base").config.precision.mode, std::string(ours));
    }

    void contradictionsAreErrors() {
        QVERIFY(findAbout(parse("pretrained: false\nuse_amp: true\nprecision: 32-true\n", "/"), "contradict")->severity == Severity::Error);
        QVERIFY(findAbout(parse("batch_size: 3\nper_device_train_batch_size: 4\n", "/"), "contradict")->severity == Severity::Error);
        QVERIFY(!findAbout(parse("batch_size: 4\nper_device_train_batch_size: 4\n", "/"), "contradict"));
    }

    void pretrainedAndMixedPrecisionAskForAnAnswer() {
        Loaded loaded = parse("use_amp: true\npretrained: true\ndata.train: x\n", "/");
        QCOMPARE(loaded.config.precision.mode, std::string("auto"));
        QCOMPARE(findAbout(loaded, "pretrained: true")->key, std::string("model.weights"));
        applySettings(loaded, {"model.weights=w.safetensors", "precision.mode=fp32"});
        QVERIFY(!hasErrors(check(loaded)));
    }

    void numbersOfFastDevRunAndPerDeviceBatchAreTaken() {
        const Loaded loaded = parse(std::string(kHonourable) + "fast_dev_run: 3\nper_device_train_batch_size: 8\n", "/");
        QCOMPARE(*loaded.config.run.maxUpdates, 3);
        QCOMPARE(loaded.config.data.batchSize, 8);
        QCOMPARE(loaded.trialUpdates, std::optional<std::int64_t>(3));
        QVERIFY(!loaded.config.run.epochs);
        QCOMPARE(loaded.config.evaluation.maxBatches, std::optional<std::int64_t>(3));
        QCOMPARE(loaded.config.evaluation.every.count, 3);
        QCOMPARE(loaded.config.checkpoint.every.count, 3);
        QVERIFY(!parse(std::string(kHonourable) + "fast_dev_run: false\n", "/").trialUpdates);
        QVERIFY(!parse(std::string(kHonourable) + "fast_dev_run: false\n", "/").config.run.maxUpdates);
        QVERIFY(!parse(std::string(kHonourable) + "max_grad_norm: 0\n", "/").config.optimizer.maxGradNorm);
        QCOMPARE(parse(std::string(kHonourable) + "precision: 64-true\n", "/").config.precision.mode, std::string("fp64"));
        QCOMPARE(parse(std::string(kHonourable) + "accelerator: gpu\n", "/").config.parallel.device, std::string("cuda"));
    }

    void aFileOfSectionsIsNotFlat() {
        QVERIFY(!parse("run:\n  epochs: 3\n", "/").flatForm);
        QVERIFY(!parse("run: {}\nbatch_size: 3\n", "/").flatForm);
        QVERIFY(!parse("precision:\n  mode: fp32\n", "/").flatForm);
        QVERIFY(!parse("format: 1\n", "/").flatForm);
        QVERIFY(parse("precision: 32-true\n", "/").flatForm);
    }

    void aNewerFormatIsRefusedHereToo() {
        const Loaded loaded = parse("format: 7\nepochs: 3\n", "/");
        QVERIFY(hasErrors(loaded.problems));
        QCOMPARE(loaded.problems.size(), std::size_t(1));
        QVERIFY(findAbout(loaded, "newer Lathe"));
    }
};

QTEST_GUILESS_MAIN(TestFlatForm)
#include "tst_flat_form.moc"
