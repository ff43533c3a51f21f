// Language modelling on bytes: the decoder against plain PyTorch (golden/make_gpt_golden.py), documents that do not see each
// other, pooled metrics, samples, ranks, and windows that close by weight.
#include "engine/data/loader.h"
#include "engine/model/text_operators.h"
#include "engine/parallel/data_parallel.h"
#include "engine/session/sources.h"
#include "golden_file.h"
#include "loop_fixture.h"
#include "shared_data.h"

#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>

#include <QtTest>

#include <fstream>
#include <thread>

using namespace lathe;
using namespace lathe::engine;
using namespace lathe::engine::test;

namespace {

config::RunConfig languageConfig(std::int64_t context = 12) {
    config::RunConfig config;
    config.data.format = "text";
    config.data.context = context;
    config.data.batchSize = 4;
    config.task.name = "language";
    config.model.name = "gpt";
    config.model.width = 16;
    config.model.heads = 2;
    config.model.layers = 2;
    config.evaluation.sampleBytes = 12;
    return config;
}

std::unique_ptr<Task> languageTask(const config::RunConfig& config = languageConfig()) {
    dataset::Info info;
    info.context = config.data.context;
    return makeTask(config, info).value();
}

std::unique_ptr<Model> gpt(const config::RunConfig& config, bool packed, std::int64_t symbols = 256, at::ScalarType type = at::kDouble) {
    ModelShape shape{.features = config.data.context, .outputs = symbols, .context = config.data.context, .packed = packed};
    return makeModel(config.model, shape, 3, type, at::kCPU).value();
}

/// As make_gpt_golden.py sets them.
void setGptWeights(Model& model) {
    const at::NoGradGuard noGrad;
    for (const NamedTensor& named : model.parameters()) {
        at::Tensor values = engine::made(named.name, named.tensor.sizes());
        if (named.tensor.dim() > 1) values *= 2.0 * std::pow(static_cast<double>(values.numel() / values.size(0)), -0.5) * std::sqrt(3.0);
        else if (named.name.ends_with("weight")) values = values * 0.5 + 1.0;
        named.tensor.copy_(values);
    }
}

/// Rows of `tokens` [N, T + 1] whose further documents begin at `starts`: what a loader of text makes of them.
Batch packedBatch(const at::Tensor& tokens, const std::vector<std::vector<std::int64_t>>& starts) {
    const std::int64_t rows = tokens.size(0), context = tokens.size(1) - 1;
    Batch batch;
    at::Tensor documents = at::zeros({rows, context}, at::kLong);
    batch.target = tokens.narrow(1, 1, context).clone();
    for (std::int64_t row = 0; row < rows; ++row)
        for (const std::int64_t start : starts[static_cast<std::size_t>(row)]) {
            documents[row].narrow(0, start, context - start) += 1;
            batch.target[row][start - 1] = -100;
        }
    batch.input = at::stack({tokens.narrow(1, 0, context), documents}, 1);
    batch.weight = batch.target.ne(-100).sum(1).to(at::kDouble);
    batch.ids.resize(static_cast<std::size_t>(rows));
    return batch;
}

at::Tensor goldenTokens() { return ((engine::made("tokens", {3, 13}) + 0.5) * 24).to(at::kLong); }

at::Tensor lossesOf(Model& model, const Batch& batch) {
    Context context;
    const at::Tensor output = model.forward(context, batch.input);
    return at::cross_entropy_loss(output.flatten(0, 1), batch.target.flatten(), {}, at::Reduction::None, -100).view(batch.target.sizes());
}

/// A text file of sentences, some of them long, and what a run of it is made of.
struct TextRun {
    explicit TextRun(const config::RunConfig& wanted, const plan::Sharing& sharing = {}) : config(wanted) {
        data = openRunData(config).value();
        trainLoader = Loader::open(data.train, LoaderSettings::training(config, at::kCPU, sharing).value()).value();
        evalLoader = Loader::open(data.eval, LoaderSettings::evaluation(config, at::kCPU, {sharing.rank, sharing.world, false})).value();
        task = makeTask(config, data.train.dataset->info()).value();
        model = makeModel(config.model, data.modelShape(task->outputs()), 3, at::kFloat, at::kCPU).value();
        table = std::make_unique<ParamTable>(*model);
        storage = std::make_unique<FlatStorage>(*table);
        optimizer = Optimizer::make(config.optimizer, *storage).value();
        windows = std::make_unique<LoaderWindows>(*trainLoader);
        evaluation = std::make_unique<LoaderEvaluation>(*evalLoader);
    }
    config::RunConfig config;
    RunData data;
    std::unique_ptr<Loader> trainLoader, evalLoader;
    std::unique_ptr<Task> task;
    std::unique_ptr<Model> model;
    std::unique_ptr<ParamTable> table;
    std::unique_ptr<FlatStorage> storage;
    std::unique_ptr<Optimizer> optimizer;
    std::unique_ptr<LoaderWindows> windows;
    std::unique_ptr<LoaderEvaluation> evaluation;
};

struct Outcome {
    std::vector<double> losses, norms, weights;
    std::vector<Metrics> metrics;
    std::vector<std::string> samples;
    std::int64_t tokens = 0;
    bool operator==(const Outcome&) const = default;
};

/// What the first of so many ranks sees of two epochs.
Outcome trained(const config::RunConfig& config, int world, const Interval& evaluateEvery = {Interval::Unit::Epochs, 1}) {
    Outcome outcome;
    const QTemporaryDir folder;
    config::ParallelSection section;
    section.ranks = world;
    section.reduction = "tree";
    std::vector<std::thread> threads;
    for (int rank = 0; rank < world; ++rank)
        threads.emplace_back([&, rank] {
            at::set_num_threads(1);
            const RankPlace place{.rank = rank, .world = world, .rendezvous = folder.filePath("meet").toStdString(), .timeout = std::chrono::seconds(60)};
            const auto parallel = makeParallel(section, place).value();
            TextRun run(config, parallel->sharing());
            Fixture f;
            const plan::OrderShape order(run.trainLoader->shape());
            BestValue best = BestValue::make({}, run.task->metricInfo()).value();
            f.recorder.act = [&](const HookContext& context, Wishes&) {
                if (context.point != Point::EvalEnd || rank != 0) return;
                outcome.metrics.push_back(context.evaluation->metrics);
                for (const EvaluationRecord& record : context.evaluation->records) outcome.samples.push_back(record.content);
            };
            TrainerParts parts{.task = run.task.get(), .model = run.model.get(), .storage = run.storage.get(), .optimizer = run.optimizer.get(), .parallel = parallel.get(),
                               .precision = f.precision.get(), .order = &order, .windows = run.windows.get(), .evaluationData = run.evaluation.get(),
                               .curve = &f.curve, .best = &best, .progress = &f.progress, .time = &f.time, .hooks = {&f.recorder}};
            f.settings.epochs = 2;
            f.curve = Curve({}, 0.01);
            f.settings.maxGradNorm = 1.0;
            f.settings.evaluateEvery = evaluateEvery;
            const Ending ending = Trainer(parts, f.settings).run();
            if (ending.state != rundir::State::Completed) qWarning("%s", ending.why.c_str());
            if (rank != 0) return;
            for (const Row& row : f.recorder.rows) {
                outcome.losses.push_back(row.result.loss);
                outcome.norms.push_back(row.result.gradNorm);
                outcome.weights.push_back(row.result.weight);
            }
            outcome.tokens = f.progress.counters.tokens.value();
        });
    for (std::thread& thread : threads) thread.join();
    return outcome;
}

}  // namespace

