// The loader gives exactly the batches of the plan, whatever the threads, the place it starts from and the way it loads.
#include "made_dataset.h"
#include "patience.h"

#include "engine/data/byte_rows_kernel.h"
#include "engine/data/loader.h"
#include "engine/session/sources.h"
#include "plan/accumulation.h"

#include <ATen/CPUGeneratorImpl.h>

#include <QTest>

#include <numeric>

using namespace lathe;
using namespace lathe::engine;

namespace {

using Ids = std::vector<std::int64_t>;

DataPart partOf(std::shared_ptr<MadeDataset> data) {
    Ids ids(static_cast<std::size_t>(data->info().samples));
    std::iota(ids.begin(), ids.end(), 0);
    return {std::move(data), std::move(ids), nullptr};
}

LoaderSettings settingsOf(std::int64_t batchSize, std::int64_t microBatches, int threads, bool inMemory = false) {
    LoaderSettings settings;
    settings.shape = {.batchSize = batchSize, .accumulation = plan::fixedWindows(microBatches)};
    settings.seed = 11;
    settings.shuffle = true;
    settings.threads = threads;
    if (!inMemory)
        settings.memoryLimitBytes = 0;
    return settings;
}

std::unique_ptr<Loader> opened(DataPart part, const LoaderSettings& settings) {
    auto loader = Loader::open(std::move(part), settings);
    return loader ? std::move(*loader) : nullptr;
}

Ids idsOfEpochs(std::int64_t samples, std::int64_t epochs) {
    Ids all;
    for (std::int64_t epoch = 0; epoch < epochs; ++epoch)
        for (const std::int64_t id : plan::epochOrder(samples, 11, Epoch(epoch), true))
            all.push_back(id);
    return all;
}

Ids take(Loader& loader, std::size_t count) {
    Ids ids;
    while (ids.size() < count) {
        const auto batch = loader.next();
        if (!batch)
            break;
        ids.insert(ids.end(), batch->ids.begin(), batch->ids.end());
    }
    return ids;
}

}  // namespace

class TestLoader : public QObject {
    Q_OBJECT

private:
    static void addWays() {
        QTest::addColumn<int>("threads");
        QTest::addColumn<bool>("inMemory");
        QTest::newRow("caller") << 0 << false;
        QTest::newRow("1 thread") << 1 << false;
        QTest::newRow("2 threads") << 2 << false;
        QTest::newRow("7 threads") << 7 << false;
        QTest::newRow("memory") << 2 << true;
    }

private Q_SLOTS:
    void orderIsThePlansOrder_data() { addWays(); }
    void orderIsThePlansOrder() {
        QFETCH(int, threads);
        QFETCH(bool, inMemory);
        const auto loader = opened(partOf(std::make_shared<MadeDataset>(64, 2)), settingsOf(5, 3, threads, inMemory));
        QVERIFY(loader);
        QCOMPARE(loader->inMemory(), inMemory);
        QCOMPARE(take(*loader, 192), idsOfEpochs(64, 3));
        QCOMPARE(loader->epoch(), Epoch(3));
        QCOMPARE(loader->planEntry(), PlanEntry(0));
    }

    void batchesAreCutAsThePlanSays_data() { addWays(); }
    void batchesAreCutAsThePlanSays() {
        QFETCH(int, threads);
        QFETCH(bool, inMemory);
        const auto loader = opened(partOf(std::make_shared<MadeDataset>(22, 2)), settingsOf(4, 2, threads, inMemory));
        const plan::OrderShape shape{.samples = 22, .batchSize = 4, .accumulation = plan::fixedWindows(2)};
        Epoch epoch;
        PlanEntry entry;
        for (int window = 0; window < 7; ++window) {
            const plan::Window expected = plan::windowAt(shape, epoch, entry);
            for (const auto& range : expected.microBatches)
                QCOMPARE(loader->next()->count(), range.end - range.begin);
            epoch = expected.nextEpoch;
            entry = expected.nextEntry;
            QCOMPARE(loader->epoch(), epoch);
            QCOMPARE(loader->planEntry(), entry);
        }
    }

