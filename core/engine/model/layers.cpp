#include "engine/model/layers.h"

#include "base/hash.h"
#include "plan/random.h"

#include <cmath>
#include <span>

namespace lathe::engine {
namespace {

constexpr double kEpsilon = 1e-5, kMomentum = 0.1;

template <typename Draw>
at::Tensor drawn(std::uint64_t seed, const std::string& name, const std::vector<std::int64_t>& shape, const at::TensorOptions& options,
                 const Draw& draw) {
    if (options.device().is_meta())
        return at::empty(shape, options);
    plan::Stream stream(seed, plan::Purpose::Weights, hash64(std::as_bytes(std::span(name))));
    at::Tensor values = at::empty(shape, at::kDouble);
    double* out = values.mutable_data_ptr<double>();
    for (std::int64_t i = 0; i < values.numel(); ++i)
        out[i] = draw(stream);
    return values.to(options);
}

}  // namespace

at::Tensor WeightSource::uniform(const std::string& name, const std::vector<std::int64_t>& shape, double bound) const {
    return drawn(m_seed, name, shape, m_options, [bound](plan::Stream& stream) { return (2 * stream.uniform() - 1) * bound; });
}

at::Tensor WeightSource::normal(const std::string& name, const std::vector<std::int64_t>& shape, double deviation) const {
    return drawn(m_seed, name, shape, m_options, [deviation](plan::Stream& stream) { return stream.normal() * deviation; });
}

at::Tensor WeightSource::filled(std::int64_t size, double value) const {
    return at::full({size}, value, m_options);
}

at::Tensor LayeredBlock::addParameter(std::string name, at::Tensor tensor) {
    tensor.set_requires_grad(true);
    m_parameters.push_back({std::move(name), tensor});
    return tensor;
}

Linear LayeredBlock::addLinear(const WeightSource& source, const std::string& prefix, std::int64_t in, std::int64_t out) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(in));
    Linear linear;
    linear.weight = addParameter(prefix + "weight", source.uniform(prefix + "weight", {out, in}, bound));
    linear.bias = addParameter(prefix + "bias", source.uniform(prefix + "bias", {out}, bound));
    return linear;
}

Convolution LayeredBlock::addConvolution(const WeightSource& source, const std::string& prefix, const ConvolutionShape& shape) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(shape.in * shape.side * shape.side));
    Convolution convolution{{}, {}, shape.stride, shape.side / 2};
    convolution.weight =
        addParameter(prefix + "weight", source.uniform(prefix + "weight", {shape.out, shape.in, shape.side, shape.side}, bound));
    if (shape.bias)
        convolution.bias = addParameter(prefix + "bias", source.uniform(prefix + "bias", {shape.out}, bound));
    return convolution;
}

Convolution LayeredBlock::addKaimingConvolution(const WeightSource& source, const std::string& prefix, const ConvolutionShape& shape) {
    const double deviation = std::sqrt(2.0 / static_cast<double>(shape.out * shape.side * shape.side));
    Convolution convolution{{}, {}, shape.stride, shape.side / 2};
    convolution.weight =
        addParameter(prefix + "weight", source.normal(prefix + "weight", {shape.out, shape.in, shape.side, shape.side}, deviation));
    return convolution;
}

std::size_t LayeredBlock::addBatchNorm(const WeightSource& source, const std::string& prefix, std::int64_t channels) {
    BatchNorm norm;
    norm.weight = addParameter(prefix + "weight", source.filled(channels, 1));
    norm.bias = addParameter(prefix + "bias", source.filled(channels, 0));
    norm.runningMean = source.filled(channels, 0);
    norm.runningVariance = source.filled(channels, 1);
    norm.batchesTracked = at::zeros({}, source.options().dtype(at::kLong));
    m_buffers.push_back({prefix + "running_mean", norm.runningMean});
    m_buffers.push_back({prefix + "running_var", norm.runningVariance});
    m_buffers.push_back({prefix + "num_batches_tracked", norm.batchesTracked});
    m_norms.push_back(std::move(norm));
    return m_norms.size() - 1;
}

at::Tensor LayeredBlock::normalized(Context& context, std::size_t place, const at::Tensor& input) {
    const BatchNorm& norm = m_norms[place];
    if (!context.training)
        return at::batch_norm(input, norm.weight, norm.bias, norm.runningMean, norm.runningVariance, false, kMomentum, kEpsilon, true);
    // Momentum 1 into zeros leaves the statistics of this micro-batch alone, variance unbiased.
    const at::Tensor mean = at::zeros_like(norm.runningMean), variance = at::zeros_like(norm.runningVariance);
    at::Tensor output = at::batch_norm(input, norm.weight, norm.bias, mean, variance, true, 1.0, kEpsilon, true);
    LATHE_ASSERT(context.statistics);
    if (input.numel() > input.size(1))
        context.statistics->push_back({this, place, mean, variance});
    return output;
}

void LayeredBlock::applyStatistics(const StatisticsUpdate& update) {
    const at::NoGradGuard noGrad;
    BatchNorm& norm = m_norms.at(update.place);
    norm.runningMean.mul_(1 - kMomentum).add_(update.mean, kMomentum);
    norm.runningVariance.mul_(1 - kMomentum).add_(update.variance, kMomentum);
    norm.batchesTracked.add_(1);
}

}  // namespace lathe::engine
