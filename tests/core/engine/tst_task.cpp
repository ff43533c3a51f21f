// Losses and their gradients against plain PyTorch; metrics pooled by sums against closed forms.
#include "golden_file.h"

#include "engine/task/task.h"

#include <QTest>

#include <set>

using namespace lathe;
using namespace lathe::engine;

namespace {

dataset::Info classesInfo(std::size_t classes) {
    dataset::Info info;
    for (std::size_t i = 0; i < classes; ++i)
        info.classNames.push_back(std::to_string(i));
    return info;
}

dataset::Info targetsInfo(std::size_t targets) {
    dataset::Info info;
    for (std::size_t i = 0; i < targets; ++i)
        info.targetNames.push_back("y" + std::to_string(i));
    return info;
}

config::RunConfig section(const std::string& name, const std::string& loss = "mse", double smoothing = 0) {
    config::RunConfig config;
    config.task.name = name;
    config.task.loss = loss;
    config.task.labelSmoothing = smoothing;
    return config;
}

/// Everything that the task can give.
config::RunConfig withAllMetrics(const std::string& name, const std::vector<std::string>& but = {}) {
    config::RunConfig config = section(name);
    for (const config::Metric& metric : config::metricsOf(name))
        if (std::find(but.begin(), but.end(), metric.name) == but.end()) config.evaluation.metrics.push_back(metric.name);
    return config;
}

std::unique_ptr<Task> made(const config::RunConfig& task, const dataset::Info& info) {
    auto result = makeTask(task, info);
    LATHE_ASSERT(result);
    return std::move(*result);
}

Batch batchOf(at::Tensor target, at::Tensor weight = {}) {
    Batch batch;
    batch.target = std::move(target);
    batch.weight = std::move(weight);
    batch.ids.resize(static_cast<std::size_t>(batch.target.size(0)));
    return batch;
}

at::Tensor tensor(std::vector<double> values) { return at::tensor(values, at::kDouble); }
at::Tensor labels(std::vector<std::int64_t> values) { return at::tensor(values, at::kLong); }

}  // namespace

class TestTask : public QObject {
    Q_OBJECT

    std::map<std::string, at::Tensor> m_golden;

    void checkLoss(const Task& task, const at::Tensor& output, const Batch& batch, const std::string& golden) {
        for (const at::ScalarType dtype : {at::kDouble, at::kFloat}) {
            const double tolerance = dtype == at::kDouble ? 1e-10 : 1e-6;
            const at::Tensor guess = output.to(dtype).clone().set_requires_grad(true);
            Batch cast = batch;
            if (cast.target.is_floating_point())
                cast.target = cast.target.to(dtype);
            if (cast.weight.defined())
                cast.weight = cast.weight.to(dtype);
            const std::vector<LossTerm> terms = task.loss(guess, cast);
            QCOMPARE(terms.size(), 1U);
            terms[0].sum.backward();
            QVERIFY2(relativeDifference(terms[0].sum, m_golden.at(golden)) < tolerance, golden.c_str());
            QVERIFY2(relativeDifference(guess.grad(), m_golden.at(golden + "/gradient")) < tolerance, golden.c_str());
            const double weight = batch.weight.defined() ? batch.weight.sum().item<double>() : 6;
            QVERIFY(std::abs(task.weightsOf(cast).at(0) - weight) < 1e-6);
        }
    }

private Q_SLOTS:
    void initTestCase() { m_golden = readGolden("losses.safetensors"); }

    void crossEntropyEqualsPyTorch() {
        const at::Tensor logits = engine::made("logits", {6, 5}) * 8, weight = engine::made("weight", {6}) + 0.75;
        const at::Tensor target = (at::arange(6, at::kLong) * 3).remainder(5);
        for (const std::string smoothing : {"0.0", "0.1", "0.9"}) {
            const auto task = made(section("classification", "mse", std::stod(smoothing)), classesInfo(5));
            checkLoss(*task, logits, batchOf(target), "cross_entropy_" + smoothing);
            checkLoss(*task, logits, batchOf(target, weight), "cross_entropy_" + smoothing + "_weighted");
        }
    }

