#include "engine/data/loader.h"

#include "config/plugin_list.h"
#include "engine/data/loader_kinds.h"
#include "plan/accumulation.h"
#include "plan/sample_weights.h"

#include <algorithm>

namespace lathe::engine {

at::ScalarType dtypeOf(const config::PrecisionSection& precision) {
    return precision.mode == "fp64" ? at::kDouble : at::kFloat;
}

Result<LoaderSettings> LoaderSettings::training(const config::RunConfig& config, at::Device device, plan::Sharing sharing) {
    LoaderSettings settings;
    settings.shape = plan::orderShape(config, 0);
    LATHE_TRY_ASSIGN(settings.shape.accumulation, plan::makeAccumulation(config.accumulation));
    settings.foreseesWindows = config::pluginOf(config.accumulation.rule).empty() && config::pluginOf(config.parallel.strategy).empty();
    settings.sharing = sharing;
    settings.seed = static_cast<std::uint64_t>(config.run.seed);
    settings.shuffle = config.data.shuffle;
    settings.augmentFlip = config.data.augmentFlip;
    settings.augmentShift = config.data.augmentShift;
    settings.threads = static_cast<int>(config.data.loaderThreads);
    settings.dtype = dtypeOf(config.precision);
    settings.device = device;
    return settings;
}

LoaderSettings LoaderSettings::evaluation(const config::RunConfig& config, at::Device device, plan::Sharing sharing) {
    LoaderSettings settings;
    settings.shape.accumulation = plan::fixedWindows(sharing.world);
    settings.sharing = sharing;
    settings.shape.batchSize = config.evaluation.batchSize.value_or(config.data.batchSize);
    settings.threads = static_cast<int>(config.data.loaderThreads);
    settings.oneEpoch = true;
    settings.dtype = dtypeOf(config.precision);
    settings.device = device;
    return settings;
}

Result<void> LoaderSettings::fit(const DataPart& part) {
    shape.samples = static_cast<std::int64_t>(part.ids.size());
    if (shape.samplesPerEpoch() == 0)
        return Error{ErrorCode::Config, "No full micro-batch of " + std::to_string(shape.batchSize) + " samples in the " + std::to_string(shape.samples) +
                     " of the training part; lower data.batch_size or set data.drop_last to false", "data.batch_size", {}};
    if (shape.accumulation->foretold(UpdateAttempt(0), 0) == 0 && part.dataset->info().weighted) {
        std::vector<double> weights;
        for (const std::int64_t id : part.ids) weights.push_back(part.dataset->weight(id));
        shape.weights = std::make_shared<plan::SampleWeights>(std::move(weights), seed, shuffle);
    }
    return {};
}

Result<std::unique_ptr<Loader>> Loader::open(DataPart part, LoaderSettings settings, const LoadProgress& progress) {
    LATHE_ASSERT(!part.ids.empty());
    LATHE_TRY(settings.fit(part));
    if (part.dataset->text()) return openTextLoader(std::move(part), settings);
    // A stream of one file after another reads ahead by at least one batch a thread.
    settings.batchesAhead = std::max<std::int64_t>({settings.batchesAhead, settings.threads, 1});
    PartReader reader(std::move(part), settings.dtype, settings.augmentFlip, settings.augmentShift, settings.seed);
    if (!reader.augments() && reader.bytesPerSample() * settings.shape.samples <= settings.memoryLimitBytes)
        return openMemoryLoader(std::move(reader), settings, progress);
    return openStreamLoader(std::move(reader), settings);
}

}  // namespace lathe::engine
