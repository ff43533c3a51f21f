// Metrics against scikit-learn's values (shared data "metrics") and closed forms; the same bits however batches are cut.
#include "engine/task/class_scores.h"
#include "engine/task/task.h"
#include "shared_data.h"

#include <nlohmann/json.hpp>

#include <QTest>

#include <cmath>
#include <fstream>

using namespace lathe;
using namespace lathe::engine;
using nlohmann::json;

namespace {

json readJson(const std::string& name) {
    std::ifstream in(sharedData() / "metrics" / name);
    return json::parse(in, nullptr, false);
}

std::vector<double> numbers(const json& values) { return values.get<std::vector<double>>(); }

dataset::Info classesInfo(std::size_t classes) {
    dataset::Info info;
    for (std::size_t i = 0; i < classes; ++i) info.classNames.push_back("class " + std::to_string(i));
    return info;
}

config::RunConfig wanting(const std::string& task, const std::vector<std::string>& metrics) {
    config::RunConfig config;
    config.task.name = task;
    config.evaluation.metrics = metrics;
    return config;
}

std::vector<std::string> allBut(const std::vector<std::string>& without) {
    std::vector<std::string> names;
    for (const config::Metric& metric : config::metricsOf("classification"))
        if (std::find(without.begin(), without.end(), metric.name) == without.end()) names.push_back(metric.name);
    return names;
}

Batch batchOf(const at::Tensor& target, const at::Tensor& weight = {}) {
    Batch batch;
    batch.target = target;
    batch.weight = weight;
    batch.ids.resize(static_cast<std::size_t>(target.size(0)));
    return batch;
}

/// Everything in one batch.
std::map<std::string, double> valuesOf(const Task& task, const at::Tensor& output, const at::Tensor& target, const at::Tensor& weight = {}) {
    const auto pool = task.metrics();
    pool->add(output, batchOf(target, weight));
    return pool->values();
}

bool near(double actual, double expected, double tolerance = 1e-12) { return std::abs(actual - expected) <= tolerance; }

struct Sample {
    at::Tensor logits, labels;
};

Sample multiclass() {
    const json inputs = readJson("classification_inputs.json").at("multiclass");
    std::vector<double> logits;
    for (const json& row : inputs.at("logits")) {
        const auto values = numbers(row);
        logits.insert(logits.end(), values.begin(), values.end());
    }
    return {at::tensor(logits, at::kDouble).view({500, 7}), at::tensor(inputs.at("labels").get<std::vector<std::int64_t>>(), at::kLong)};
}

}  // namespace

