#include "size_estimate.h"

#include <array>
#include <utility>

namespace lathe::trainer {

namespace {

std::int64_t linear(std::int64_t in, std::int64_t out) { return in * out + out; }
std::int64_t normed(std::int64_t in, std::int64_t out, std::int64_t side) { return in * out * side * side + 2 * out; }

std::int64_t mlp(const config::ModelSection& model, std::int64_t in, std::int64_t out) {
    std::int64_t total = 0;
    for (const std::int64_t width : model.hidden) {
        total += linear(in, width);
        in = width;
    }
    return total + linear(in, out);
}

std::int64_t convnet(const config::ModelSection& model, const dataset::Info& data, std::int64_t out) {
    std::int64_t in = data.channels, height = data.height, width = data.width, total = 0;
    for (const std::int64_t filters : model.filters) {
        total += model.batchNorm ? normed(in, filters, 3) : in * filters * 9 + filters;
        const bool pool = height >= 4 && width >= 4;
        height = pool ? height / 2 : height;
        width = pool ? width / 2 : width;
        in = filters;
    }
    return total + linear(in * height * width, out);
}

struct Residual {
    const char* name;
    bool bottleneck;
    std::array<int, 4> blocks;
};
constexpr std::array<Residual, 5> kResnets = {{{"resnet18", false, {2, 2, 2, 2}}, {"resnet34", false, {3, 4, 6, 3}}, {"resnet50", true, {3, 4, 6, 3}},
                                               {"resnet101", true, {3, 4, 23, 3}}, {"resnet152", true, {3, 8, 36, 3}}}};

std::int64_t resnet(const Residual& kind, const config::ModelSection& model, std::int64_t channels, std::int64_t out) {
    std::int64_t total = normed(channels, model.width, model.stem == "small" ? 3 : 7), in = model.width;
    for (int stage = 0; stage < 4; ++stage) {
        const std::int64_t width = model.width << stage, wide = kind.bottleneck ? 4 * width : width;
        for (int block = 0; block < kind.blocks[static_cast<std::size_t>(stage)]; ++block) {
            total += kind.bottleneck ? normed(in, width, 1) + normed(width, width, 3) + normed(width, wide, 1) : normed(in, width, 3) + normed(width, wide, 3);
            if (block == 0 && (stage > 0 || in != wide)) total += normed(in, wide, 1);
            in = wide;
        }
    }
    return total + linear(in, out);
}

}  // namespace

std::optional<std::int64_t> estimateParameters(const config::RunConfig& config, const dataset::Info& data) {
    const bool classification = config.task.name == "classification";
    const auto found = static_cast<std::int64_t>(classification ? data.classNames.size() : data.targetNames.size());
    const std::int64_t outputs = classification ? config.task.numClasses.value_or(found) : found;
    if (outputs <= 0 || data.inputElements() <= 0) return std::nullopt;
    const config::ModelSection& model = config.model;
    if (model.name == "linear") return linear(data.inputElements(), outputs);
    if (model.name == "mlp") return mlp(model, data.inputElements(), outputs);
    if (!data.images) return std::nullopt;
    if (model.name == "convnet") return convnet(model, data, outputs);
    for (const Residual& kind : kResnets) {
        if (model.name == kind.name) return resnet(kind, model, data.channels, outputs);
    }
    return std::nullopt;
}

std::uint64_t checkpointBytes(const config::RunConfig& config, std::int64_t parameters) {
    const std::uint64_t copies = config.optimizer.name == "adamw" ? 3 : config.optimizer.momentum > 0 ? 2 : 1;
    const std::uint64_t each = config.precision.mode == "fp64" ? 8 : 4;
    return static_cast<std::uint64_t>(parameters) * each * copies + 16'384;  // and manifest, counters, headers
}

}  // namespace lathe::trainer
