// Several ranks as threads of one process, each with a loop of its own: SEMANTICS B2, B9, C2, E1, E3, F3, H1, H2, I3, J2, L1.
#include "engine/parallel/data_parallel.h"
#include "engine/train/model_state.h"
#include "engine/train/replica_check.h"
#include "loop_fixture.h"

#include <ATen/Parallel.h>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include <QtTest>

#include <atomic>
#include <thread>

using namespace lathe;
using namespace lathe::engine;
using namespace lathe::engine::test;

namespace {

struct Layout {
    int world = 1;
    std::string reduction = "ring", reduceAt = "window";
};

config::ParallelSection sectionOf(const Layout& layout) {
    config::ParallelSection section;
    section.ranks = layout.world;
    section.reduction = layout.reduction;
    section.reduceAt = layout.reduceAt;
    return section;
}

/// Runs `body` once a rank, all at the same time.
void asRanks(const Layout& layout, const std::function<void(Parallel&)>& body) {
    static std::atomic<int> number{0};
    const QTemporaryDir folder;
    RankPlace place{.world = layout.world, .rendezvous = folder.filePath(QString::number(number++)).toStdString(), .timeout = std::chrono::seconds(60)};
    std::vector<std::thread> threads;
    for (int rank = 0; rank < layout.world; ++rank)
        threads.emplace_back([&, rank, mine = place]() mutable {
            at::set_num_threads(1);
            mine.rank = rank;
            const auto parallel = makeParallel(sectionOf(layout), mine).value();
            body(*parallel);
        });
    for (std::thread& thread : threads) thread.join();
}

/// A network with dropout and BatchNorm, and data that are a function of their number.
struct Real {
    Real(const std::string& name, at::ScalarType type, std::int64_t epochsOf) {
        config::ModelSection section;
        section.name = name;
        section.hidden = {33, 17};
        section.filters = {4, 8};
        section.dropout = 0.1;
        section.batchNorm = true;
        model = makeModel(section, {.features = 36, .channels = 1, .height = 6, .width = 6, .outputs = 3}, 1, type, at::kCPU).value();
        table = std::make_unique<ParamTable>(*model);
        storage = std::make_unique<FlatStorage>(*table);
        config::OptimizerSection adamw;
        optimizer = Optimizer::make(adamw, *storage).value();
        dataset::Info info;
        info.classNames.assign(3, "c");
        info.classCounts.assign(3, 1);
        task = makeTask(config::RunConfig{}, info).value();
        for (std::int64_t i = 0; i < epochsOf; ++i) {
            Batch batch;
            const std::int64_t rows = 5 + i % 3;  // ragged
            batch.target = (at::arange(rows, at::kLong) * 7 + i) % 3;
            batch.input = at::sin(at::arange(rows * 36, at::kDouble) * (0.37 + 0.01 * static_cast<double>(i))).to(type);
            batch.input = name == "convnet" ? batch.input.view({rows, 1, 6, 6}) : batch.input.view({rows, 36});
            batch.ids.assign(static_cast<std::size_t>(rows), i);
            windows.batches.push_back(std::move(batch));
        }
    }
    std::unique_ptr<Model> model;
    std::unique_ptr<ParamTable> table;
    std::unique_ptr<FlatStorage> storage;
    std::unique_ptr<Optimizer> optimizer;
    std::unique_ptr<Task> task;
    ListSource windows;
};

struct Outcome {
    std::vector<double> losses, norms, rates;
    std::vector<at::Tensor> state;   ///< parameters and buffers
    std::vector<std::uint64_t> digests;
    std::size_t evaluations = 0;     ///< not compared

