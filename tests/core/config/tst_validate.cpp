// Wrong configurations: every problem at once, each with its key.
#include "config/config.h"
#include "config/metrics.h"

#include <QtTest/QTest>

#include <algorithm>

using namespace lathe;
using namespace lathe::config;

namespace {

/// A configuration that could be started, on top of which the tests go wrong.
const char* const kGood = "data:\n  train: /data/flowers\n";

std::vector<Problem> problemsOf(const std::string& yaml) { return check(parse(yaml, "/")); }

const Problem* find(const std::vector<Problem>& problems, const std::string& key) {
    const auto found = std::find_if(problems.begin(), problems.end(), [&](const Problem& problem) { return problem.key == key; });
    return found == problems.end() ? nullptr : &*found;
}

}  // namespace

class TestValidate : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theDefaultsOnlyLackTheirData() {
        const auto problems = validate(RunConfig{});
        QCOMPARE(problems.size(), std::size_t(1));
        QCOMPARE(problems.front().key, std::string("data.train"));
        QVERIFY(problemsOf(kGood).empty());
    }

    void theSwitchOfOlderFilesIsReadAsTheChoice() {
        const auto read = [](const char* value) { return parse(std::string(kGood) + "parallel:\n  deterministic: " + value + "\n", "/"); };
        QCOMPARE(read("true").config.parallel.determinism, std::string("exact"));
        QCOMPARE(read("false").config.parallel.determinism, std::string("fast"));
        QVERIFY(!hasErrors(read("false").problems));
        QVERIFY(hasErrors(read("perhaps").problems));
        QVERIFY(hasErrors(parse(std::string(kGood) + "parallel:\n  determinism: true\n", "/").problems));
    }

    void oneMistakeIsOneProblemWithItsKey_data() {
        QTest::addColumn<QString>("extra");
        QTest::addColumn<QString>("key");
        QTest::addColumn<QString>("part");
        QTest::addColumn<int>("severity");
        const auto row = [](const char* name, const char* extra, const char* key, const char* part, Severity severity = Severity::Error) {
            QTest::newRow(name) << QString(extra) << QString(key) << QString(part) << static_cast<int>(severity);
        };
        row("text for a number", "  batch_size: many\n", "data.batch_size", "whole number");
        row("quoted number", "  batch_size: \"32\"\n", "data.batch_size", "quotation marks");
        row("fraction for a count", "  batch_size: 3.5\n", "data.batch_size", "whole number");
        row("list for a number", "  batch_size: [32]\n", "data.batch_size", "a list stands");
        row("keys for a number", "  batch_size: {a: 1}\n", "data.batch_size", "keys stand");
        row("number without value", "  batch_size:\n", "data.batch_size", "value is missing");
        row("number for a switch", "  shuffle: 1\n", "data.shuffle", "true or false");
        row("out of range", "  batch_size: 0\n", "data.batch_size", "from 1");
        row("beyond 64 bits", "  batch_size: 123456789012345678901234567890\n", "data.batch_size", "whole number");
        row("not a number", "optimizer:\n  learning_rate: .nan\n", "optimizer.learning_rate", "above 0");
        row("infinite", "optimizer:\n  learning_rate: .inf\n", "optimizer.learning_rate", "above 0");
        row("negative", "optimizer:\n  learning_rate: -1e-3\n", "optimizer.learning_rate", "above 0");
        row("none where a number must be", "optimizer:\n  learning_rate: none\n", "optimizer.learning_rate", "not \"none\"");
        row("unknown choice", "model:\n  name: resnet51\n", "model.name", "did you mean resnet50?");
        row("list in a list", "model:\n  hidden: [64, [32]]\n", "model.hidden", "not a plain value");
        row("word in a list", "model:\n  hidden: [64, wide]\n", "model.hidden", "\"wide\"");
        row("zero in a list", "model:\n  hidden: [64, 0]\n", "model.hidden", "\"0\"");
        row("bad interval", "evaluation:\n  every: sometimes\n", "evaluation.every", "10 min");
        row("unknown key", "optimizer:\n  learning_rte: 1\n", "optimizer.learning_rte", "did you mean optimizer.learning_rate?");
        row("key of another section", "optimizer:\n  batch_size: 1\n", "optimizer.batch_size", "did you mean data.batch_size?");
        row("another program's word for a key of the section", "model:\n  kind: mlp\n", "model.kind", "did you mean model.name?");
        row("a word like no key of the section", "task:\n  zzzzzzzz: 1\n", "task.zzzzzzzz", "it has name, ");
        row("setting without its section", "name: striche\n", "name", "did you mean run.name?");
        row("another trainer's word", "optimizer:\n  lr: 3\n", "optimizer.lr", "did you mean optimizer.learning_rate?");
        row("another trainer's word without a section", "lr: 3\n", "lr", "did you mean optimizer.learning_rate?");
        row("unknown section", "optimiser:\n  name: sgd\n", "optimiser", "did you mean optimizer?");
        row("flat key beside sections", "batch_size: 3\n", "batch_size", "in the section data");
        row("section without keys", "optimizer: adamw\n", "optimizer", "must hold keys");
        row("no end", "run:\n  epochs: none\n", "run.epochs", "no end");
        row("patience, no evaluation", "evaluation:\n  every: never\n  patience: 3\n", "evaluation.patience", "never");
        row("patience, no data for it", "  eval_fraction: 0\nevaluation:\n  patience: 3\n", "evaluation.patience", "no evaluation data");
        row("evaluation without data", "  eval_fraction: 0\n", "data.eval_fraction", "nothing is evaluated", Severity::Warning);
        row("metric that no task has", "evaluation:\n  best_metric: bleu\n", "evaluation.best_metric", "accuracy, loss");
        row("metric of the other task", "task:\n  name: regression\nevaluation:\n  best_metric: accuracy\n", "evaluation.best_metric", "r2");
        row("no metric", "evaluation:\n  best_metric: \"\"\n", "evaluation.best_metric", "has no metric");
        row("nesterov alone", "optimizer:\n  name: sgd\n  momentum: 0\n  nesterov: true\n", "optimizer.nesterov", "momentum");
        row("nesterov and dampening", "optimizer:\n  name: sgd\n  nesterov: true\n  dampening: 0.1\n", "optimizer.nesterov", "dampening to 0");
        row("unknown optimizer", "optimizer:\n  name: adan\n", "optimizer.name", "did you mean adam?");
        row("group without a pattern", "optimizer:\n  groups: [\"lr_factor=3\"]\n", "optimizer.groups", "names no parameters");
        row("group that changes nothing", "optimizer:\n  groups: [head.*]\n", "optimizer.groups", "changes nothing");
        row("group with an unknown word", "optimizer:\n  groups: [head.* lr_facter=3]\n", "optimizer.groups", "did you mean lr_factor?");
        row("group with a negative factor", "optimizer:\n  groups: [head.* lr_factor=-1]\n", "optimizer.groups", "from 0 to 1000, not \"-1\"");
        row("group as a map without a pattern", "optimizer:\n  groups:\n    - {lr_factor: 1}\n", "optimizer.groups", "no pattern");
        row("negative layer decay", "optimizer:\n  layer_decay: -0.5\n", "optimizer.layer_decay", "above 0");
        row("clipping twice", "optimizer:\n  max_grad_value: 0.5\n", "optimizer.max_grad_value", "max_grad_norm to none");
        row("clipping below nothing", "optimizer:\n  max_grad_norm: none\n  max_grad_value: -1\n", "optimizer.max_grad_value", "above 0");
        row("mean that is not kept", "evaluation:\n  weights: ema\n", "evaluation.weights", "optimizer.ema to true");
        row("mean that keeps more than all", "optimizer:\n  ema: true\n  ema_decay: 1.5\n", "optimizer.ema_decay", "from 0 to 1");
        row("smoothing a regression", "task:\n  name: regression\n  label_smoothing: 0.1\n", "task.label_smoothing", "no effect", Severity::Warning);
        row("classes of a regression", "task:\n  name: regression\n  num_classes: 3\n", "task.num_classes", "no effect", Severity::Warning);
        row("more falls than updates", "run:\n  max_updates: 100\nschedule:\n  warmup_updates: 60\n  cycles: 50\n", "schedule.cycles", "the 40 updates");
        row("growth of one fall", "schedule:\n  cycle_growth: 2\n", "schedule.cycle_growth", "no effect", Severity::Warning);
        row("plateau, no evaluation", "evaluation:\n  every: never\nschedule:\n  name: plateau\n", "schedule.name", "never");
        row("plateau, no data for it", "  eval_fraction: 0\nevaluation:\n  every: never\nschedule:\n  name: plateau\n", "schedule.name", "never");
        row("cut that cuts nothing", "schedule:\n  name: plateau\n  decay_factor: 1\n", "schedule.decay_factor", "cuts nothing", Severity::Warning);
        row("negative factor", "schedule:\n  name: step\n  decay_factor: -0.5\n", "schedule.decay_factor", "above 0");
        row("negative final factor", "schedule:\n  final_factor: -1\n", "schedule.final_factor", "from 0 to 1");
        row("unknown schedule", "schedule:\n  name: cosin\n", "schedule.name", "did you mean cosine?");
        row("csv without target", "  format: csv\n", "data.target", "to predict");
        row("two targets of a classification", "  format: csv\n  target: [a, b]\n", "data.target", "one target");
        row("feature twice", "  format: csv\n  target: [y]\n  features: [a, a]\n", "data.features", "twice");
        row("target as feature", "  format: csv\n  target: [y]\n  features: [a, y]\n", "data.features", "both");
        row("weight as target", "  format: csv\n  target: [y]\n  weight: y\n", "data.weight", "the target");
        row("idx without labels", "  format: idx\n", "data.train_labels", "label file");
        row("idx evaluation without labels", "  format: idx\n  train_labels: l\n  eval: e\n", "data.eval_labels", "label file");
        row("convnet of nothing", "model:\n  name: convnet\n  filters: []\n", "model.filters", "at least one");
        row("device by name", "parallel:\n  device: gpu0\n", "parallel.device", "UUID");
        row("language without gpt", "task:\n  name: language\n", "model.name", "choose gpt");
        row("gpt without language", "model:\n  name: gpt\n", "model.name", "set task.name to language");
        row("classes of a text", "  format: text\n", "task.name", "neither classes nor targets");
        row("language of a table", "  format: csv\n  target: [y]\ntask:\n  name: language\nmodel:\n  name: gpt\n", "data.format", "a text file");
        row("heads that do not fit", "task:\n  name: language\nmodel:\n  name: gpt\n  width: 20\n", "model.heads", "multiple of 8");
        row("smoothing language", "task:\n  name: language\n  label_smoothing: 0.1\nmodel:\n  name: gpt\n", "task.label_smoothing", "on language", Severity::Warning);
        row("context of one", "  context: 1\n", "data.context", "from 2");
        row("best weights that are not kept", "evaluation:\n  restore_best: true\ncheckpoint:\n  keep_best: 0\n", "evaluation.restore_best", "keep_best");
        row("best weights without evaluation", "evaluation:\n  restore_best: true\n  every: never\n", "evaluation.restore_best", "nothing is best");
        row("recording nothing", "telemetry:\n  log_every: never\n", "telemetry.log_every", "records nothing");
        row("devices by updates", "telemetry:\n  devices_every: 10 updates\n", "telemetry.devices_every", "by time");
        row("home folder", "  eval: ~/flowers\n", "data.eval", "whole path", Severity::Warning);
        row("newer format", "format: 3\n", "", "newer Lathe");
        row("nonsense format", "format: x\n", "", "format must be 2");
    }
    void oneMistakeIsOneProblemWithItsKey() {
        QFETCH(QString, extra);
        QFETCH(QString, key);
        QFETCH(QString, part);
        QFETCH(int, severity);
        const auto problems = problemsOf(kGood + extra.toStdString());
        for (const Problem& problem : problems) qInfo("%s: %s", problem.key.c_str(), problem.sentence.c_str());
        QCOMPARE(problems.size(), std::size_t(1));
        QCOMPARE(problems.front().key, key.toStdString());
        QVERIFY2(QString::fromStdString(problems.front().sentence).contains(part), problems.front().sentence.c_str());
        QCOMPARE(static_cast<int>(problems.front().severity), severity);
        QCOMPARE(hasErrors(problems), severity == static_cast<int>(Severity::Error));
    }

    void groupsReadAsTextAndAsMaps() {
        const auto groupsOf = [](const std::string& yaml) { return parse(yaml, "/").config.optimizer.groups; };
        const std::vector<std::string> expected{"head.* lr_factor=10 weight_decay=0", "*.bias lr_factor=2"};
        QCOMPARE(groupsOf("optimizer:\n  groups:\n    - {pattern: head.*, lr_factor: 10, weight_decay: 0}\n    - {pattern: \"*.bias\", lr_factor: 2}\n"), expected);
        QCOMPARE(groupsOf("optimizer:\n  groups: [head.* lr_factor=10 weight_decay=0, \"*.bias lr_factor=2\"]\n"), expected);
    }
    void anOlderFormatKeepsWhatItMeant() {
        QCOMPARE(parse("format: 1\noptimizer:\n  weight_decay: 0.1\n", "/").config.optimizer.decayOn, std::string("all"));
        QCOMPARE(parse("optimizer:\n  weight_decay: 0.1\n", "/").config.optimizer.decayOn, std::string("weights"));
        const RunConfig older = parse("format: 1\nrun:\n  seed: 3\n", "/").config;
        QCOMPARE(parse(toYaml(older), "/").config.optimizer.decayOn, std::string("all"));
    }
    void allMistakesAreToldAtOnceAndTheRestIsKept() {
        const Loaded loaded = parse("data:\n  batch_size: -3\n  eval_fraction: 7\nmodel:\n  name: mlb\n  hidden: [8]\nrun:\n  epochs: none\n  sed: 3\nquark: {}\n", "/");
        const auto problems = check(loaded);
        for (const char* key : {"data.batch_size", "data.eval_fraction", "model.name", "run.sed", "quark", "run.epochs", "data.train"})
            QVERIFY2(find(problems, key), key);
        QCOMPARE(problems.size(), std::size_t(7));
        QCOMPARE(loaded.config.data.batchSize, DataSection{}.batchSize);
        QVERIFY(loaded.config.model.hidden == std::vector<std::int64_t>{8});
    }

    void everythingIsOptionalAndNullMeansUnset() {
        const Loaded loaded = parse("format: 1\nrun:\n  max_updates: 5\n  epochs: null\n  note:\noptimizer:\n  max_grad_norm: ~\ntask:\n", "/");
        QVERIFY(loaded.problems.empty());
        QVERIFY(!loaded.config.run.epochs && !loaded.config.optimizer.maxGradNorm);
        QCOMPARE(*loaded.config.run.maxUpdates, 5);
    }

    void settingsGoOnTopAndMendWhatWasWrong() {
        Loaded loaded = parse("data:\n  train: /x\n  batch_size: 0\n", "/");
        QVERIFY(hasErrors(check(loaded)));
        applySettings(loaded, {"data.batch_size=64", "optimizer.learning_rate=6e-4", "model.hidden=128, 32", "run.max_updates=10", "run.epochs=none", "run.name=a=b"});
        QVERIFY(check(loaded).empty());
        QCOMPARE(loaded.config.data.batchSize, 64);
        QCOMPARE(loaded.config.optimizer.learningRate, 6e-4);
        QVERIFY((loaded.config.model.hidden == std::vector<std::int64_t>{128, 32}));
        QCOMPARE(loaded.config.run.name, std::string("a=b"));
        QVERIFY(!loaded.config.run.epochs);
    }

    void pathsOfSettingsAreRelativeToTheWorkingFolder() {
        Loaded loaded = parse(kGood, "/");
        applySettings(loaded, {"data.train=some/where"});
        QCOMPARE(loaded.config.data.train, (std::filesystem::current_path() / "some/where").string());
    }

    void badSettingsAreAllTold() {
        Loaded loaded = parse(kGood, "/");
        applySettings(loaded, {"nonsense", "=3", "optimizer.learning_rat=1", "data.batch_size=x", "run.name=\xFF", "batch_size=3"});
        QCOMPARE(loaded.problems.size(), std::size_t(6));
        QVERIFY(find(loaded.problems, "nonsense")->sentence.find("section.key=value") != std::string::npos);
        QVERIFY(find(loaded.problems, "optimizer.learning_rat")->sentence.find("did you mean optimizer.learning_rate?") != std::string::npos);
        QVERIFY(find(loaded.problems, "batch_size")->sentence.find("did you mean data.batch_size?") != std::string::npos);
        QVERIFY(find(loaded.problems, "run.name")->sentence.find("UTF-8") != std::string::npos);
        QVERIFY(find(loaded.problems, "data.batch_size"));
        QCOMPARE(loaded.config.data.batchSize, DataSection{}.batchSize);
    }

    void metricsAreChosenFromTheListOfTheTask() {
        const auto chosen = [](const std::string& yaml) {
            std::string names;
            const auto metrics = chosenMetrics(parse(yaml, "/").config);
            for (const Metric& metric : metrics.value()) names += metric.name + " ";
            return names;
        };
        QVERIFY(chosen("") == "accuracy loss ");
        QVERIFY(chosen("evaluation:\n  metrics: [f1_macro, eval/auc]\n  best_metric: loss\n") == "loss f1_macro auc ");
        QVERIFY(chosen("evaluation:\n  metrics: [loss]\n") == "accuracy loss ");   // accuracy says what is best
        QVERIFY(chosen("task:\n  name: regression\n") == "loss mse mae r2 ");
    }

    void aMetricThatTheTaskDoesNotGiveIsRefusedWithTheList() {
        for (const std::string key : {"best_metric: bleu", "metrics: [accuracy, bleu]"}) {
            const auto problems = validate(parse("evaluation:\n  " + key + "\n", "/").config);
            const Problem* problem = find(problems, "evaluation." + key.substr(0, key.find(':')));
            QVERIFY(problem && problem->severity == Severity::Error);
            QVERIFY(problem->sentence.find("no metric \"bleu\"") != std::string::npos && problem->sentence.find("accuracy, loss, top3_accuracy") != std::string::npos);
        }
    }

    void theBestMetricComesWithItsDirection() {
        const auto best = [](const std::string& yaml) { return *bestMetric(parse(yaml, "/").config); };
        QVERIFY(best("").name == "accuracy" && best("").higherIsBetter);
        const std::string regression = "task:\n  name: regression\nevaluation:\n  best_metric: ";
        QVERIFY(best(regression + "auto\n").name == "loss" && !best(regression + "auto\n").higherIsBetter);
        QVERIFY(best(regression + "r2\n").name == "r2" && best(regression + "r2\n").higherIsBetter);
        QVERIFY(!best(regression + "r2\n  best_direction: min\n").higherIsBetter);
    }
};

QTEST_GUILESS_MAIN(TestValidate)
#include "tst_validate.moc"
