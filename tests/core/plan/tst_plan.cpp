#include "config/config.h"
#include "config/schema.h"
#include "golden_schedules.h"
#include "plan/accumulation.h"
#include "plan/explain.h"
#include "plan/length_doubts.h"
#include "plan/order.h"
#include "plan/random.h"
#include "plan/sample_weights.h"
#include "plan/schedule.h"

#include <QtTest/QTest>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

using namespace lathe;
using namespace lathe::plan;
using namespace lathe::config;

class TestPlan : public QObject {
    Q_OBJECT

private Q_SLOTS:
    // Known-answer vectors of Philox4x32-10 from the Random123 distribution (kat_vectors).
    void philoxGivesTheKnownAnswers() {
        using Words = std::array<std::uint32_t, 4>;
        QVERIFY((philox({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
        QVERIFY((philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
                 Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
        QVERIFY((philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
                 Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
    }
    void streamsOfOtherPlacesDiffer() {
        std::set<std::uint32_t> firsts;
        for (std::uint64_t seed : {1, 2})
            for (Purpose purpose : {Purpose::Order, Purpose::Split, Purpose::Augmentation, Purpose::Noise})
                for (std::uint64_t a : {0, 1, 2})
                    for (std::uint32_t b : {0, 1}) firsts.insert(Stream(seed, purpose, a, b).next());
        QCOMPARE(firsts.size(), std::size_t{2 * 4 * 3 * 2});
    }
    void uniformAndNormalHaveTheirMoments() {
        Stream stream(7, Purpose::Test);
        double sum = 0, sumOfSquares = 0, normalSum = 0, normalSquares = 0;
        constexpr int n = 200'000;
        for (int i = 0; i < n; ++i) {
            const double u = stream.uniform(), z = stream.normal();
            QVERIFY(u >= 0 && u < 1);
            sum += u, sumOfSquares += u * u, normalSum += z, normalSquares += z * z;
        }
        QVERIFY(std::abs(sum / n - 0.5) < 0.004);                 // 6 standard errors
        QVERIFY(std::abs(sumOfSquares / n - 1.0 / 3) < 0.004);
        QVERIFY(std::abs(normalSum / n) < 0.014);
        QVERIFY(std::abs(normalSquares / n - 1) < 0.02);
    }
    void belowIsUniformEvenWhereTheRangeDoesNotDivideTheWord() {
        Stream stream(3, Purpose::Test);
        std::array<int, 7> seen{};
        for (int i = 0; i < 70'000; ++i) ++seen[stream.below(7)];
        for (int count : seen) QVERIFY(std::abs(count - 10'000) < 600);
        for (int i = 0; i < 1000; ++i) QVERIFY(stream.below((1ull << 40) + 1) <= (1ull << 40));
    }

    /// SEMANTICS I1
    void threeEpochsAreThreePermutationsAndTheSameAgain() {
        std::set<std::vector<std::int64_t>> orders;
        for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
            auto order = epochOrder(64, 42, Epoch(epoch), true);
            QVERIFY(order == epochOrder(64, 42, Epoch(epoch), true));
            orders.insert(order);
            std::sort(order.begin(), order.end());
            for (std::int64_t i = 0; i < 64; ++i) QCOMPARE(order[static_cast<std::size_t>(i)], i);
        }
        QCOMPARE(orders.size(), std::size_t{3});
        QVERIFY(epochOrder(64, 43, Epoch(0), true) != epochOrder(64, 42, Epoch(0), true));
        QVERIFY(epochOrder(5, 1, Epoch(9), false) == (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
    }
    void everySampleFallsIntoOnePart() {
        for (std::int64_t n : {0, 1, 2, 3, 10, 1797}) {
            const Split parts = split(n, 0.2, 0);
            QCOMPARE(static_cast<std::int64_t>(parts.train.size() + parts.eval.size()), n);
            std::set<std::int64_t> all(parts.train.begin(), parts.train.end());
            all.insert(parts.eval.begin(), parts.eval.end());
            QCOMPARE(static_cast<std::int64_t>(all.size()), n);
            QVERIFY(n < 2 || (!parts.train.empty() && !parts.eval.empty()));
        }
        QCOMPARE(split(1797, 0.2, 0).eval.size(), std::size_t{359});
        QVERIFY(split(100, 0.0, 0).eval.empty());
        QVERIFY(split(100, 0.2, 0).eval != split(100, 0.2, 1).eval);
    }

    /// SEMANTICS P2: 10 micro-batches, window 4: windows of 4, 4 and 2, never across the epoch
    void tailWindowHoldsWhatIsLeft() {
        const OrderShape shape{.samples = 10, .batchSize = 1, .accumulation = fixedWindows(4)};
        std::vector<std::size_t> sizes;
        Epoch epoch;
        PlanEntry entry;
        for (int i = 0; i < 3; ++i) {
            const Window window = windowAt(shape, epoch, entry);
            sizes.push_back(window.microBatches.size());
            QCOMPARE(window.isTail, i == 2);
            epoch = window.nextEpoch;
            entry = window.nextEntry;
        }
        QVERIFY((sizes == std::vector<std::size_t>{4, 4, 2}));
        QVERIFY(epoch == Epoch(1) && entry == PlanEntry(0));
    }
    void windowsGrowAlongARamp() {
        const OrderShape shape{.samples = 24, .batchSize = 1, .accumulation = makeAccumulation({.rule = "ramp", .microBatches = 4, .rampFrom = 1, .rampUpdates = 3}).value()};
        Epoch epoch;
        PlanEntry entry;
        std::vector<std::size_t> sizes;
        for (int k = 0; epoch == Epoch(0); ++k) {
            const Window window = windowAt(shape, epoch, entry, UpdateAttempt(k));
            sizes.push_back(window.microBatches.size());
            QCOMPARE(window.isTail, window.nextEpoch != epoch && window.microBatches.size() < 4);
            epoch = window.nextEpoch;
            entry = window.nextEntry;
        }
        QCOMPARE(sizes, (std::vector<std::size_t>{1, 2, 3, 4, 4, 4, 4, 2}));
        QVERIFY(plannedUpdates(shape, 1, {}) == GlobalStep(8));
        QVERIFY(plannedUpdates(shape, 3, {}) == GlobalStep(8 + 2 * 6));
        QVERIFY(plannedUpdates(shape, std::int64_t{1} << 40, 100) == GlobalStep(100));
    }

    void windowsCloseWhenTheyHoldTheirWeight() {
        struct Odd final : EntryWeights {  // samples weigh 1, 2, 3, 1, 2, 3 …
            double sum(Epoch, std::int64_t begin, std::int64_t end) const override {
                double total = 0;
                for (std::int64_t i = begin; i < end; ++i) total += static_cast<double>(i % 3 + 1);
                return total;
            }
        };
        OrderShape shape{.samples = 12, .batchSize = 1, .accumulation = makeAccumulation({.rule = "weight", .weight = 5}).value()};
        QCOMPARE(windowAt(shape, Epoch(0), PlanEntry(0)).microBatches.size(), std::size_t(5));
        QVERIFY(windowAt(shape, Epoch(0), PlanEntry(10)).isTail);
        QVERIFY(plannedUpdates(shape, 2, {}) == GlobalStep(6));
        shape.weights = std::make_shared<Odd>();
        std::vector<std::int64_t> ends;
        for (Window window = windowAt(shape, Epoch(0), PlanEntry(0));; window = windowAt(shape, window.nextEpoch, window.nextEntry)) {
            ends.push_back(window.microBatches.back().end);
            if (window.nextEpoch != Epoch(0)) break;
        }
        QCOMPARE(ends, (std::vector<std::int64_t>{3, 6, 9, 12}));  // 1 + 2 < 5 <= 1 + 2 + 3
        QVERIFY(plannedUpdates(shape, 2, {}) == GlobalStep(8));
    }

    void weightsOfSamplesFollowTheOrderOfTheEpoch() {
        std::vector<double> weights;
        for (int i = 0; i < 20; ++i) weights.push_back(i + 1);
        const SampleWeights sums(weights, 7, true);
        for (const int epoch : {0, 3, 1, 0}) {
            const auto order = epochOrder(20, 7, Epoch(epoch), true);
            double expected = 0;
            for (int i = 4; i < 11; ++i) expected += weights[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
            QCOMPARE(sums.sum(Epoch(epoch), 4, 11), expected);
            QCOMPARE(sums.sum(Epoch(epoch), 0, 20), 210.0);
            QCOMPARE(sums.sum(Epoch(epoch), 5, 5), 0.0);
        }
    }

    // a rule that nothing is foretold of is asked, as it is now, wherever the length of a run is needed
    void aRuleOfItsOwnCutsWindowsAndIsForetoldByFillingThem() {
        struct AtFives final : Accumulation {   // windows end at multiples of five samples, whatever they began at
            bool isFull(const OpenWindow& window) const override { return (begin + window.samples) % 5 == 0 || window.endsEpoch; }
            std::int64_t begin = 0;
        };
        const OrderShape shape{.samples = 12, .batchSize = 1, .accumulation = std::make_shared<AtFives>()};
        const Window window = windowAt(shape, Epoch(0), PlanEntry(10));
        QVERIFY(window.samples() == 2 && !window.isTail && window.nextEpoch == Epoch(1));
        QCOMPARE(shape.updatesPerEpoch().value(), 3);
        QVERIFY(plannedUpdates(shape, 4, {}) == GlobalStep(12));
        QVERIFY(plannedUpdates(shape, std::int64_t{1} << 40, 7) == GlobalStep(7));
    }
    void aRuleOfAPluginThatIsNotLoadedIsNotGuessed() {
        config::RunConfig config;
        config.accumulation.rule = "mine/rule";
        const OrderShape shape = orderShape(config, 100);
        QVERIFY(!shape.accumulation && !shape.updatesPerEpoch());
        QVERIFY(!plannedUpdates(shape, 3, {}) && !plannedUpdates(shape, 3, 50));
        QVERIFY(plannedUpdates(shape, {}, 50) == GlobalStep(50));
        const auto made = makeAccumulation(config.accumulation);
        QVERIFY(!made && made.error().sentence.find("fixed, ramp, weight") != std::string::npos);
        QVERIFY(explainUpdate(config).front().detail.starts_with("mine/rule"));
    }

    void shapeOfAConfigurationIsTheSameForAll() {
        config::RunConfig config;
        config.data.batchSize = 4;
        config.accumulation.microBatches = 3;
        QCOMPARE(windowAt(orderShape(config, 100), Epoch(0), PlanEntry(0)).samples(), 12);
        config.accumulation.rule = "ramp";
        QCOMPARE(windowAt(orderShape(config, 100), Epoch(0), PlanEntry(0)).samples(), 4);
        QCOMPARE(windowAt(orderShape(config, 100), Epoch(0), PlanEntry(0), UpdateAttempt(100)).samples(), 12);
        config.accumulation.rule = "weight";
        config.accumulation.weight = 17;
        QCOMPARE(windowAt(orderShape(config, 100), Epoch(0), PlanEntry(0)).samples(), 20);
        QVERIFY(plannedUpdates(orderShape(config, 100), 3, {}) == GlobalStep(15));
    }

    void updateIsExplainedAsItIsConfigured() {
        config::RunConfig config;
        config.data.batchSize = 8;
        config.accumulation.microBatches = 4;
        const auto detail = [&](const std::string& name) {
            for (const UpdateEvent& event : explainUpdate(config))
                if (event.name == name) return event.detail;
            return std::string();
        };
        QVERIFY(detail("window").starts_with("4 micro-batches of 8 samples = 32 samples"));
        QVERIFY(detail("share").empty() && detail("unscale").empty());
        config.parallel.ranks = 2;
        QCOMPARE(detail("share"), std::string("rank 0 runs 2 micro-batches, rank 1 runs 2 micro-batches"));
        QVERIFY(detail("reduce").starts_with("once a window"));
        config.parallel.reduceAt = "micro_step";
        QVERIFY(detail("reduce").starts_with("after each micro-batch"));
        config.precision.mode = "fp16";
        QVERIFY(detail("backward").starts_with("of scale ·"));
        config.optimizer.maxGradNorm.reset();
        QVERIFY(detail("clip").empty());
    }

    // every accumulation with every precision and every way to share and reduce: the events of the loop, in its order, and no other
    void everyCombinationOfStrategiesIsExplained() {
        const QStringList order{"window", "share", "weights", "forward", "loss", "backward", "reduce", "unscale", "norm", "verdict", "guard", "clip", "optimizer", "ema",
                                "buffers", "counters", "scale", "log", "agree", "evaluate", "save"};
        std::set<std::string> windows, forwards, reductions;
        for (const auto& [rule, kind] : accumulationKinds().all())
            for (const auto& [mode, words] : precisionWords().all())
                for (const int ranks : {1, 2, 4})
                    for (const std::string reduction : {"ring", "tree"})
                        for (const std::string at : {"window", "micro_step"}) {
                            config::RunConfig config;
                            config.accumulation = {.rule = rule, .microBatches = 4};
                            config.precision.mode = mode;
                            config.parallel.ranks = ranks;
                            config.parallel.reduction = reduction;
                            config.parallel.reduceAt = at;
                            QStringList names;
                            for (const UpdateEvent& event : explainUpdate(config)) {
                                names << QString::fromStdString(event.name);
                                QVERIFY2(!event.detail.empty(), event.name.c_str());
                                if (event.name == "window") windows.insert(event.detail);
                                if (event.name == "forward") forwards.insert(event.detail);
                                if (event.name == "reduce") reductions.insert(event.detail);
                            }
                            QStringList sorted = names;
                            std::stable_sort(sorted.begin(), sorted.end(), [&](const QString& a, const QString& b) { return order.indexOf(a) < order.indexOf(b); });
                            QCOMPARE(names, sorted);
                            const bool scales = mode == "fp16" || mode == "auto", several = ranks > 1;
                            QCOMPARE(names.contains("unscale") && names.contains("scale"), scales);
                            QCOMPARE(names.contains("share") && names.contains("agree"), several);
                            QCOMPARE(names.size(), 14 + 2 * int(scales) + 2 * int(several) + 1);   // clipping by norm is on
                        }
        QCOMPARE(windows.size(), accumulationKinds().all().size());
        QCOMPARE(forwards.size(), precisionWords().all().size());
        QCOMPARE(reductions.size(), std::size_t(4));   // nothing, once a window, each micro-step, tree
    }

    void ranksShareWindowsOutWithoutGapOrOverlap() {
        for (const bool aligned : {false, true}) {
            for (int world = 1; world <= 8; world *= 2) {
                for (std::size_t count = 0; count <= 17; ++count) {
                    std::size_t next = 0;
                    for (int rank = 0; rank < world; ++rank) {
                        const auto share = Sharing{rank, world, aligned}.of(count);
                        QCOMPARE(share.begin, next);
                        QVERIFY(share.end >= share.begin);
                        next = share.end;
                    }
                    QCOMPARE(next, count);
                }
            }
        }
        QCOMPARE((Sharing{1, 2, true}.of(6).begin), std::size_t(4));
        QCOMPARE((Sharing{1, 2, false}.of(6).begin), std::size_t(3));
    }

    /// SEMANTICS A3: 10 batches, window 4, 3 epochs: 9 updates; 8 batches: 6
    void plannedUpdatesCountTailWindowsAndNothingElse() {
        QVERIFY(plannedUpdates({.samples = 10, .batchSize = 1, .accumulation = fixedWindows(4)}, 3, {}) == GlobalStep(9));
        QVERIFY(plannedUpdates({.samples = 8, .batchSize = 1, .accumulation = fixedWindows(4)}, 3, {}) == GlobalStep(6));
        QVERIFY(plannedUpdates({.samples = 8, .batchSize = 1, .accumulation = fixedWindows(4)}, 3, 5) == GlobalStep(5));
        QVERIFY(plannedUpdates({.samples = 8, .batchSize = 1, .accumulation = fixedWindows(4)}, {}, 50) == GlobalStep(50));
        QVERIFY(!plannedUpdates({.samples = 8, .batchSize = 1, .accumulation = fixedWindows(4)}, {}, {}));
        QCOMPARE((OrderShape{.samples = 10, .batchSize = 4, .accumulation = fixedWindows(1), .dropLast = true}.samplesPerEpoch()), 8);
    }
    /// SEMANTICS F5: random triples of batches, window and updates
    void walkingWindowsEqualsDivision() {
        Stream stream(11, Purpose::Test);
        for (int trial = 0; trial < 200; ++trial) {
            const auto batches = static_cast<std::int64_t>(1 + stream.below(40));
            const auto micro = static_cast<std::int64_t>(1 + stream.below(6));
            const OrderShape shape{.samples = batches * 3, .batchSize = 3, .accumulation = fixedWindows(micro)};
            const auto updates = static_cast<std::int64_t>(stream.below(120));
            Epoch epoch;
            PlanEntry entry;
            for (std::int64_t u = 0; u < updates; ++u) {
                const Window window = windowAt(shape, epoch, entry);
                epoch = window.nextEpoch;
                entry = window.nextEntry;
            }
            QCOMPARE(epoch.value(), updates / *shape.updatesPerEpoch());
            QCOMPARE(entry.value(), updates % *shape.updatesPerEpoch() * micro * 3);
        }
    }

    void aRunOfOneEpochIsEvaluatedTwentyTimes() {
        const Interval epoch{Interval::Unit::Epochs, 1}, hundred{Interval::Unit::Updates, 100};
        QVERIFY(evaluationInterval(epoch, 1, GlobalStep(2000)) == hundred);
        QVERIFY(evaluationInterval(epoch, 1, GlobalStep(7)) == (Interval{Interval::Unit::Updates, 1}));
        QVERIFY(evaluationInterval(epoch, 2, GlobalStep(2000)) == epoch);
        QVERIFY(evaluationInterval(epoch, {}, GlobalStep(2000)) == epoch);
        QVERIFY(evaluationInterval(hundred, 1, GlobalStep(10)) == hundred);
        QVERIFY(evaluationInterval(Interval{}, 1, GlobalStep(2000)) == Interval{});
    }

    void lengthsThatAreNotThoseOfTheRunAreDoubted_data() {
        QTest::addColumn<QString>("settings");
        QTest::addColumn<qint64>("updates");
        QTest::addColumn<QString>("key");   ///< empty: no doubt
        QTest::addColumn<QString>("part");
        const auto row = [](const char* name, const char* settings, qint64 updates, const char* key, const char* part) { QTest::newRow(name) << settings << updates << key << part; };
        row("warm-up as long as the run", "schedule.warmup_updates=40", 40, "", "");
        row("warm-up longer", "schedule.warmup_updates=500", 40, "schedule.warmup_updates", "500 updates and the run has 40: the learning rate never reaches its peak");
        row("curve as long", "schedule.total_updates=300", 300, "", "");
        row("curve longer", "schedule.name=linear schedule.total_updates=1000", 250, "schedule.total_updates", "linear curve is 1000 updates long (schedule.total_updates) and the run has 250: its last update still learns at 0.751 of the peak");
        row("curve shorter", "schedule.name=one_cycle schedule.total_updates=300", 900, "schedule.total_updates", "from update 301 on the rate stays at 0 of the peak, so nothing is learned any more");
        row("curve shorter, of more than 0", "schedule.total_updates=300 schedule.final_factor=0.1", 900, "schedule.total_updates", "stays at 0.1 of the peak; leave it out");
        row("no length to speak of", "schedule.name=constant schedule.total_updates=300", 900, "", "");
        row("all of the curve is warm-up", "schedule.total_updates=100 schedule.warmup_updates=100", 100, "schedule.warmup_updates", "nothing of it is left");
        row("no cut", "schedule.name=step schedule.decay_updates=1000", 300, "schedule.decay_updates", "The first cut comes after 1000 updates and the run has 300");
        row("a cut", "schedule.name=step schedule.decay_updates=100", 300, "", "");
        row("ramp longer", "accumulation.rule=ramp accumulation.ramp_updates=100 accumulation.micro_batches=8", 40, "accumulation.ramp_updates", "takes 100 updates and the run has 40: it never reaches 8 micro-batches");
        row("a plug-in's curve", "schedule.name=mine/steep schedule.warmup_updates=500", 40, "", "");
    }
    void lengthsThatAreNotThoseOfTheRunAreDoubted() {
        QFETCH(QString, settings);
        QFETCH(qint64, updates);
        QFETCH(QString, key);
        QFETCH(QString, part);
        config::Loaded loaded;
        std::vector<std::string> words;
        for (const QString& setting : settings.split(' ')) words.push_back(setting.toStdString());
        config::applySettings(loaded, words);
        QVERIFY(!config::hasErrors(loaded.problems));
        const auto doubts = lengthDoubts(loaded.config, GlobalStep(updates));
        QCOMPARE(lengthDoubts(loaded.config, {}).size(), std::size_t(part.startsWith(QLatin1String("nothing of it")) ? 1 : 0));   // of an unknown length little can be said
        loaded.config.run.maxUpdates = updates;
        QCOMPARE(lengthDoubts(loaded.config, GlobalStep(updates)).size(), std::size_t(key.isEmpty() ? 0 : 1));
        loaded.config.run.epochs.reset();
        QCOMPARE(lengthDoubts(loaded.config, {}).size(), std::size_t(key.isEmpty() ? 0 : 1));   // the configuration says it
        QCOMPARE(doubts.size(), std::size_t(key.isEmpty() ? 0 : 1));
        if (key.isEmpty()) return;
        QCOMPARE(doubts[0].key, key.toStdString());
        QVERIFY2(doubts[0].sentence.find(part.toStdString()) != std::string::npos, doubts[0].sentence.c_str());
    }
    /// SEMANTICS C3: the ten factors of a warm-up of 4 and a total of 10; P3: a function of the update alone
    void linearWithWarmupGivesTheStatedFactors() {
        const ScheduleSection schedule{.name = "linear", .warmupUpdates = 4, .totalUpdates = 10};
        const double expected[] = {.25, .5, .75, 1, 1, 5.0 / 6, 4.0 / 6, .5, 2.0 / 6, 1.0 / 6};
        for (int k = 0; k < 10; ++k) QVERIFY(std::abs(factorAt(schedule, GlobalStep(k)) - expected[k]) < 1e-12);
        QCOMPARE(factorAt(schedule, GlobalStep(10)), 0.0);
        QCOMPARE(factorAt(schedule, GlobalStep(1000)), 0.0);
    }
    void cosineIsSymmetricAroundItsMiddleAndEndsAtTheFinalFactor() {
        const ScheduleSection schedule{.name = "cosine", .finalFactor = 0.1, .totalUpdates = 100};
        QCOMPARE(factorAt(schedule, GlobalStep(0)), 1.0);
        QVERIFY(std::abs(factorAt(schedule, GlobalStep(50)) - 0.55) < 1e-12);
        QVERIFY(std::abs(factorAt(schedule, GlobalStep(100)) - 0.1) < 1e-12);
    }
    /// SEMANTICS C3: warm-up longer than the total, totals of 0 and 1, no decay
    void degenerateLengthsDivideByNothing() {
        for (ScheduleSection schedule : everyKind())
            for (const double part : {0.0, 0.2, 1.0})
                for (std::int64_t warmup : {0, 1, 20})
                    for (std::int64_t total : {0, 1, 10})
                        for (std::int64_t k : {0, 1, 9, 19, 20, 500}) {
                            schedule.warmupUpdates = warmup;
                            schedule.totalUpdates = total;
                            schedule.risePart = schedule.decayPart = part;
                            const double factor = factorAt(schedule, GlobalStep(k));
                            QVERIFY2(factor >= 0 && factor <= 1, schedule.name.c_str());
                        }
    }
    void everyKindEqualsPyTorchs_data() {
        QTest::addColumn<ScheduleSection>("schedule");
        QTest::addColumn<std::vector<double>>("expected");
        const auto row = [](const char* name, ScheduleSection schedule, const std::vector<double>& expected) {
            schedule.totalUpdates = 70;
            QTest::newRow(name) << schedule << expected;
        };
        row("cosine with restarts", {.name = "cosine", .finalFactor = 0.05, .cycles = 3, .cycleGrowth = 2}, golden::kCosineRestarts);
        row("cosine with equal cycles", {.name = "cosine", .cycles = 5}, golden::kCosineCycles);
        row("cosine", {.name = "cosine", .warmupUpdates = 10, .finalFactor = 0.1}, golden::kCosine);
        row("linear", {.name = "linear", .warmupUpdates = 10, .finalFactor = 0.1}, golden::kLinear);
        row("polynomial", {.name = "polynomial", .warmupUpdates = 10, .power = 2.5}, golden::kPolynomial);
        row("step", {.name = "step", .warmupUpdates = 10, .decayFactor = 0.4, .decayUpdates = 7}, golden::kStep);
        row("exponential", {.name = "exponential", .decayFactor = 0.4, .decayUpdates = 7}, golden::kExponential);
        row("one cycle", {.name = "one_cycle", .finalFactor = 0.001}, golden::kOneCycle);
    }
    void everyKindEqualsPyTorchs() {
        QFETCH(ScheduleSection, schedule);
        QFETCH(std::vector<double>, expected);
        for (std::size_t k = 0; k < expected.size(); ++k) {
            const double factor = factorAt(schedule, GlobalStep(static_cast<std::int64_t>(k)));
            QVERIFY2(std::abs(factor - expected[k]) <= 1e-12, qPrintable(QString("update %1: %2, PyTorch %3").arg(k).arg(factor).arg(expected[k])));
        }
    }
    void plateauCutsWherePyTorchDoes() {
        const ScheduleSection schedule{.name = "plateau", .finalFactor = 0.002, .decayFactor = 0.3, .patience = 3, .cooldown = 2};
        Plateau falls, rises;   // the same, of a metric that is better when it is larger
        for (std::size_t i = 0; i < golden::kPlateauValues.size(); ++i) {
            QVERIFY2(std::abs(falls.scale - golden::kPlateauRates[i]) < 1e-12, qPrintable(QString("evaluation %1").arg(i)));
            QCOMPARE(rises.scale, falls.scale);
            const GlobalStep step(static_cast<std::int64_t>(10 * (i + 1)));
            falls.take(schedule, golden::kPlateauValues[i], false, 0.05, step);
            rises.take(schedule, -golden::kPlateauValues[i], true, 0.05, step);
        }
        QCOMPARE(falls.scale, 0.002);
    }
    /// SEMANTICS C6
    void plateauCutsOnceForOneStretchWithoutGain() {
        const ScheduleSection schedule{.name = "plateau", .patience = 2};
        Plateau plateau;
        std::vector<std::int64_t> cuts;
        std::int64_t step = 0;
        for (const double loss : {1.0, 1.1, 1.2, 1.3, 1.3}) {
            step += 50;
            for (int again = 0; again < 3; ++again)   // the same evaluation is no new evidence
                if (plateau.take(schedule, loss, false, 0, GlobalStep(step))) cuts.push_back(step);
        }
        QCOMPARE(cuts, std::vector<std::int64_t>{200});
        QCOMPARE(plateau.scale, 0.1);
        Plateau lost;   // an evaluation that is no number is none that is better
        for (std::int64_t i = 1; i <= 3; ++i) lost.take(schedule, std::nan(""), false, 0, GlobalStep(i));
        QCOMPARE(lost.scale, 0.1);
    }
    void stableRateFallsAtTheEndAlone() {
        ScheduleSection schedule{.name = "wsd", .warmupUpdates = 10, .finalFactor = 0.1, .totalUpdates = 110, .decayPart = 0.2};
        const auto at = [&](std::int64_t k) { return factorAt(schedule, GlobalStep(k)); };
        QVERIFY(std::abs(at(4) - 0.5) < 1e-15);
        for (std::int64_t k = 9; k <= 90; ++k) QCOMPARE(at(k), 1.0);
        const auto near = [](double a, double b) { return std::abs(a - b) < 1e-12; };
        QVERIFY(near(at(91), 0.1 + 0.9 * 0.95) && near(at(100), 0.1 + 0.9 * 0.5) && near(at(109), 0.1 + 0.9 * 0.05) && near(at(110), 0.1) && near(at(1000), 0.1));
        schedule.decayShape = "sqrt";
        QVERIFY(near(at(95), 0.1 + 0.9 * 0.5) && near(at(90), 1));
        schedule.decayShape = "cosine";
        QVERIFY(near(at(95), 0.1 + 0.45 * (1 + std::sqrt(0.5))));
    }
    void warmUpLeadsToTheBeginningOfTheCurve() {
        for (ScheduleSection schedule : everyKind()) {
            schedule.warmupUpdates = 8;
            schedule.totalUpdates = 100;
            const double begin = schedule.name == "one_cycle" ? 0.04 : 1.0;
            for (std::int64_t k = 0; k < 8; ++k) QVERIFY(std::abs(factorAt(schedule, GlobalStep(k)) - begin * static_cast<double>(k + 1) / 8) < 1e-15);
            QVERIFY2(std::abs(factorAt(schedule, GlobalStep(8)) - begin) < 1e-15, schedule.name.c_str());
        }
    }
    void beyondItsLengthACurveKeepsTheFinalFactor() {
        for (ScheduleSection schedule : everyKind()) {
            if (!hasLength(schedule)) continue;
            schedule.totalUpdates = 100;
            schedule.finalFactor = 0.25;
            for (const double part : {0.0, 0.5, 1.0}) {
                schedule.decayPart = schedule.risePart = part;
                for (const std::int64_t k : {100, 101, 1'000'000}) QVERIFY2(factorAt(schedule, GlobalStep(k)) == 0.25, (schedule.name + " " + std::to_string(part)).c_str());
            }
        }
    }
    void whatCanBeChosenIsWhatThereIs() {
        const auto namesOf = [](const auto& kinds) {
            std::set<std::string> names;
            for (const auto& [name, kind] : kinds.all()) names.insert(name);
            return names;
        };
        const auto choices = [](const char* key) {
            const auto& all = Schema::builtin().find(key)->choices;
            return std::set<std::string>(all.begin(), all.end());
        };
        QCOMPARE(namesOf(curveKinds()), choices("schedule.name"));
        QCOMPARE(namesOf(accumulationKinds()), choices("accumulation.rule"));
        QCOMPARE(namesOf(precisionWords()), choices("precision.mode"));
        QCOMPARE(namesOf(parallelWords()), choices("parallel.strategy"));
    }
    void onlyCurvesWithAnEndHaveALength() {
        const Field& length = *Schema::builtin().find("schedule.total_updates");
        for (const ScheduleSection& schedule : everyKind()) {
            RunConfig config;
            config.schedule = schedule;
            QCOMPARE(hasLength(schedule), isVisible(length, toValues(config)));
        }
    }
    /// SEMANTICS C5
    void lengthenedRunKeepsItsCurveUnlessOneIsMadeAnew() {
        RunConfig config;
        config.schedule.name = "linear";
        QCOMPARE(*scheduleOf(config, 20).totalUpdates, 20);
        QCOMPARE(*scheduleOnResume(config, 20, 40, false).totalUpdates, 20);
        QCOMPARE(*scheduleOnResume(config, 20, 40, true).totalUpdates, 40);
        QCOMPARE(*scheduleOnResume(config, 20, 10, false).totalUpdates, 20);
        QCOMPARE(*scheduleOnResume(config, 20, {}, true).totalUpdates, 20);
        QCOMPARE(*scheduleOnResume(config, {}, 40, false).totalUpdates, 40);  // another kind before: its length says nothing
        config.schedule.totalUpdates = 60;
        QCOMPARE(*scheduleOnResume(config, 20, 40, false).totalUpdates, 60);
        QCOMPARE(*scheduleOf(config, 20).totalUpdates, 60);
    }

private:
    static std::vector<ScheduleSection> everyKind() {
        std::vector<ScheduleSection> all;
        for (const std::string& name : Schema::builtin().find("schedule.name")->choices) all.push_back({.name = name});
        all.push_back({.name = "cosine", .cycles = 3});
        all.push_back({.name = "cosine", .cycles = 1000, .cycleGrowth = 10});
        return all;
    }
};

QTEST_GUILESS_MAIN(TestPlan)
#include "tst_plan.moc"