class TestLanguage : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::map<std::string, at::Tensor> m_golden;

    /// Sentences of uneven length as documents.
    config::RunConfig sentences() {
        const QString file = m_folder.filePath("sentences.txt");
        QFile out(file);
        if (!out.open(QIODevice::WriteOnly)) qFatal("cannot write");
        for (int i = 0; i < 60; ++i) out.write(QByteArray("the cat sat on mat ").left(3 + i * 7 % 16) + QByteArray::number(i * i) + "\n");
        out.close();
        config::RunConfig config = languageConfig();
        config.data.train = file.toStdString();
        config.data.documents = "line";
        config.data.evalFraction = 0.2;
        config.model.dropout = 0.1;
        return config;
    }

private Q_SLOTS:
    void initTestCase() { m_golden = readGolden("gpt.safetensors"); }

    void forwardAndBackwardEqualPyTorch_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"llama", "packed", "gpt2"}) QTest::newRow(name) << name;
    }
    void forwardAndBackwardEqualPyTorch() {
        QFETCH(QString, name);
        const std::string prefix = name.toStdString() + "/";
        config::RunConfig config = languageConfig();
        if (name == "gpt2") {
            config.model.norm = "layernorm";
            config.model.feedForward = "gelu";
            config.model.tieEmbeddings = false;
        }
        std::vector<std::vector<std::int64_t>> starts(3);
        if (name == "packed") starts = {{5, 9}, {}, {1, 2, 11}};
        const Batch batch = packedBatch(goldenTokens(), starts);
        for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
            const double tolerance = type == at::kDouble ? 1e-11 : 2e-5;
            const auto model = gpt(config, name == "packed", 24, type);
            setGptWeights(*model);
            Context context;
            const at::Tensor output = model->forward(context, batch.input);
            QVERIFY(relativeDifference(output, m_golden.at(prefix + "output")) < tolerance);
            const LossTerm term = languageTask()->loss(output, batch).front();
            QVERIFY(relativeDifference(term.sum, m_golden.at(prefix + "loss")) < tolerance);
            QCOMPARE(languageTask()->weightsOf(batch).at(0), batch.weight.sum().item<double>());
            term.sum.backward();
            std::size_t compared = 0;
            for (const NamedTensor& parameter : model->parameters()) {
                const std::string key = prefix + "gradient/" + parameter.name;
                QVERIFY2(m_golden.contains(key), key.c_str());
                QVERIFY2(relativeDifference(parameter.tensor.grad(), m_golden.at(key)) < tolerance, key.c_str());
                ++compared;
            }
            QCOMPARE(compared, static_cast<std::size_t>(std::count_if(m_golden.begin(), m_golden.end(), [&](const auto& item) { return item.first.starts_with(prefix + "gradient/"); })));
        }
    }

    void fiftyUpdatesEqualPlainPyTorch() {
        const int threads = at::get_num_threads();
        at::set_num_threads(1);
        const auto model = gpt(languageConfig(), false, 24, at::kFloat);
        setGptWeights(*model);
        const ParamTable table(*model);
        FlatStorage storage(table);
        config::OptimizerSection adamw;
        adamw.weightDecay = 1e-2;
        const auto optimizer = Optimizer::make(adamw, storage).value();
        const auto task = languageTask();
        Fixture f;
        for (int k = 0; k < 50; ++k) {
            const at::Tensor tokens = ((engine::made("tokens" + std::to_string(k), {3, 13}) + 0.5) * 24).to(at::kLong);
            f.windows.batches.push_back(packedBatch(tokens, {{}, {}, {}}));
        }
        f.shape = {.samples = 50, .batchSize = 1, .accumulation = plan::fixedWindows(1)};
        const plan::OrderShape order(f.shape);
        BestValue best = BestValue::make({}, task->metricInfo()).value();
        config::ScheduleSection constant;
        constant.name = "constant";
        f.curve = Curve(constant, 3e-3);
        f.settings.maxGradNorm = 1.0;
        TrainerParts parts{.task = task.get(), .model = model.get(), .storage = &storage, .optimizer = optimizer.get(), .parallel = f.parallel.get(), .precision = f.precision.get(),
                           .order = &order, .windows = &f.windows, .curve = &f.curve, .best = &best, .progress = &f.progress, .time = &f.time, .hooks = {&f.recorder}};
        QVERIFY(Trainer(parts, f.settings).run().state == rundir::State::Completed);
        at::set_num_threads(threads);
        QCOMPARE(f.recorder.rows.size(), 50U);
        const auto losses = m_golden.at("trained/losses"), norms = m_golden.at("trained/norms");
        for (int k = 0; k < 50; ++k) {
            const UpdateResult& mine = f.recorder.rows[static_cast<std::size_t>(k)].result;
            const double loss = losses[k].item<double>(), norm = norms[k].item<double>();
            QVERIFY2(std::abs(mine.loss / loss - 1) < 1e-6, qPrintable(QString("loss %1: %2, not %3").arg(k).arg(mine.loss, 0, 'g', 12).arg(loss, 0, 'g', 12)));
            QVERIFY2(std::abs(mine.gradNorm / norm - 1) < 1e-5, qPrintable(QString("norm %1: %2, not %3").arg(k).arg(mine.gradNorm, 0, 'g', 12).arg(norm, 0, 'g', 12)));
        }
    }

    void aChangedDocumentNeverChangesTheLossOfAnother() {
        const auto model = gpt(languageConfig(), true, 256, at::kFloat);
        const std::vector<std::vector<std::int64_t>> starts{{5, 9}, {4}, {}};
        const at::Tensor tokens = goldenTokens();
        const at::Tensor before = lossesOf(*model, packedBatch(tokens, starts));
        at::Tensor changed = tokens.clone();
        changed[0].narrow(0, 5, 4) += 100;   // the second document of the first row
        const at::Tensor after = lossesOf(*model, packedBatch(changed, starts));
        const at::Tensor differs = before.ne(after);
        QVERIFY(differs[0].narrow(0, 5, 3).all().item<bool>());
        QVERIFY(!differs[0].narrow(0, 0, 5).any().item<bool>() && !differs[0].narrow(0, 9, 3).any().item<bool>());
        QVERIFY(!differs.narrow(0, 1, 2).any().item<bool>());
    }

    /// SEMANTICS K4: seven bytes that pad a row, before a document or behind it, change none of its losses
    void whatPadsARowChangesNoLoss() {
        config::RunConfig learned = languageConfig();
        learned.model.norm = "layernorm";
        for (const config::RunConfig& config : {languageConfig(), learned}) {
            const auto model = gpt(config, true);
            const at::Tensor five = goldenTokens()[1].narrow(0, 0, 5), pads = at::zeros({7}, at::kLong), one = at::zeros({1}, at::kLong);
            const at::Tensor alone = lossesOf(*model, packedBatch(five.unsqueeze(0), {{}}));
            const at::Tensor behind = lossesOf(*model, packedBatch(at::cat({five, pads, one}).unsqueeze(0), {{5}}));
            const at::Tensor before = lossesOf(*model, packedBatch(at::cat({pads, five, one}).unsqueeze(0), {{7}}));
            QVERIFY((behind[0].narrow(0, 0, 4) - alone[0]).abs().max().item<double>() < 1e-5);
            QVERIFY((before[0].narrow(0, 7, 4) - alone[0]).abs().max().item<double>() < 1e-5);
        }
    }

    /// SEMANTICS K2
    void packedDocumentsLoseWhatTheyLoseAlone() {
        const auto model = gpt(languageConfig(8), true);
        const at::Tensor three = goldenTokens()[0].narrow(0, 0, 3), five = goldenTokens()[1].narrow(0, 0, 5);
        const auto alone = [&](const at::Tensor& document) {
            Batch batch = packedBatch(document.unsqueeze(0), {{}});
            return std::pair{lossesOf(*model, batch).sum().item<double>(), batch.weight.sum().item<double>()};
        };
        const Batch packed = packedBatch(at::cat({three, five, at::zeros({1}, at::kLong)}).unsqueeze(0), {{3}});
        Batch cut = packed;
        cut.target[0][7] = -100;   // behind the last document nothing follows
        const auto [a, supervisedA] = alone(three);
        const auto [b, supervisedB] = alone(five);
        QCOMPARE(supervisedA + supervisedB, 6.0);
        QCOMPARE(cut.target.ne(-100).sum().item<std::int64_t>(), 6);
        QVERIFY(std::abs(lossesOf(*model, cut).sum().item<double>() - (a + b)) < 1e-12);
    }

    void initialWeightsAreSmallAndForetellNothing() {
        const auto model = gpt(languageConfig(), false);
        const at::Tensor losses = lossesOf(*model, packedBatch(goldenTokens(), {{}, {}, {}}));
        QVERIFY(std::abs(losses.mean().item<double>() - std::log(256.0)) < 0.1);
    }

    void perplexityIsThatOfTheGoldenValues() {
        if (sharedData().empty()) QSKIP("the shared data set metrics is absent");
        std::ifstream in(sharedData() / "metrics" / "perplexity_golden.json");
        const auto golden = nlohmann::json::parse(in);
        const auto pool = languageTask()->metrics();
        for (std::size_t i = 0; i < golden.at("tokens_per_sequence").size(); ++i) {
            const auto count = golden.at("tokens_per_sequence")[i].get<std::int64_t>();
            const double each = golden.at("sum_nll_per_sequence")[i].get<double>() / static_cast<double>(count);
            // Two bytes are possible, the right one with probability exp(-each); padded by bytes that foretell nothing.
            at::Tensor logits = at::full({1, 40, 256}, -1e300, at::kDouble);
            logits.select(2, 7).fill_(-each);
            logits.select(2, 9).fill_(std::log1p(-std::exp(-each)));
            Batch batch;
            batch.target = at::full({1, 40}, -100, at::kLong);
            batch.target.narrow(1, 0, count).fill_(7);
            batch.ids = {0};
            pool->add(logits, batch);
        }
        const auto values = pool->values();
        QVERIFY(std::abs(values.at("perplexity") / golden.at("token_weighted_perplexity").get<double>() - 1) < 1e-12);
        QVERIFY(std::abs(values.at("loss") - golden.at("mean_nll").get<double>()) < 1e-12);
        QVERIFY(std::abs(values.at("bits_per_byte") - golden.at("bits_per_token").get<double>()) < 1e-12);
    }

    void oneTwoAndFourRanksComputeTheSameBits_data() {
        QTest::addColumn<QString>("rule");
        QTest::newRow("fixed windows") << "fixed";
        QTest::newRow("windows by weight") << "weight";
    }
    void oneTwoAndFourRanksComputeTheSameBits() {
        QFETCH(QString, rule);
        config::RunConfig config = sentences();
        config.accumulation.rule = rule.toStdString();
        config.accumulation.microBatches = 4;
        config.accumulation.weight = 150;
        const Outcome one = trained(config, 1);
        QVERIFY(one.losses.size() >= 8 && one.metrics.size() == 2 && one.samples.size() == 2);
        QVERIFY(one.losses.back() < one.losses.front());
        if (rule == "weight")
            for (std::size_t i = 0; i + 1 < one.weights.size() / 2; ++i) QVERIFY(one.weights[i] >= 150 && one.weights[i] < 150 + 4 * 12);
        double weighed = 0;
        for (const double weight : one.weights) weighed += weight;
        QCOMPARE(one.tokens, static_cast<std::int64_t>(weighed));
        QVERIFY(trained(config, 2) == one);
        QVERIFY(trained(config, 4) == one);
    }

    /// SEMANTICS P8: evaluations and the samples they write leave a training with dropout as it is
    void evaluationsAndSamplesLeaveTrainingAsItIs() {
        const Outcome often = trained(sentences(), 1, {Interval::Unit::Updates, 1}), never = trained(sentences(), 1, {});
        QVERIFY(often.metrics.size() == often.losses.size() && often.samples.size() == often.losses.size());
        QVERIFY(never.metrics.empty() && never.samples.empty());
        QVERIFY(often.losses == never.losses && often.norms == never.norms);
    }

    void evaluationCountsEveryByteOnceWhateverTheBatch() {
        config::RunConfig config = sentences();
        std::vector<Metrics> found;
        for (const std::int64_t size : {1, 3, 64}) {
            config.evaluation.batchSize = size;
            found.push_back(trained(config, 1).metrics.front());
        }
        for (const Metrics& metrics : found) {
            QVERIFY(std::abs(metrics.at("loss") - found[0].at("loss")) < 1e-6);
            QCOMPARE(metrics.at("accuracy"), found[0].at("accuracy"));
        }
    }

    void samplesAreAFunctionOfWeightsSeedAndUpdate() {
        config::RunConfig config = languageConfig();
        config.evaluation.samplePrompt = "ab";
        const auto task = languageTask(config);
        const auto model = gpt(config, false);
        const Forward forward = [&](const at::Tensor& input) {
            const at::NoGradGuard noGrad;
            Context context;
            return model->forward(context, input);
        };
        const auto text = [&](std::uint64_t seed, std::int64_t step) { return task->demonstrate(forward, {seed, GlobalStep(step), at::kCPU}).at(0); };
        QVERIFY(text(1, 5).name == "samples" && text(1, 5).kind == EvaluationRecord::Kind::Text);
        QVERIFY(text(1, 5).content == text(1, 5).content);
        QVERIFY(text(1, 5).content.starts_with("ab") && text(1, 5).content.size() == 14);
        QVERIFY(text(1, 5).content != text(1, 6).content && text(1, 5).content != text(2, 5).content);
    }

    void atTemperatureZeroTheLikeliestByteIsWritten() {
        config::RunConfig config = languageConfig();
        config.evaluation.sampleTemperature = 0;
        config.evaluation.sampleBytes = 30;   // longer than the context
        const Forward alphabet = [](const at::Tensor& input) { return at::one_hot((input.select(1, 0) + 1).remainder(256), 256).to(at::kFloat); };
        const auto records = languageTask(config)->demonstrate(alphabet, {});
        QVERIFY(records.at(0).content.substr(0, 5) == "\v\f\r\x0e\x0f");
        config.evaluation.sampleBytes = 0;
        QVERIFY(languageTask(config)->demonstrate(alphabet, {}).empty());
    }

    void whatDoesNotFitTogetherIsSaid() {
        config::RunConfig config = languageConfig();
        config.model.heads = 3;
        const ModelShape text{.features = 12, .outputs = 256, .context = 12};
        const auto heads = makeModel(config.model, text, 1, at::kFloat, at::kCPU);
        QVERIFY(!heads && heads.error().key == "model.heads" && heads.error().sentence.find("multiple of 6") != std::string::npos);
        config.model.name = "mlp";
        QVERIFY(makeModel(config.model, text, 1, at::kFloat, at::kCPU).error().sentence.find("choose gpt") != std::string::npos);
        config.model.name = "gpt";
        QVERIFY(makeModel(config.model, {.features = 12, .outputs = 3}, 1, at::kFloat, at::kCPU).error().sentence.find("learns from a text") != std::string::npos);
        dataset::Info rows;
        rows.targetNames = {"y"};
        QCOMPARE(makeTask(languageConfig(), rows).error().key, std::string("task.name"));
    }

    void aLoaderSentToAPlaceGoesOnFromThere() {
        const TextRun straight(sentences()), sent(sentences());
        std::vector<Batch> batches;
        for (int i = 0; i < 9; ++i) batches.push_back(straight.trainLoader->next().value());
        sent.trainLoader->seek(Epoch(0), PlanEntry(4 * 5), UpdateAttempt(5));
        for (std::size_t i = 5; i < 9; ++i) {
            const Batch batch = sent.trainLoader->next().value();
            QVERIFY(at::equal(batch.input, batches[i].input) && at::equal(batch.target, batches[i].target) && batch.ids == batches[i].ids);
        }
    }
};

QTEST_GUILESS_MAIN(TestLanguage)
#include "tst_language.moc"