    bool operator==(const Outcome& other) const {
        bool equal = losses == other.losses && norms == other.norms && rates == other.rates && digests == other.digests && state.size() == other.state.size();
        for (std::size_t i = 0; equal && i < state.size(); ++i) equal = at::equal(state[i], other.state[i]);
        return equal;
    }
};

/// What every rank of a run ends with. 11 micro-batches in windows of `window`, two epochs.
std::vector<Outcome> trained(const Layout& layout, const std::string& model, std::int64_t window, at::ScalarType type = at::kFloat, bool evaluates = false) {
    std::vector<Outcome> outcomes(static_cast<std::size_t>(layout.world));
    asRanks(layout, [&](Parallel& parallel) {
        Real real(model, type, 11);
        Fixture f;
        if (evaluates) f.evaluation.list = real.windows.batches;
        f.settings.evaluateEvery = {Interval::Unit::Updates, 1};
        f.shape = {.samples = 11, .batchSize = 1, .accumulation = plan::fixedWindows(window)};
        const plan::OrderShape order(f.shape);
        BestValue best = BestValue::make({}, real.task->metricInfo()).value();
        TrainerParts parts{.task = real.task.get(), .model = real.model.get(), .storage = real.storage.get(), .optimizer = real.optimizer.get(), .parallel = &parallel,
                           .precision = f.precision.get(), .order = &order, .windows = &real.windows, .evaluationData = evaluates ? &f.evaluation : nullptr,
                           .curve = &f.curve, .best = &best, .progress = &f.progress, .time = &f.time, .hooks = {&f.recorder}};
        f.settings.epochs = 2;
        f.settings.maxGradNorm = 1.0;
        f.curve = Curve({.name = "linear", .warmupUpdates = 3, .totalUpdates = 20}, 0.01);
        const Ending ending = Trainer(parts, f.settings).run();
        if (ending.state != rundir::State::Completed) qWarning("%s", ending.why.c_str());
        Outcome& outcome = outcomes[static_cast<std::size_t>(parallel.rank())];
        outcome.evaluations = f.recorder.evaluations.size();
        for (const Row& row : f.recorder.rows) {
            outcome.losses.push_back(row.result.loss);
            outcome.norms.push_back(row.result.gradNorm);
            outcome.rates.push_back(row.result.learningRate);
            outcome.digests.push_back(row.result.windowDigest);
        }
        for (const NamedTensor& item : real.model->parameters()) outcome.state.push_back(item.tensor.detach().clone());
        for (const NamedTensor& item : real.model->buffers()) outcome.state.push_back(item.tensor.clone());
    });
    return outcomes;
}

double furthest(const Outcome& a, const Outcome& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.state.size(); ++i) most = std::max(most, (a.state[i] - b.state[i]).abs().max().item<double>());
    return most;
}

/// A ScaleModel over `rank` threads; `feed` gives the micro-batches of the whole window.
struct Small {
    explicit Small(std::vector<Batch> batches, Parallel& parallel, std::int64_t width = 1) : f(width), m_parallel(parallel) { f.windows.batches = std::move(batches); }
    Ending run(std::int64_t microBatches) {
        f.shape = {.samples = static_cast<std::int64_t>(f.windows.batches.size()), .batchSize = 1, .accumulation = plan::fixedWindows(microBatches)};
        const plan::OrderShape order(f.shape);
        TrainerParts parts{.task = &f.task, .model = &f.model, .storage = &f.storage, .optimizer = f.optimizer.get(), .parallel = &m_parallel,
                           .precision = f.precision.get(), .order = &order, .windows = &f.windows, .curve = &f.curve, .best = f.best.get(),
                           .progress = &f.progress, .saver = f.saves ? &f.saver : nullptr, .time = &f.time, .hooks = {&f.recorder}};
        return Trainer(parts, f.settings).run();
    }
    Fixture f;

private:
    Parallel& m_parallel;
};

/// This rank's turn of single-sample batches.
class TurnEvaluation final : public EvaluationSource {
public:
    TurnEvaluation(std::vector<double> values, const Parallel& parallel) : m_values(std::move(values)), m_parallel(parallel) {}
    std::int64_t samples() const override { return static_cast<std::int64_t>(m_values.size()); }
    std::int64_t batches() const override { return samples(); }
    void rewind() override { m_next = static_cast<std::size_t>(m_parallel.rank()); }
    bool atEnd() const override { return m_next >= m_values.size(); }
    Result<Batch> next() override {
        Batch batch = batchOf({{m_values[m_next]}});
        m_next += static_cast<std::size_t>(m_parallel.world());
        return batch;
    }

private:
    std::vector<double> m_values;
    const Parallel& m_parallel;
    std::size_t m_next = 0;
};

}  // namespace

class RanksTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    /// A thread that changes the environment while another reads it ends the process. The first case: a change happens once.
    void ranksThatMeetLeaveTheEnvironmentAlone() {
        const QStringList before = QProcessEnvironment::systemEnvironment().toStringList();
        asRanks({.world = 2}, [](Parallel& parallel) { parallel.agree(1); });
        QCOMPARE(QProcessEnvironment::systemEnvironment().toStringList(), before);
        QVERIFY(before.contains("TORCH_FR_BUFFER_SIZE=0"));
    }

    /// The other one told that it is there, and then no more: its end is what its run ended with, not that nobody met it.
    void aRankThatGoesWhileRanksMeetIsLostContact() {
        const QTemporaryDir folder;
        const RankPlace place{.world = 2, .rendezvous = folder.filePath("ranks").toStdString(), .timeout = std::chrono::seconds(1)};
        c10d::PrefixStore("ranks", c10::make_intrusive<c10d::FileStore>(place.rendezvous.string(), place.world)).set("here/1", std::string("1"));
        try {
            static_cast<void>(RankGroup::connect(place));
            QFAIL("nobody was missed");
        } catch (const LostContact& e) {
            QVERIFY2(std::string_view(e.what()).starts_with("Another rank is gone ("), e.what());
        }
    }

    /// SEMANTICS B2: A is a loss of 3 over 1 token, B of 7 over 7
    void lossAndGradientAreThoseOfOneProcess() {
        std::vector<double> losses(2), weights(2);
        asRanks({.world = 2}, [&](Parallel& parallel) {
            Small small({batchOf({{3.0}}), batchOf(std::vector<std::vector<double>>(7, {1.0}))}, parallel);
            small.run(2);
            losses[static_cast<std::size_t>(parallel.rank())] = small.f.recorder.rows.at(0).result.loss;
            weights[static_cast<std::size_t>(parallel.rank())] = small.f.p();
        });
        QCOMPARE(losses, (std::vector<double>{1.25, 1.25}));
        QCOMPARE(weights, (std::vector<double>{1 - 1.25, 1 - 1.25}));
    }

    void twoRanksEqualOneProcessBitForBit_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("reduceAt");
        for (const char* model : {"mlp", "convnet"})
            for (const char* at : {"window", "micro_step"}) QTest::addRow("%s %s", model, at) << model << at;
    }
    /// Each rank holds one micro-batch of the window; the last window of an epoch leaves a rank without any.
    void twoRanksEqualOneProcessBitForBit() {
        QFETCH(QString, model);
        QFETCH(QString, reduceAt);
        const Outcome one = trained({}, model.toStdString(), 2).front();
        QVERIFY(one.losses.size() == 12);
        for (const Outcome& rank : trained({.world = 2, .reduceAt = reduceAt.toStdString()}, model.toStdString(), 2)) QVERIFY(rank == one);
    }

    /// SEMANTICS P8: an evaluation after each update changes no bit of a training with dropout and BatchNorm, nor its statistics
    void evaluationsLeaveTrainingAsItIs() {
        for (const char* model : {"mlp", "convnet"}) {
            const Outcome with = trained({}, model, 2, at::kFloat, true).front(), without = trained({}, model, 2).front();
            QCOMPARE(with.evaluations, with.losses.size());
            QCOMPARE(without.evaluations, std::size_t(0));
            QVERIFY2(with == without, model);
        }
    }

    void treeGivesTheSameBitsForOneTwoAndFourRanks() {
        for (const std::int64_t window : {4, 6}) {
            const Outcome one = trained({.reduction = "tree"}, "convnet", window).front();
            for (const int world : {2, 4})
                for (const Outcome& rank : trained({.world = world, .reduction = "tree"}, "convnet", window)) QVERIFY(rank == one);
        }
    }

    void orderOfReductionChangesNothingBeyondRounding() {
        const Outcome one = trained({}, "convnet", 6, at::kDouble).front();
        for (const Layout& layout : {Layout{.world = 2}, Layout{.world = 3}, Layout{.world = 2, .reduceAt = "micro_step"}, Layout{.world = 3, .reduceAt = "micro_step"},
                                     Layout{.world = 2, .reduction = "tree"}}) {
            const std::vector<Outcome> ranks = trained(layout, "convnet", 6, at::kDouble);
            for (const Outcome& rank : ranks) {
                QVERIFY(rank == ranks.front());
                QVERIFY(furthest(rank, one) < 1e-9);
                QVERIFY(rank.digests == one.digests && rank.rates == one.rates);  // the same samples, the same rates (C2)
            }
        }
    }

    void sameLayoutGivesTheSameBitsAgain() {
        QVERIFY(trained({.world = 3}, "mlp", 5).front() == trained({.world = 3}, "mlp", 5).back());
    }

    /// SEMANTICS E1: [3, 0] on one rank, [0, 4] on the other. E3: summed before clipping
    void normAndClippingAreGlobal() {
        asRanks({.world = 2}, [](Parallel& parallel) {
            Small small({batchOf({{6.0, 0.0}}), batchOf({{0.0, 8.0}})}, parallel, 2);
            small.f.settings.maxGradNorm = 1.0;
            small.run(2);
            QCOMPARE(small.f.recorder.rows.at(0).result.gradNorm, 5.0);
            QVERIFY(std::abs(small.f.p(0) - 0.4) < 1e-6 && std::abs(small.f.p(1) - 0.2) < 1e-6);
        });
        asRanks({.world = 2}, [](Parallel& parallel) {
            Small small({batchOf({{4.0, 0.0}}), batchOf({{0.0, 4.0}})}, parallel, 2);
            small.f.settings.maxGradNorm = 1.0;
            small.run(2);
            QVERIFY(std::abs(small.f.p(0) - (1 - 0.7071068)) < 1e-5 && std::abs(small.f.p(1) - (1 - 0.7071068)) < 1e-5);
        });
    }

    void notFiniteOnOneRankIsSkippedByAll() {
        std::vector<std::int64_t> skipped(2);
        asRanks({.world = 2}, [&](Parallel& parallel) {
            Small small({batchOf({{1.0}}), batchOf({{std::nan("")}}), batchOf({{1.0}}), batchOf({{1.0}})}, parallel);
            small.run(2);
            QCOMPARE(small.f.p(), 0.0);
            skipped[static_cast<std::size_t>(parallel.rank())] = small.f.progress.counters.skippedUpdates.value();
        });
        QCOMPARE(skipped, (std::vector<std::int64_t>{1, 1}));
    }

    /// SEMANTICS J2: what one rank asks for is done by all at the same update
    void wishesOfOneRankAreDoneByAll() {
        std::vector<std::int64_t> steps(2), saves(2);
        std::vector<std::string> whys(2);
        asRanks({.world = 2}, [&](Parallel& parallel) {
            std::vector<Batch> batches;
            for (int i = 0; i < 20; ++i) batches.push_back(batchOf({{1.0}}, i));
            Small small(std::move(batches), parallel);
            small.f.recorder.act = [&](const HookContext& context, Wishes& wishes) {
                if (context.point != Point::Update || parallel.rank() != 1) return;
                if (context.counters->globalStep.value() == 3) wishes.save = true;
                if (context.counters->globalStep.value() == 5) wishes.stop = Ending{rundir::State::Stopped, "by rank 1", true};
            };
            const Ending ending = small.run(2);
            const auto rank = static_cast<std::size_t>(parallel.rank());
            QCOMPARE(ending.state, rundir::State::Stopped);
            steps[rank] = small.f.progress.counters.globalStep.value();
            saves[rank] = static_cast<std::int64_t>(small.f.saver.steps.size());
            whys[rank] = ending.why;
        });
        QCOMPARE(steps, (std::vector<std::int64_t>{5, 5}));
        QCOMPARE(saves, (std::vector<std::int64_t>{2, 0}));  // the first rank saves: asked, and at the stop
        QCOMPARE(whys, (std::vector<std::string>{"by rank 1", "by rank 1"}));
    }

    /// SEMANTICS H1, H2
    void evaluationCountsEachSampleOnce_data() {
        QTest::addColumn<int>("world");
        QTest::addColumn<int>("samples");
        QTest::newRow("9 on 2") << 2 << 9;
        QTest::newRow("3 on 4") << 4 << 3;
        QTest::newRow("1 on 2") << 2 << 1;
    }
    void evaluationCountsEachSampleOnce() {
        QFETCH(int, world);
        QFETCH(int, samples);
        std::vector<double> values;
        for (int i = 0; i < samples; ++i) values.push_back(i);
        asRanks({.world = world}, [&](Parallel& parallel) {
            Fixture f;
            TurnEvaluation evaluation(values, parallel);
            TrainerParts parts{.task = &f.task, .model = &f.model, .storage = &f.storage, .optimizer = f.optimizer.get(), .parallel = &parallel,
                               .precision = f.precision.get(), .evaluationData = &evaluation, .best = f.best.get(), .progress = &f.progress, .time = &f.time};
            const auto outcome = Trainer(parts, f.settings).evaluateOnce();
            QVERIFY(outcome.ok() && outcome->has_value());
            QCOMPARE((*outcome)->samples, samples);
            QCOMPARE((*outcome)->metrics.at("loss"), (samples - 1) / 2.0);
        });
    }

    void replicasThatPartAreNamed() {
        asRanks({.world = 2}, [](Parallel& parallel) {
            Real real("mlp", at::kFloat, 1);
            TrainState state;
            ModelState model(*real.model, *real.table);
            state.add(model);
            QVERIFY(compareReplicas(parallel, state).ok());
            const at::NoGradGuard noGrad;
            if (parallel.rank() == 1) real.model->parameters()[2].tensor.view(-1)[0] += 1;
            const auto differs = compareReplicas(parallel, state);
            QVERIFY(!differs.ok());
            QVERIFY2(differs.error().sentence.find(real.model->parameters()[2].name) != std::string::npos, differs.error().sentence.c_str());
            QVERIFY(differs.error().sentence.find("rank 1") != std::string::npos);
            std::vector<at::Tensor> tensors;
            for (const StateTensor& item : state.tensors()) tensors.push_back(item.tensor);
            parallel.broadcast(tensors);
            QVERIFY(compareReplicas(parallel, state).ok());
        });
    }

    /// SEMANTICS L1, of one process: the survivor is told at once
    void rankThatFailsTakesTheOthersAlong() {
        std::vector<Ending> endings(2);
        asRanks({.world = 2}, [&](Parallel& parallel) {
            std::vector<Batch> batches;
            for (int i = 0; i < 40; ++i) batches.push_back(batchOf({{1.0}}, i));
            Small small(std::move(batches), parallel);
            small.f.recorder.isRequired = true;
            small.f.recorder.act = [&](const HookContext& context, Wishes&) {
                if (parallel.rank() == 1 && context.point == Point::Update && context.counters->globalStep.value() == 5) throw std::runtime_error("boom");
            };
            endings[static_cast<std::size_t>(parallel.rank())] = small.run(2);
        });
        QCOMPARE(endings[1].state, rundir::State::Failed);
        QVERIFY(endings[1].why.find("boom") != std::string::npos);
        QVERIFY(!endings[1].lostContact && !endings[1].save);
        QCOMPARE(endings[0].state, rundir::State::Failed);
        QVERIFY2(endings[0].lostContact && !endings[0].save, endings[0].why.c_str());
    }

    void waitingForRanksCanBeGivenUp() {
        const QTemporaryDir folder;
        RankPlace place{.rank = 0, .world = 2, .rendezvous = folder.filePath("r").toStdString()};
        int asked = 0;
        place.mayWait = [&] { return ++asked < 3; };
        const auto parallel = makeParallel(sectionOf({.world = 2}), place);
        QVERIFY(!parallel.ok());
        QCOMPARE(parallel.error().code, ErrorCode::Stopped);
    }

    void valuesOfAnyNumberAreGathered() {
        asRanks({.world = 3}, [](Parallel& parallel) {
            for (const std::size_t count : {std::size_t(0), std::size_t(3), std::size_t(100)}) {
                std::vector<double> values(parallel.rank() == 1 ? 0 : count, parallel.rank());
                parallel.gather(values);
                std::vector<double> expected(count, 0.0);
                expected.insert(expected.end(), count, 2.0);
                QCOMPARE(values, expected);
            }
            const std::vector<std::string> texts = gatherTexts(parallel, std::string(static_cast<std::size_t>(parallel.rank()), 'x'));
            QCOMPARE(texts, (std::vector<std::string>{"", "x", "xx"}));
            QCOMPARE(parallel.agree(std::uint64_t{1} << parallel.rank()), std::uint64_t{7});
        });
    }
};

QTEST_GUILESS_MAIN(RanksTest)
#include "tst_ranks.moc"
