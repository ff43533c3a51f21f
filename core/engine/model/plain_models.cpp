#include "engine/model/model_kinds.h"

namespace lathe::engine {
namespace {

class LinearBlock final : public LayeredBlock {
public:
    LinearBlock(std::string name, std::uint32_t index, const std::string& prefix, std::int64_t in, std::int64_t out, bool last, double dropout,
                const WeightSource& source)
        : LayeredBlock(std::move(name), index), m_linear(addLinear(source, prefix, in, out)), m_last(last), m_dropout(dropout) {}

    at::Tensor forward(Context& context, const at::Tensor& input) override {
        const at::Tensor output = m_linear(input.dim() > 2 ? input.flatten(1) : input);
        return m_last ? output : context.dropout(at::relu(output), m_dropout);
    }

private:
    Linear m_linear;
    bool m_last;
    double m_dropout;
};

class Chain final : public Model {
public:
    void add(std::unique_ptr<Block> block) { m_blocks.push_back(std::move(block)); }
    std::uint32_t nextIndex() const { return static_cast<std::uint32_t>(m_blocks.size()); }
};

struct StageShape {
    std::int64_t in = 0, out = 0;
    bool batchNorm = false, pool = false;
};

class ConvolutionStage final : public LayeredBlock {
public:
    ConvolutionStage(std::uint32_t index, const StageShape& shape, const WeightSource& source)
        : LayeredBlock("stage" + std::to_string(index + 1), index), m_shape(shape) {
        const std::string number = std::to_string(index + 1);
        m_convolution = addConvolution(source, "conv" + number + ".", {shape.in, shape.out, 3, 1, !shape.batchNorm});
        if (shape.batchNorm)
            m_norm = addBatchNorm(source, "bn" + number + ".", shape.out);
    }

    at::Tensor forward(Context& context, const at::Tensor& input) override {
        at::Tensor x = m_convolution(input);
        if (m_shape.batchNorm)
            x = normalized(context, m_norm, x);
        x = at::relu(x);
        return m_shape.pool ? at::max_pool2d(x, {2, 2}) : x;
    }

private:
    StageShape m_shape;
    Convolution m_convolution;
    std::size_t m_norm = 0;
};

class ConvolutionHead final : public LayeredBlock {
public:
    ConvolutionHead(std::uint32_t index, std::int64_t in, std::int64_t out, double dropout, const WeightSource& source)
        : LayeredBlock("head", index), m_linear(addLinear(source, "fc.", in, out)), m_dropout(dropout) {}

    at::Tensor forward(Context& context, const at::Tensor& input) override { return m_linear(context.dropout(input.flatten(1), m_dropout)); }

private:
    Linear m_linear;
    double m_dropout;
};

}  // namespace

std::unique_ptr<Model> makeLinear(const ModelShape& shape, const WeightSource& source) {
    auto model = std::make_unique<Chain>();
    model->add(std::make_unique<LinearBlock>("linear", 0, "", shape.features, shape.outputs, true, 0, source));
    return model;
}

std::unique_ptr<Model> makeMlp(const config::ModelSection& section, const ModelShape& shape, const WeightSource& source) {
    auto model = std::make_unique<Chain>();
    std::int64_t in = shape.features;
    const auto addLayer = [&](std::int64_t out, bool last) {
        const std::string name = std::to_string(2 * model->nextIndex());
        model->add(std::make_unique<LinearBlock>(name, model->nextIndex(), name + ".", in, out, last, section.dropout, source));
        in = out;
    };
    for (const std::int64_t width : section.hidden)
        addLayer(width, false);
    addLayer(shape.outputs, true);
    return model;
}

std::unique_ptr<Model> makeConvnet(const config::ModelSection& section, const ModelShape& shape, const WeightSource& source) {
    auto model = std::make_unique<Chain>();
    std::int64_t in = shape.channels, height = shape.height, width = shape.width;
    for (const std::int64_t filters : section.filters) {
        const bool pool = height >= 4 && width >= 4;
        model->add(std::make_unique<ConvolutionStage>(model->nextIndex(), StageShape{in, filters, section.batchNorm, pool}, source));
        in = filters;
        height = pool ? height / 2 : height;
        width = pool ? width / 2 : width;
    }
    model->add(std::make_unique<ConvolutionHead>(model->nextIndex(), in * height * width, shape.outputs, section.dropout, source));
    return model;
}

}  // namespace lathe::engine
