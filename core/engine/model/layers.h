// The layers that blocks are made of, with PyTorch's numbers: shapes, names, initial distributions, BatchNorm.
// Thread: one thread at a time.
#pragma once

#include "engine/model/model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lathe::engine {

/// Makes parameters. A random one is a function of (seed, name) alone: drawn in double, then rounded to dtype.
class WeightSource {
public:
    WeightSource(std::uint64_t seed, at::ScalarType dtype, at::Device device) : m_seed(seed), m_options(at::TensorOptions(dtype).device(device)) {}

    at::Tensor uniform(const std::string& name, const std::vector<std::int64_t>& shape, double bound) const;
    at::Tensor normal(const std::string& name, const std::vector<std::int64_t>& shape, double deviation) const;
    at::Tensor filled(std::int64_t size, double value) const;
    const at::TensorOptions& options() const { return m_options; }

private:
    std::uint64_t m_seed;
    at::TensorOptions m_options;
};

struct Linear {
    at::Tensor weight, bias;
    at::Tensor operator()(const at::Tensor& input) const { return at::linear(input, weight, bias); }
};

struct Convolution {
    at::Tensor weight, bias;  ///< bias may be undefined
    std::int64_t stride = 1, padding = 0;
    at::Tensor operator()(const at::Tensor& input) const {
        return at::conv2d(input, weight, bias, at::IntArrayRef(&stride, 1), at::IntArrayRef(&padding, 1));
    }
};

struct ConvolutionShape {
    std::int64_t in = 0, out = 0, side = 3, stride = 1;  ///< padded by side / 2
    bool bias = false;
};

/// A block with BatchNorms. In training they normalise by the micro-batch and hand its statistics to the context; the
/// running ones move only in applyStatistics(). A micro-batch with a single value a channel has no variance: it is
/// normalised by its mean and hands in nothing.
class LayeredBlock : public Block {
public:
    using Block::Block;
    void applyStatistics(const StatisticsUpdate& update) override;

protected:
    /// PyTorch's default: weight and bias uniform within ±1 / sqrt(fan in). Names: prefix + "weight", "bias".
    Linear addLinear(const WeightSource& source, const std::string& prefix, std::int64_t in, std::int64_t out);
    Convolution addConvolution(const WeightSource& source, const std::string& prefix, const ConvolutionShape& shape);
    /// torchvision's for ResNet: normal with deviation sqrt(2 / fan out), no bias.
    Convolution addKaimingConvolution(const WeightSource& source, const std::string& prefix, const ConvolutionShape& shape);
    /// The place of the new BatchNorm: epsilon 1e-5, momentum 0.1, weight 1, bias 0.
    std::size_t addBatchNorm(const WeightSource& source, const std::string& prefix, std::int64_t channels);
    at::Tensor normalized(Context& context, std::size_t place, const at::Tensor& input);

private:
    at::Tensor addParameter(std::string name, at::Tensor tensor);
    struct BatchNorm {
        at::Tensor weight, bias, runningMean, runningVariance, batchesTracked;
    };
    std::vector<BatchNorm> m_norms;
};

}  // namespace lathe::engine