class TestMetrics : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() {
        if (sharedData().empty()) qWarning("The shared data sets are absent: golden values are not compared");
    }

    void sevenClassesScoreAsScikitLearnSays() {
        if (sharedData().empty()) QSKIP("the shared data set metrics is absent");
        const json golden = readJson("classification_golden.json").at("multiclass");
        const auto task = makeTask(wanting("classification", allBut({"precision", "recall", "f1"})), classesInfo(7)).value();
        const Sample sample = multiclass();
        const auto values = valuesOf(*task, sample.logits, sample.labels);
        const std::map<std::string, double> expected{{"accuracy", golden.at("accuracy")}, {"loss", golden.at("log_loss")},
                                                     {"top3_accuracy", golden.at("top_k").at("3")}, {"top5_accuracy", golden.at("top_k").at("5")},
                                                     {"auc", golden.at("roc_auc").at("ovr_macro")}};
        for (const auto& [name, value] : expected) QVERIFY2(near(values.at(name), value), name.c_str());
        for (const std::string average : {"micro", "macro"})
            for (const std::string score : {"precision", "recall", "f1"})
                QVERIFY2(near(values.at(score + "_" + average), golden.at("averages").at(average).at(score).get<double>()), (score + average).c_str());
    }

    void theConfusionMatrixIsThatOfScikitLearn() {
        if (sharedData().empty()) QSKIP("the shared data set metrics is absent");
        const json golden = readJson("classification_golden.json").at("multiclass");
        const auto task = makeTask(wanting("classification", {}), classesInfo(7)).value();
        const Sample sample = multiclass();
        const auto pool = task->metrics();
        pool->add(sample.logits, batchOf(sample.labels));
        const auto records = pool->records();
        QCOMPARE(records.size(), 1U);
        QCOMPARE(records[0].name, std::string("confusion"));
        const json table = json::parse(records[0].content);
        QCOMPARE(table.at("columns").at(3).get<std::string>(), std::string("class 2"));
        for (std::size_t actual = 0; actual < 7; ++actual) {
            json row = table.at("rows").at(actual);
            QCOMPARE(row.at(0).get<std::string>(), "class " + std::to_string(actual));
            row.erase(0);
            QVERIFY(row == golden.at("confusion_rows_true").at(actual));
        }
    }

    void twoClassesWithTiedScoresScoreAsScikitLearnSays() {
        if (sharedData().empty()) QSKIP("the shared data set metrics is absent");
        const json golden = readJson("classification_golden.json").at("binary"), inputs = readJson("classification_inputs.json").at("binary");
        const at::Tensor scores = at::tensor(numbers(inputs.at("scores")), at::kDouble);
        const at::Tensor labels = at::tensor(inputs.at("labels").get<std::vector<std::int64_t>>(), at::kLong);
        const auto task = makeTask(wanting("classification", allBut({})), classesInfo(2)).value();
        // The threshold of the golden values counts a score of 0.5 as positive: of equal logits the first class is the answer.
        const at::Tensor logits = at::stack({(1 - scores).log() - 1e-13, scores.log()}, 1);
        const auto values = valuesOf(*task, logits, labels);
        for (const std::string name : {"accuracy", "precision", "recall", "f1"}) QVERIFY2(near(values.at(name), golden.at(name).get<double>()), name.c_str());
        QVERIFY(near(values.at("auc"), golden.at("roc_auc").get<double>(), 1e-12));
        QVERIFY(near(values.at("loss"), golden.at("log_loss").get<double>(), 1e-12));
        QCOMPARE(values.at("top3_accuracy"), 1.0);
    }

    void regressionErrorsAreScikitLearns() {
        if (sharedData().empty()) QSKIP("the shared data set metrics is absent");
        const json golden = readJson("classification_golden.json").at("regression"), inputs = readJson("classification_inputs.json").at("regression");
        dataset::Info info;
        info.targetNames = {"y"};
        const auto task = makeTask(wanting("regression", {}), info).value();
        const at::Tensor guess = at::tensor(numbers(inputs.at("predictions")), at::kDouble).unsqueeze(1), target = at::tensor(numbers(inputs.at("targets")), at::kDouble).unsqueeze(1);
        const auto values = valuesOf(*task, guess, target);
        for (const std::string name : {"mse", "mae", "r2"}) QVERIFY2(near(values.at(name), golden.at(name).get<double>(), 1e-11), name.c_str());
    }

    void howBatchesAreCutAndMergedChangesNoBit() {
        const auto task = makeTask(wanting("classification", allBut({"precision", "recall", "f1"})), classesInfo(5)).value();
        at::manual_seed(3);
        const at::Tensor output = at::randn({101, 5}) * 2, target = at::randint(5, {101}, at::kLong), weight = at::rand({101});
        const auto whole = valuesOf(*task, output, target, weight);
        for (const std::int64_t size : {1, 7, 32}) {
            const auto merged = task->metrics();
            merged->merge(task->metrics()->statistics());   // of a rank without batches
            for (std::int64_t begin = 0; begin < 101; begin += size) {
                const std::int64_t count = std::min<std::int64_t>(size, 101 - begin);
                const auto part = task->metrics();
                part->add(output.narrow(0, begin, count), batchOf(target.narrow(0, begin, count), weight.narrow(0, begin, count)));
                merged->merge(part->statistics());
            }
            QVERIFY(merged->values() == whole);
            const auto records = merged->records();
            QCOMPARE(records.size(), 1U);
        }
    }

    /// SEMANTICS K4: what pads a batch changes no statistic
    void paddedSamplesOfWeightZeroCountNowhere() {
        const auto task = makeTask(wanting("classification", allBut({})), classesInfo(2)).value();
        const at::Tensor output = at::tensor({2.0, 1.0, 0.0, 1.0, 3.0, 0.0}).view({3, 2}), target = at::tensor({0, 1, 1}, at::kLong);
        const auto alone = valuesOf(*task, output, target);
        const at::Tensor padding = at::full({2, 2}, std::numeric_limits<float>::quiet_NaN());
        const auto padded = valuesOf(*task, at::cat({output, padding}), at::tensor({0, 1, 1, 0, 1}, at::kLong), at::tensor({1.0, 1.0, 1.0, 0.0, 0.0}));
        for (const auto& [name, value] : alone) QVERIFY2(padded.at(name) == value, name.c_str());
    }

    void anAreaCountsTiesHalfAndWeighsPairs() {
        const std::vector<double> ones(4, 1.0);
        QCOMPARE(areaUnderCurve(std::vector{0.1, 0.4, 0.35, 0.8}, {false, false, true, true}, ones), 0.75);   // scikit-learn's example
        QCOMPARE(areaUnderCurve(std::vector{0.5, 0.5, 0.5, 0.5}, {false, true, true, false}, ones), 0.5);
        QCOMPARE(areaUnderCurve(std::vector{0.1, 0.9, 0.5}, {true, true, false}, std::vector{3.0, 1.0, 2.0}), 0.25);
        QVERIFY(std::isnan(areaUnderCurve(std::vector{0.1, 0.9}, {true, true}, std::vector{1.0, 1.0})));
        QVERIFY(std::isnan(areaUnderCurve({}, {}, {})));
    }

    void classesThatNeverOccurDoNotLowerTheMacroAverage() {
        Confusion confusion(3);   // the third class is neither there nor predicted
        confusion.at(0, 0) = 1;
        confusion.at(0, 1) = 1;
        confusion.at(1, 1) = 2;
        const PrecisionRecall macro = macroAverage(confusion);
        QVERIFY(near(macro.precision, (1 + 2.0 / 3) / 2) && near(macro.recall, 0.75) && near(macro.f1, (2.0 / 3 + 0.8) / 2));
    }

    void ofManyClassesTheMostFrequentConfusionsAreTold() {
        const auto task = makeTask(wanting("classification", {}), classesInfo(300)).value();
        const auto pool = task->metrics();
        const at::Tensor target = at::tensor({0, 0, 0, 7, 299}, at::kLong);
        pool->add(at::one_hot(at::tensor({5, 5, 0, 7, 2}, at::kLong), 300).to(at::kFloat), batchOf(target));
        const json table = json::parse(pool->records().at(0).content);
        QVERIFY(table.at("rows") == json::parse(R"([["class 0", "class 5", 2.0], ["class 299", "class 2", 1.0]])"));
        QVERIFY(pool->records().at(0).content.size() <= kMostRecordBytes);
    }

    void metricsThatTheClassesCannotGiveAreRefused() {
        const auto f1 = makeTask(wanting("classification", {"f1"}), classesInfo(3));
        QVERIFY(!f1 && f1.error().key == "evaluation.metrics" && f1.error().sentence.find("f1_macro") != std::string::npos);
        const auto area = makeTask(wanting("classification", {"auc"}), classesInfo(101));
        QVERIFY(!area && area.error().sentence.find("at most 100 classes") != std::string::npos);
    }

    void oneClassAloneHasNoArea() {
        const auto task = makeTask(wanting("classification", {"auc"}), classesInfo(2)).value();
        const auto values = valuesOf(*task, at::eye(2), at::tensor({1, 1}, at::kLong));
        QVERIFY(std::isnan(values.at("auc")));
        QCOMPARE(values.at("accuracy"), 0.5);
    }
};

QTEST_GUILESS_MAIN(TestMetrics)
#include "tst_metrics.moc"
