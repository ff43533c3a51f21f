#include "engine/data/run_data.h"

#include "plan/order.h"

#include <cmath>
#include <numeric>

namespace lathe::engine {

Result<Standardization> measure(const dataset::Dataset& dataset, const std::vector<std::int64_t>& ids, const LoadProgress& progress) {
    const std::size_t width = static_cast<std::size_t>(dataset.info().inputElements());
    std::vector<double> values(width), mean(width, 0.0), squares(width, 0.0);
    const std::int64_t total = static_cast<std::int64_t>(ids.size());
    for (std::int64_t n = 0; n < total; ++n) {
        const std::int64_t sample = ids[static_cast<std::size_t>(n)];
        if (auto ok = dataset.input(sample, nullptr, std::span(values)); !ok)
            return std::move(ok).error().in("while measuring " + dataset.describe(sample));
        for (std::size_t i = 0; i < width; ++i) {  // Welford: no cancellation whatever the offset
            const double delta = values[i] - mean[i];
            mean[i] += delta / static_cast<double>(n + 1);
            squares[i] += delta * (values[i] - mean[i]);
        }
        if (progress && n % 1024 == 0 && !progress(n, total))
            return Error{ErrorCode::Stopped, "Stopped while the data were measured", "", {}};
    }
    for (double& square : squares) {
        square = std::sqrt(square / static_cast<double>(total));
        if (!(square > 0))
            square = 1;
    }
    return Standardization{std::move(mean), std::move(squares)};
}

ModelShape RunData::modelShape(std::int64_t outputs) const {
    const dataset::Info& info = train.dataset->info();
    const bool packed = info.documents > 1 || (eval.dataset && eval.dataset->info().documents > 1);
    return {info.inputElements(), info.channels, info.height, info.width, outputs, info.context, packed};
}

namespace {

std::vector<std::int64_t> allIds(const dataset::Dataset& dataset) {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(dataset.info().samples));
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
}

}  // namespace

Result<RunData> openRunData(const config::RunConfig& config, const LoadProgress& progress, Reading reading) {
    RunData data;
    const auto open = reading == Reading::Whole ? &dataset::open : &dataset::survey;
    auto train = open(config.data, config.task, dataset::Part::Train, nullptr, progress);
    if (!train)
        return std::move(train).error();
    data.train.dataset = std::move(*train);
    data.train.ids = allIds(*data.train.dataset);
    if (!config.data.eval.empty()) {
        auto eval = open(config.data, config.task, dataset::Part::Eval, data.train.dataset.get(), progress);
        if (!eval)
            return std::move(eval).error();
        data.eval.dataset = std::move(*eval);
        data.eval.ids = allIds(*data.eval.dataset);
    } else if (const auto heldOut = data.train.dataset->info().heldOut) {
        data.eval.dataset = data.train.dataset;
        data.eval.ids.assign(data.train.ids.end() - *heldOut, data.train.ids.end());
        data.train.ids.resize(data.train.ids.size() - static_cast<std::size_t>(*heldOut));
    } else {
        plan::Split split = plan::split(data.train.dataset->info().samples, config.data.evalFraction,
                                        static_cast<std::uint64_t>(config.data.splitSeed));
        data.eval.dataset = data.train.dataset;
        data.train.ids = std::move(split.train);
        data.eval.ids = std::move(split.eval);
    }
    if (data.train.ids.empty())
        return Error{ErrorCode::Data, "No sample of " + config.data.train + " can be used for training", "data.train", {}};
    if (reading == Reading::Whole && config.data.standardize && !data.train.dataset->info().images) {
        auto measured = measure(*data.train.dataset, data.train.ids, progress);
        if (!measured)
            return std::move(measured).error();
        data.train.standardization = std::make_shared<const Standardization>(std::move(*measured));
        data.eval.standardization = data.train.standardization;
    }
    return data;
}

}  // namespace lathe::engine