    void anyPositionGivesTheRemainingIds_data() { addWays(); }
    void anyPositionGivesTheRemainingIds() {
        QFETCH(int, threads);
        QFETCH(bool, inMemory);
        const Ids all = idsOfEpochs(64, 3);
        const auto loader = opened(partOf(std::make_shared<MadeDataset>(64, 2)), settingsOf(5, 3, threads, inMemory));
        for (std::size_t consumed = 0; consumed < 128; consumed += 5) {
            const std::int64_t place = static_cast<std::int64_t>(consumed);
            loader->seek(Epoch(place / 64), PlanEntry(place % 64));
            QCOMPARE(take(*loader, all.size() - consumed), Ids(all.begin() + place, all.end()));
        }
    }

    /// SEMANTICS I1, I3: ranks are disjoint and complete, in each of the ways of loading
    void ranksTogetherReadWhatOneProcessReads_data() { addWays(); }
    void ranksTogetherReadWhatOneProcessReads() {
        QFETCH(int, threads);
        QFETCH(bool, inMemory);
        for (const int world : {2, 3}) {
            LoaderSettings settings = settingsOf(5, 3, threads, inMemory);
            const auto whole = opened(partOf(std::make_shared<MadeDataset>(64, 2)), settings);
            std::vector<std::unique_ptr<Loader>> ranks;
            for (int rank = 0; rank < world; ++rank) {
                settings.sharing = {rank, world, false};
                ranks.push_back(opened(partOf(std::make_shared<MadeDataset>(64, 2)), settings));
            }
            Epoch epoch;
            PlanEntry entry;
            while (epoch < Epoch(2)) {
                const plan::Window window = plan::windowAt(whole->shape(), epoch, entry);
                Ids expected, found;
                for (std::size_t i = 0; i < window.microBatches.size(); ++i) {
                    const auto batch = whole->next();
                    expected.insert(expected.end(), batch->ids.begin(), batch->ids.end());
                }
                for (int rank = 0; rank < world; ++rank) {
                    const auto share = plan::Sharing{rank, world, false}.of(window.microBatches.size());
                    if (share.count() > 0) QCOMPARE(ranks[static_cast<std::size_t>(rank)]->planEntry().value(), window.microBatches[share.begin].begin);
                    for (std::size_t i = share.begin; i < share.end; ++i) {
                        const auto batch = ranks[static_cast<std::size_t>(rank)]->next();
                        found.insert(found.end(), batch->ids.begin(), batch->ids.end());
                    }
                }
                QCOMPARE(found, expected);
                epoch = window.nextEpoch;
                entry = window.nextEntry;
            }
        }
    }

    // a rule that changes with what became of windows: ranks load their shares of each, which nobody could read ahead
    void windowsThatAreNotForeseenAreSharedOutAllTheSame_data() {
        QTest::addColumn<bool>("inMemory");
        QTest::newRow("memory") << true;
        QTest::newRow("stream") << false;
    }
    void windowsThatAreNotForeseenAreSharedOutAllTheSame() {
        QFETCH(bool, inMemory);
        struct Changing final : plan::Accumulation {
            bool isFull(const plan::OpenWindow& window) const override { return window.microBatches >= size; }
            std::int64_t size = 1;
        };
        const auto rule = std::make_shared<Changing>();
        LoaderSettings settings = settingsOf(2, 1, 2, inMemory);
        settings.shape.accumulation = rule;
        settings.foreseesWindows = false;
        std::vector<std::unique_ptr<Loader>> loaders;
        std::vector<LoaderWindows> ranks;
        for (int rank = 0; rank < 3; ++rank) {
            settings.sharing = {rank, 3, false};
            loaders.push_back(opened(partOf(std::make_shared<MadeDataset>(41, 2)), settings));
        }
        for (const auto& loader : loaders) ranks.emplace_back(*loader);
        Ids seen;
        plan::Window window = plan::windowAt(loaders[0]->shape(), Epoch(0), PlanEntry(0));
        while (window.epoch < Epoch(3)) {
            for (int rank = 0; rank < 3; ++rank) {
                std::vector<Batch> batches;
                QVERIFY(ranks[static_cast<std::size_t>(rank)].load(window, plan::Sharing{rank, 3, false}.of(window.microBatches.size()), batches).ok());
                for (const Batch& batch : batches) seen.insert(seen.end(), batch.ids.begin(), batch.ids.end());
            }
            rule->size = rule->size % 7 + 2;
            window = plan::windowAt(loaders[0]->shape(), window.nextEpoch, window.nextEntry, window.attempt.next());
        }
        QCOMPARE(seen, idsOfEpochs(41, 3));
    }