    void regressionLossesEqualPyTorch() {
        const at::Tensor guess = engine::made("guess", {6, 3}) * 6, target = engine::made("target", {6, 3}) * 6;
        const at::Tensor weight = engine::made("weight", {6}) + 0.75;
        for (const std::string loss : {"mse", "mae", "huber"}) {
            const auto task = made(section("regression", loss), targetsInfo(3));
            QCOMPARE(task->outputs(), 3);
            checkLoss(*task, guess, batchOf(target), loss);
            checkLoss(*task, guess, batchOf(target, weight), loss + "_weighted");
        }
    }

    void labelSmoothingIsTheStatedFormula() {
        const auto task = made(section("classification", "mse", 0.1), classesInfo(4));
        const at::Tensor output = at::zeros({1, 4}, at::kDouble);  // all classes equally likely: ln 4 whatever the smoothing
        QVERIFY(std::abs(task->loss(output, batchOf(labels({2})))[0].sum.item<double>() - std::log(4.0)) < 1e-15);
        output[0][2] = std::log(3.0);  // p = 1/6, 1/6, 1/2, 1/6
        const double expected = 0.9 * std::log(2.0) + 0.1 * (std::log(2.0) + 3 * std::log(6.0)) / 4;
        QVERIFY(std::abs(task->loss(output, batchOf(labels({2})))[0].sum.item<double>() - expected) < 1e-15);
    }

    void poolsAddSumsAndNeverMeans() {  // losses 1 x8 and 6 x2 in batches of 4, 4, 2: 2.0 and not 2.67
        const auto task = made(section("regression", "mae"), targetsInfo(1));
        const auto pool = task->metrics();
        pool->add(at::ones({4, 1}), batchOf(at::zeros({4, 1})));
        pool->add(at::ones({4, 1}), batchOf(at::zeros({4, 1})));
        pool->add(at::full({2, 1}, 6.0), batchOf(at::zeros({2, 1})));
        QCOMPARE(pool->values().at("loss"), 2.0);
        QCOMPARE(pool->values().at("mae"), 2.0);
        QCOMPARE(pool->values().at("mse"), 8.0);
    }

    void accuracyCountsEachSampleOnce() {
        const auto task = made(section("classification"), classesInfo(3));
        const auto pool = task->metrics();
        pool->add(at::eye(3), batchOf(labels({0, 1, 0})));
        pool->add(at::eye(3).narrow(0, 0, 1), batchOf(labels({0})));
        QCOMPARE(pool->values().at("accuracy"), 0.75);
        const double right = -1 + std::log(std::exp(1.0) + 2), wrong = std::log(std::exp(1.0) + 2);
        QVERIFY(std::abs(pool->values().at("loss") - (3 * right + wrong) / 4) < 1e-7);
    }

    void weightsCountInLossAndMetrics() {
        const auto task = made(section("classification"), classesInfo(2));
        const auto pool = task->metrics();
        pool->add(at::eye(2, at::kDouble), batchOf(labels({0, 0}), tensor({3, 1})));
        QCOMPARE(pool->values().at("accuracy"), 0.75);
        const auto regression = made(section("regression", "mse"), targetsInfo(1));
        const auto errors = regression->metrics();
        errors->add(tensor({2, 0}).unsqueeze(1), batchOf(tensor({0, 0}).unsqueeze(1), tensor({9, 1})));
        QCOMPARE(errors->values().at("mse"), 3.6);
        QCOMPARE(errors->values().at("loss"), 3.6);
    }

    void r2IsPooledOverBatchesWithoutCancellation() {
        const auto task = made(section("regression"), targetsInfo(2));
        const at::Tensor target = engine::made("target", {30, 2}) + 1e7, guess = target + engine::made("noise", {30, 2}) * 0.2;
        const auto whole = task->metrics(), parts = task->metrics();
        whole->add(guess, batchOf(target));
        for (const auto& [begin, count] : {std::pair{0, 13}, {13, 1}, {14, 16}})
            parts->add(guess.narrow(0, begin, count), batchOf(target.narrow(0, begin, count)));
        const at::Tensor residual = (target - guess).square().sum(0), spread = (target - target.mean(0)).square().sum(0);
        const double expected = (1 - residual / spread).mean().item<double>();
        QVERIFY(std::abs(whole->values().at("r2") - expected) < 1e-9);
        QVERIFY(std::abs(parts->values().at("r2") - expected) < 1e-9);
    }

