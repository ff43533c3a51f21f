// Models: ordered lists of named Blocks with parameters under the names that torchvision uses, called only through a
// Context. Gathering, recomputation, pipeline cuts, noise and timing attach to Context::call, never to a model.
// Thread: one thread at a time.
#pragma once

#include "base/kinds.h"
#include "base/result.h"
#include "config/sections.h"

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lathe::engine {

class Block;

/// Batch statistics of one BatchNorm in one micro-batch; applied to the running statistics only when the update is.
struct StatisticsUpdate {
    Block* block = nullptr;
    std::size_t place = 0;     ///< which BatchNorm of the block
    at::Tensor mean, variance; ///< of the micro-batch; variance unbiased
};

/// Everything a forward pass depends on beside input and parameters.
class Context {
public:
    bool training = false;
    std::uint64_t seed = 0;
    std::int64_t attempt = 0;        ///< update attempt, for noise
    std::int64_t microBatch = 0;     ///< global number of the micro-batch within the window, for noise
    /// Training: where BatchNorms put their statistics. Requires: set when training.
    std::vector<StatisticsUpdate>* statistics = nullptr;

    /// Runs a block. A model that uses one block several times in a pass numbers these uses, so that their noise differs; the
    /// same number gives the same noise, as recomputation wants it. Requires: use < 65,536.
    at::Tensor call(Block& block, const at::Tensor& input, std::uint32_t use = 0);
    /// Inverted dropout whose mask is a function of (seed, attempt, microBatch, block, call, element).
    at::Tensor dropout(const at::Tensor& input, double probability);

private:
    std::uint32_t m_block = 0, m_call = 0;
};

struct NamedTensor {
    std::string name;
    at::Tensor tensor;
};

/// A named part of a model. Parameters and buffers keep their identity for the model's life (they may be moved into
/// flat storage by set_data).
class Block {
public:
    explicit Block(std::string name, std::uint32_t index) : m_name(std::move(name)), m_index(index) {}
    virtual ~Block() = default;
    const std::string& name() const { return m_name; }
    std::uint32_t index() const { return m_index; }
    std::vector<NamedTensor>& parameters() { return m_parameters; }  ///< full names
    std::vector<NamedTensor>& buffers() { return m_buffers; }
    virtual at::Tensor forward(Context& context, const at::Tensor& input) = 0;
    /// Takes one micro-batch's statistics into the running ones of BatchNorm `place`.
    virtual void applyStatistics(const StatisticsUpdate&) {}

protected:
    std::vector<NamedTensor> m_parameters, m_buffers;

private:
    std::string m_name;
    std::uint32_t m_index;
};

class Model {
public:
    virtual ~Model() = default;
    std::vector<std::unique_ptr<Block>>& blocks() { return m_blocks; }
    /// Blocks in order; overridden where the model is not a chain.
    virtual at::Tensor forward(Context& context, at::Tensor input);
    std::vector<NamedTensor> parameters() const;
    std::vector<NamedTensor> buffers() const;
    bool hasBatchNorm() const;

protected:
    std::vector<std::unique_ptr<Block>> m_blocks;
};

struct ModelShape {
    std::int64_t features = 0;                          ///< flat input; images: channels * height * width
    std::int64_t channels = 0, height = 0, width = 0;   ///< 0 when the input is not an image
    std::int64_t outputs = 0;
    std::int64_t context = 0;                           ///< bytes in a row of text; 0 when the input is no text
    bool packed = false;                                ///< rows of text may hold several documents
};

class WeightSource;
using ModelMaker = std::function<Result<std::unique_ptr<Model>>(const config::ModelSection& section, const ModelShape& shape, const WeightSource& source)>;
/// All models by name. A built-in one is a line in model.cpp.
Kinds<ModelMaker>& modelKinds();

/// Builds a model by name with initial weights that depend on (seed, parameter name) only, in `dtype` on `device`.
/// Config errors name model.* keys ("resnet18 needs images …").
Result<std::unique_ptr<Model>> makeModel(const config::ModelSection& section, const ModelShape& shape, std::uint64_t seed,
                                         at::ScalarType dtype, at::Device device);

/// Copies the tensors of a safetensors file (any float type) into parameters and buffers. When names are missing, extra or
/// of another shape or type, nothing is copied and the error lists them all at once (60 of a kind). Extra
/// "…num_batches_tracked" and missing buffers are forgiven.
Result<void> loadWeights(Model& model, const std::string& safetensorsFile);

}  // namespace lathe::engine