    void rankWithoutAnyShareIsAtTheEnd() {
        LoaderSettings settings = settingsOf(1, 4, 2, false);
        settings.shape.accumulation = plan::fixedWindows(4);
        settings.sharing = {0, 4, false};  // 3 batches among 4 ranks: the first goes without
        settings.oneEpoch = true;
        const auto loader = opened(partOf(std::make_shared<MadeDataset>(3, 2)), settings);
        QVERIFY(loader->atEnd());
    }

    void windowsWithAWeightBudgetCountTheSamplesWeights() {
        LoaderSettings settings = settingsOf(4, 1, 2);
        settings.shape.accumulation = plan::makeAccumulation({.rule = "weight", .weight = 60}).value();
        const auto data = std::make_shared<MadeDataset>(64, 2, MadeDataset::Kind::Classes, true);
        const auto loader = opened(partOf(data), settings);
        QVERIFY(loader->shape().weights != nullptr);
        Epoch epoch;
        PlanEntry entry;
        while (epoch < Epoch(2)) {
            const plan::Window window = plan::windowAt(loader->shape(), epoch, entry);
            double held = 0, last = 0;
            for (const auto& range : window.microBatches) {
                const auto batch = loader->next();
                QCOMPARE(batch->count(), range.end - range.begin);
                last = 0;
                for (const std::int64_t id : batch->ids) last += data->weight(id);
                held += last;
            }
            QVERIFY(window.isTail || held >= 60);
            QVERIFY(held - last < 60);
            epoch = window.nextEpoch;
            entry = window.nextEntry;
        }
    }

    void prefetchedBatchesDoNotCount() {
        const auto loader = opened(partOf(std::make_shared<MadeDataset>(64, 2)), settingsOf(4, 1, 2));
        take(*loader, 20);
        QCOMPARE(loader->planEntry(), PlanEntry(20));
        const Ids straight = take(*loader, 20);
        loader->seek(Epoch(0), PlanEntry(20));
        QCOMPARE(take(*loader, 20), straight);
    }

    void seekingReadsNothingThatWasSkipped() {
        const auto data = std::make_shared<MadeDataset>(1000, 2);
        const auto loader = opened(partOf(data), settingsOf(5, 1, 0));
        loader->seek(Epoch(40), PlanEntry(900));
        QVERIFY(loader->next());
        QCOMPARE(data->reads.load(), 5);
    }

    void prefetchingIsBounded() {
        const auto data = std::make_shared<MadeDataset>(1000, 2);
        LoaderSettings settings = settingsOf(10, 1, 2);
        settings.batchesAhead = 3;
        const auto loader = opened(partOf(data), settings);
        QVERIFY(loader->next());
        QTRY_COMPARE(data->reads.load(), 40);  // the one taken and three ahead
        QVERIFY(loader->next());
        QTRY_COMPARE(data->reads.load(), 50);
    }

