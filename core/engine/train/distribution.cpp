#include "engine/train/distribution.h"

#include "engine/parallel/parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::engine {
namespace {

constexpr std::size_t kBins = 64;

}  // namespace

std::vector<double> normsByGroup(const FlatStorage& storage) {
    std::size_t groups = 0;
    for (const Flat& flat : storage.flats()) groups = std::max(groups, flat.group + 1);
    std::vector<double> norms(groups, 0);
    const std::vector<double> squares = squaresByParameter(storage);
    for (std::size_t i = 0; i < squares.size(); ++i) norms[storage.flats()[storage.views()[i].flat].group] += squares[i];
    for (double& norm : norms) norm = std::sqrt(norm);
    return norms;
}

Histogram histogramOf(std::string name, const at::Tensor& tensor) {
    const at::Tensor plain = tensor.detach().to(at::kCPU, at::kDouble).contiguous();
    const double* values = plain.const_data_ptr<double>();
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::int64_t i = 0; i < plain.numel(); ++i) {
        if (!std::isfinite(values[i])) continue;
        low = std::min(low, values[i]);
        high = std::max(high, values[i]);
    }
    if (low > high) low = high = 0;                  // not one finite value
    if (low == high) {                               // one value: room around it
        const double room = std::max(0.5, std::abs(low) * 1e-6);
        low -= room;
        high += room;
    }
    Histogram histogram{std::move(name), std::vector<double>(kBins + 1), std::vector<double>(kBins, 0)};
    const double width = high / kBins - low / kBins;  // the difference itself may overflow
    for (std::size_t i = 0; i <= kBins; ++i) {
        const double part = static_cast<double>(i) / kBins;
        histogram.edges[i] = low * (1 - part) + high * part;
    }
    for (std::int64_t i = 0; i < plain.numel(); ++i) {
        if (!std::isfinite(values[i])) continue;
        const double bin = values[i] / width - low / width;
        histogram.counts[std::min(kBins - 1, static_cast<std::size_t>(std::max(0.0, bin)))] += 1;
    }
    return histogram;
}

std::vector<Histogram> histogramsOf(const FlatStorage& storage) {
    std::vector<Histogram> all;
    for (const ShardView& view : storage.views()) all.push_back(histogramOf("gradients/" + view.parameter, view.gradient));
    for (const ShardView& view : storage.views()) all.push_back(histogramOf("weights/" + view.parameter, view.value));
    return all;
}

}  // namespace lathe::engine