    void mergingStatisticsOfSingleBatchesIsAddingThem_data() {
        QTest::addColumn<bool>("classes");
        QTest::newRow("classification") << true;
        QTest::newRow("regression") << false;
    }
    void mergingStatisticsOfSingleBatchesIsAddingThem() {
        QFETCH(bool, classes);
        const auto task = classes ? made(section("classification"), classesInfo(3)) : made(section("regression"), targetsInfo(3));
        const at::Tensor output = engine::made("output", {20, 3}).to(at::kFloat) * 3;
        const at::Tensor target = classes ? at::arange(20, at::kLong) % 3 : engine::made("target", {20, 3}).to(at::kFloat);
        const auto added = task->metrics(), merged = task->metrics();
        merged->merge(task->metrics()->statistics());  // of a rank without batches
        for (const auto& [begin, count] : {std::pair{0, 7}, {7, 1}, {8, 12}}) {
            const Batch batch = batchOf(target.narrow(0, begin, count));
            added->add(output.narrow(0, begin, count), batch);
            const auto one = task->metrics();
            one->add(output.narrow(0, begin, count), batch);
            merged->merge(one->statistics());
        }
        QVERIFY(added->values() == merged->values());
    }

    void r2OfAConstantTargetIsNoNumber() {
        const auto pool = made(section("regression"), targetsInfo(1))->metrics();
        pool->add(tensor({1, 2}).unsqueeze(1), batchOf(tensor({3, 3}).unsqueeze(1)));
        QVERIFY(std::isnan(pool->values().at("r2")));
        QCOMPARE(pool->values().at("mse"), 2.5);
    }

    void emptyPoolsSayNaN() {
        for (const auto& task : {made(section("classification"), classesInfo(2)), made(section("regression"), targetsInfo(1))}) {
            const auto values = task->metrics()->values();
            QCOMPARE(values.size(), task->metricInfo().size());
            for (const config::Metric& info : task->metricInfo())
                QVERIFY(std::isnan(values.at(info.name)));
        }
    }

    void nonFiniteOutputsShowAsWhatTheyAre() {
        const auto pool = made(section("classification"), classesInfo(2))->metrics();
        pool->add(at::full({2, 2}, std::numeric_limits<double>::quiet_NaN()), batchOf(labels({0, 1})));
        QVERIFY(std::isnan(pool->values().at("loss")));
    }

    void theNumberOfClassesComesFromTheDataOrTheConfiguration() {
        QCOMPARE(made(section("classification"), classesInfo(7))->outputs(), 7);
        config::RunConfig wide = section("classification");
        wide.task.numClasses = 12;
        QCOMPARE(made(wide, classesInfo(7))->outputs(), 12);
        wide.task.numClasses = 3;
        const auto narrow = makeTask(wide, classesInfo(7));
        QVERIFY(!narrow);
        QCOMPARE(narrow.error().key, std::string("task.num_classes"));
        QVERIFY(narrow.error().sentence.find("is 3, but the data hold 7 classes") != std::string::npos);
    }

    void tasksThatTheDataCannotServeAreRefused() {
        for (const auto& [task, info] : {std::pair{section("classification"), targetsInfo(1)}, {section("regression"), classesInfo(2)},
                                         {section("regression"), dataset::Info()}, {section("poetry"), classesInfo(2)}}) {
            const auto made = makeTask(task, info);
            QVERIFY(!made);
            QCOMPARE(made.error().code, ErrorCode::Config);
            QCOMPARE(made.error().key, std::string("task.name"));
        }
    }

    void aPoolNamesExactlyTheMetricsOfTheOneList() {
        for (const auto& [name, info] : {std::pair{"classification", classesInfo(2)}, {"regression", targetsInfo(1)}}) {
            std::set<std::string> listed, given;
            for (const config::Metric& metric : config::metricsOf(name)) listed.insert(metric.name);
            for (const auto& [metric, value] : made(withAllMetrics(name), info)->metrics()->values()) given.insert(metric);
            QVERIFY2(listed == given, name);
        }
    }
};

QTEST_GUILESS_MAIN(TestTask)
#include "tst_task.moc"