    void epochsDifferAndRepeat() {
        const auto loader = opened(partOf(std::make_shared<MadeDataset>(64, 2)), settingsOf(8, 1, 2));
        const Ids first = take(*loader, 64), second = take(*loader, 64);
        QVERIFY(first != second);
        Ids sorted = second;
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t i = 0; i < sorted.size(); ++i)
            QCOMPARE(sorted[i], static_cast<std::int64_t>(i));
        loader->seek(Epoch(0), PlanEntry(0));
        QCOMPARE(take(*loader, 64), first);
    }

    void onlyTheIdsOfThePartAreRead() {
        const auto data = std::make_shared<MadeDataset>(64, 2);
        const plan::Split split = plan::split(64, 0.25, 3);
        const auto loader = opened({data, split.train, nullptr}, settingsOf(8, 1, 1));
        Ids seen = take(*loader, 48);
        std::sort(seen.begin(), seen.end());
        QCOMPARE(seen, split.train);
    }

    void valuesTargetsAndWeightsBelongToTheirIds_data() { addWays(); }
    void valuesTargetsAndWeightsBelongToTheirIds() {
        QFETCH(int, threads);
        QFETCH(bool, inMemory);
        LoaderSettings settings = settingsOf(6, 1, threads, inMemory);
        settings.dtype = at::kDouble;
        const auto loader = opened(partOf(std::make_shared<MadeDataset>(40, 3, MadeDataset::Kind::Targets, true)), settings);
        for (int n = 0; n < 12; ++n) {
            const auto batch = loader->next();
            QVERIFY(batch);
            QCOMPARE(batch->input.scalar_type(), at::kDouble);
            for (std::int64_t row = 0; row < batch->count(); ++row) {
                const std::int64_t id = batch->ids[static_cast<std::size_t>(row)];
                for (std::int64_t f = 0; f < 3; ++f)
                    QCOMPARE(batch->input[row][f].item<double>(), MadeDataset::valueOf(id, f, nullptr));
                QCOMPARE(batch->target[row][1].item<double>(), 2.0 * static_cast<double>(id));
                QCOMPARE(batch->weight[row].item<double>(), 0.25 * static_cast<double>(id));
            }
        }
    }

    void augmentationIsTheSameUnderAnyThreadCount() {
        std::vector<at::Tensor> straight;
        for (const int threads : {0, 1, 2, 5}) {
            LoaderSettings settings = settingsOf(7, 2, threads);
            settings.augmentFlip = true;
            const auto loader = opened(partOf(std::make_shared<MadeDataset>(40, 2, MadeDataset::Kind::Pictures)), settings);
            QVERIFY(!loader->inMemory());
            for (std::size_t n = 0; n < 14; ++n) {
                const auto batch = loader->next();
                if (threads == 0)
                    straight.push_back(batch->input);
                QVERIFY(at::equal(batch->input, straight[n]));
            }
        }
        const dataset::Augmentation second{11, 1, 0, true, 0};
        const std::int64_t id = plan::epochOrder(40, 11, Epoch(1), true).front();
        QCOMPARE(straight[6][0][0][0][1].item<float>(), static_cast<float>(MadeDataset::valueOf(id, 1, &second)));
    }

    /// For epochs on end the windows hold one micro-batch, then more: rank 0 has no share at first, rank 1 always has.
    void aRankWithoutShareFindsItsPlaceOnceWindowsGrow_data() {
        QTest::addColumn<QString>("rule");
        QTest::addColumn<int>("threads");
        QTest::addColumn<bool>("inMemory");
        for (const char* rule : {"ramp", "weight"})
            for (const auto& [threads, inMemory] : {std::pair(0, false), std::pair(2, false), std::pair(0, true)})
                QTest::addRow("%s, %d threads%s", rule, threads, inMemory ? ", memory" : "") << rule << threads << inMemory;
    }
    void aRankWithoutShareFindsItsPlaceOnceWindowsGrow() {
        QFETCH(QString, rule);
        QFETCH(int, threads);
        QFETCH(bool, inMemory);
        struct Lighter final : plan::EntryWeights {  // samples of the first nine epochs fill a window alone
            double sum(Epoch epoch, std::int64_t begin, std::int64_t end) const override { return (epoch.value() < 9 ? 4.0 : 1.0) * static_cast<double>(end - begin); }
        };
        LoaderSettings settings = settingsOf(1, 4, threads, inMemory);
        settings.shape.accumulation = plan::makeAccumulation({.rule = rule.toStdString(), .microBatches = 4, .rampFrom = 1, .rampUpdates = 100, .weight = 3}).value();
        if (rule == "weight") settings.shape.weights = std::make_shared<Lighter>();
        std::vector<std::unique_ptr<Loader>> loaders;
        for (int rank = 0; rank < 2; ++rank) {
            settings.sharing = {rank, 2, false};
            loaders.push_back(opened(partOf(std::make_shared<MadeDataset>(4, 2)), settings));
        }
        Ids seen, ofRankZero;
        Epoch epoch;
        PlanEntry entry;
        for (UpdateAttempt attempt; epoch < Epoch(20); attempt = attempt.next()) {
            const plan::Window window = plan::windowAt(loaders[0]->shape(), epoch, entry, attempt);
            for (int rank = 0; rank < 2; ++rank) {
                std::vector<Batch> batches;
                QVERIFY(LoaderWindows(*loaders[static_cast<std::size_t>(rank)]).load(window, plan::Sharing{rank, 2, false}.of(window.microBatches.size()), batches));
                for (const Batch& batch : batches) {
                    seen.insert(seen.end(), batch.ids.begin(), batch.ids.end());
                    if (rank == 0) ofRankZero.insert(ofRankZero.end(), batch.ids.begin(), batch.ids.end());
                }
            }
            epoch = window.nextEpoch;
            entry = window.nextEntry;
        }
        QCOMPARE(seen, idsOfEpochs(4, 20));
        QVERIFY(!ofRankZero.empty());
    }

    void anErrorComesAtItsPlaceAndNamesTheSample_data() { addWays(); }
    void anErrorComesAtItsPlaceAndNamesTheSample() {
        QFETCH(int, threads);
        QFETCH(bool, inMemory);
        const auto data = std::make_shared<MadeDataset>(64, 2);
        data->broken = plan::epochOrder(64, 11, Epoch(0), true)[22];
        const std::string place = data->describe(data->broken);
        auto result = Loader::open(partOf(data), settingsOf(5, 1, threads, inMemory));
        if (inMemory) {
            QVERIFY(!result);
            QVERIFY(result.error().text().find(place) != std::string::npos);
            return;
        }
        Loader& loader = **result;
        QCOMPARE(take(loader, 20).size(), 20U);
        for (int again = 0; again < 2; ++again) {
            const auto batch = loader.next();
            QVERIFY(!batch);
            QCOMPARE(batch.error().code, ErrorCode::Data);
            QVERIFY(batch.error().text().find(place) != std::string::npos);
            QCOMPARE(loader.planEntry(), PlanEntry(20));
        }
        loader.seek(Epoch(0), PlanEntry(25));
        QVERIFY(loader.next());
    }

    void endsWhileThreadsAreReading() {
        for (int round = 0; round < 50; ++round) {
            const auto loader = opened(partOf(std::make_shared<MadeDataset>(10000, 16)), settingsOf(100, 1, 3));
            if (round % 2)
                QVERIFY(loader->next());
        }
    }

    void loadingIntoMemoryCanBeStopped() {
        const auto loader = Loader::open(partOf(std::make_shared<MadeDataset>(1000, 2)), settingsOf(4, 1, 2, true),
                                         [](std::int64_t done, std::int64_t) { return done < 200; });
        QVERIFY(!loader);
        QCOMPARE(loader.error().code, ErrorCode::Stopped);
    }

    void evaluationIsInOrderAndKeepsTheShortBatch_data() { addWays(); }
    void evaluationIsInOrderAndKeepsTheShortBatch() {
        QFETCH(int, threads);
        QFETCH(bool, inMemory);
        config::RunConfig config;
        config.data.loaderThreads = threads;
        config.data.augmentFlip = true;
        config.data.dropLast = true;
        config.evaluation.batchSize = 8;
        LoaderSettings settings = LoaderSettings::evaluation(config, at::kCPU);
        settings.memoryLimitBytes = inMemory ? settings.memoryLimitBytes : 0;
        const auto data = std::make_shared<MadeDataset>(40, 2, MadeDataset::Kind::Pictures);
        const Ids part{1, 2, 3, 5, 8, 13, 21, 34, 35, 36, 39};
        const auto loader = opened({data, part, nullptr}, settings);
        for (int evaluation = 0; evaluation < 3; ++evaluation) {
            Ids seen;
            std::vector<std::int64_t> counts;
            for (loader->seek(Epoch(0), PlanEntry(0)); !loader->atEnd();) {
                const auto batch = loader->next();
                QVERIFY(batch);
                counts.push_back(batch->count());
                seen.insert(seen.end(), batch->ids.begin(), batch->ids.end());
                QCOMPARE(batch->input.flatten(1)[0][0].item<double>(), static_cast<double>(batch->ids[0]));
            }
            QCOMPARE(seen, part);
            QCOMPARE(counts, (Ids{8, 3}));
        }
    }

    void droppingTheLastBatchDropsOtherIdsEachEpoch() {
        LoaderSettings settings = settingsOf(8, 1, 2);
        settings.shape.dropLast = true;
        const auto loader = opened(partOf(std::make_shared<MadeDataset>(20, 2)), settings);
        const Ids first = take(*loader, 16);
        QCOMPARE(loader->epoch(), Epoch(1));
        Ids second = take(*loader, 16);
        Ids sortedFirst = first;
        std::sort(sortedFirst.begin(), sortedFirst.end());
        std::sort(second.begin(), second.end());
        QVERIFY(sortedFirst != second);
    }

    void tooFewSamplesForOneFullBatchIsAConfigError() {
        LoaderSettings settings = settingsOf(8, 1, 0);
        settings.shape.dropLast = true;
        const auto loader = Loader::open(partOf(std::make_shared<MadeDataset>(5, 2)), settings);
        QVERIFY(!loader);
        QCOMPARE(loader.error().key, std::string("data.batch_size"));
    }

    void theGlobalGeneratorIsNotTouched_data() { addWays(); }
    void theGlobalGeneratorIsNotTouched() {
        QFETCH(int, threads);
        QFETCH(bool, inMemory);
        auto generator = at::detail::getDefaultCPUGenerator();
        const at::Tensor before = generator.get_state().clone();
        const auto loader = opened(partOf(std::make_shared<MadeDataset>(64, 2)), settingsOf(5, 3, threads, inMemory));
        take(*loader, 100);
        QVERIFY(at::equal(before, generator.get_state()));
    }

    void bytesBecomeTheExactQuotient() {
        std::vector<std::uint8_t> bytes(256);
        std::iota(bytes.begin(), bytes.end(), 0);
        std::vector<float> single(512);
        std::vector<double> twice(512);
        const Ids rows{0, 0};
        selectByteRows(bytes.data(), 256, rows.data(), 2, single.data());
        selectByteRows(bytes.data(), 256, rows.data(), 2, twice.data());
        for (std::size_t i = 0; i < 512; ++i) {
            const auto byte = static_cast<int>(i % 256);
            QVERIFY(single[i] == static_cast<float>(byte) / 255.0F && twice[i] == byte / 255.0);
        }
        selectByteRows(bytes.data(), 3, std::vector<std::int64_t>{5, 80}.data(), 2, single.data());  // short rows
        QCOMPARE(single[4], 241.0F / 255.0F);
    }

    void heldBatchesStayAsTheyAre() {
        const auto loader = opened(partOf(std::make_shared<MadeDataset>(64, 2)), settingsOf(4, 1, 0, true));
        std::vector<at::Tensor> views;
        std::vector<Ids> ids;
        for (int n = 0; n < 16; ++n) {
            const auto batch = loader->next();
            views.push_back(batch->input.flatten().narrow(0, 0, 7));  // a view keeps the batch alive, not the batch itself
            ids.push_back(batch->ids);
        }
        for (std::size_t n = 0; n < views.size(); ++n)
            for (std::int64_t i = 0; i < 7; ++i)
                QCOMPARE(views[n][i].item<double>(), MadeDataset::valueOf(ids[n][static_cast<std::size_t>(i / 2)], i % 2, nullptr));
    }

    void standardizationUsesTheGivenIdsOnly() {
        const MadeDataset data(100, 2);
        const auto measured = measure(data, {10, 20, 30});
        QVERIFY(measured);
        QCOMPARE(measured->mean[0], 20.0);
        QCOMPARE(measured->mean[1], 20.5);
        QCOMPARE(measured->deviation[0], std::sqrt(200.0 / 3.0));
        const auto constant = measure(data, {7});
        QCOMPARE(constant->deviation[0], 1.0);
    }

    void standardizedInputsAreScaledInDouble() {
        for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
            DataPart part = partOf(std::make_shared<MadeDataset>(8, 2));
            part.standardization = std::make_shared<const Standardization>(Standardization{{3.0, 4.0}, {2.0, 0.5}});
            LoaderSettings settings = settingsOf(8, 1, 0);
            settings.shuffle = false;
            settings.dtype = dtype;
            const auto batch = opened(part, settings)->next();
            QCOMPARE(batch->input.scalar_type(), dtype);
            QCOMPARE(batch->input[5][0].item<double>(), 1.0);
            QCOMPARE(batch->input[5][1].item<double>(), 3.0);
        }
    }
};

QTEST_GUILESS_MAIN(TestLoader)
#include "tst_loader.moc"
