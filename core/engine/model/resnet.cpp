// Residual networks (He et al., 2015) with the layout, names and initial distributions of torchvision's.
#include "engine/model/model_kinds.h"

#include <array>
#include <optional>

namespace lathe::engine {
namespace {

struct ResnetKind {
    const char* name;
    bool bottleneck;
    std::array<int, 4> blocks;
};

constexpr ResnetKind kKinds[] = {{"resnet18", false, {2, 2, 2, 2}},   {"resnet34", false, {3, 4, 6, 3}},  {"resnet50", true, {3, 4, 6, 3}},
                                 {"resnet101", true, {3, 4, 23, 3}}, {"resnet152", true, {3, 8, 36, 3}}};

class Stem final : public LayeredBlock {
public:
    Stem(std::uint32_t index, std::int64_t in, std::int64_t out, bool small, const WeightSource& source)
        : LayeredBlock("stem", index), m_small(small),
          m_convolution(addKaimingConvolution(source, "conv1.", {in, out, small ? 3 : 7, small ? 1 : 2})),
          m_norm(addBatchNorm(source, "bn1.", out)) {}

    at::Tensor forward(Context& context, const at::Tensor& input) override {
        const at::Tensor x = at::relu(normalized(context, m_norm, m_convolution(input)));
        return m_small ? x : at::max_pool2d(x, {3, 3}, {2, 2}, {1, 1});
    }

private:
    bool m_small;
    Convolution m_convolution;
    std::size_t m_norm;
};

struct ResidualShape {
    std::int64_t in = 0, width = 0, out = 0, stride = 1;
    bool bottleneck = false;
};

/// Two 3x3 convolutions, or 1x1, 3x3, 1x1; the stride lies on the (first) 3x3 one.
class ResidualBlock final : public LayeredBlock {
public:
    ResidualBlock(const std::string& name, std::uint32_t index, const ResidualShape& shape, const WeightSource& source) : LayeredBlock(name, index) {
        const std::int64_t width = shape.width, out = shape.out;
        if (shape.bottleneck) {
            add(source, 1, {shape.in, width, 1, 1});
            add(source, 2, {width, width, 3, shape.stride});
            add(source, 3, {width, out, 1, 1});
        } else {
            add(source, 1, {shape.in, width, 3, shape.stride});
            add(source, 2, {width, out, 3, 1});
        }
        if (shape.stride != 1 || shape.in != out)
            m_shortcut = Layer{addKaimingConvolution(source, name + ".downsample.0.", {shape.in, out, 1, shape.stride}),
                               addBatchNorm(source, name + ".downsample.1.", out)};
    }

    at::Tensor forward(Context& context, const at::Tensor& input) override {
        at::Tensor x = input;
        for (std::size_t i = 0; i < m_layers.size(); ++i) {
            x = apply(context, m_layers[i], x);
            if (i + 1 < m_layers.size())
                x = at::relu(x);
        }
        return at::relu(x + (m_shortcut ? apply(context, *m_shortcut, input) : input));
    }

private:
    struct Layer {
        Convolution convolution;
        std::size_t norm = 0;
    };

    void add(const WeightSource& source, int number, const ConvolutionShape& shape) {
        const std::string digit = std::to_string(number);
        const Convolution convolution = addKaimingConvolution(source, name() + ".conv" + digit + ".", shape);
        m_layers.push_back({convolution, addBatchNorm(source, name() + ".bn" + digit + ".", shape.out)});
    }

    at::Tensor apply(Context& context, const Layer& layer, const at::Tensor& input) {
        return normalized(context, layer.norm, layer.convolution(input));
    }

    std::vector<Layer> m_layers;
    std::optional<Layer> m_shortcut;
};

class Head final : public LayeredBlock {
public:
    Head(std::uint32_t index, std::int64_t in, std::int64_t out, double dropout, const WeightSource& source)
        : LayeredBlock("head", index), m_linear(addLinear(source, "fc.", in, out)), m_dropout(dropout) {}

    at::Tensor forward(Context& context, const at::Tensor& input) override {
        return m_linear(context.dropout(at::adaptive_avg_pool2d(input, {1, 1}).flatten(1), m_dropout));
    }

private:
    Linear m_linear;
    double m_dropout;
};

class Resnet final : public Model {
public:
    Resnet(const ResnetKind& kind, const config::ModelSection& section, const ModelShape& shape, const WeightSource& source) {
        m_blocks.push_back(std::make_unique<Stem>(0, shape.channels, section.width, section.stem == "small", source));
        std::int64_t in = section.width;
        for (int stage = 0; stage < 4; ++stage) {
            const std::int64_t width = section.width << stage, out = kind.bottleneck ? 4 * width : width;
            for (int i = 0; i < kind.blocks[static_cast<std::size_t>(stage)]; ++i) {
                const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(i);
                const std::int64_t stride = stage > 0 && i == 0 ? 2 : 1;
                m_blocks.push_back(std::make_unique<ResidualBlock>(name, nextIndex(), ResidualShape{in, width, out, stride, kind.bottleneck}, source));
                in = out;
            }
        }
        m_blocks.push_back(std::make_unique<Head>(nextIndex(), in, shape.outputs, section.dropout, source));
    }

private:
    std::uint32_t nextIndex() const { return static_cast<std::uint32_t>(m_blocks.size()); }
};

}  // namespace

std::unique_ptr<Model> makeResnet(const config::ModelSection& section, const ModelShape& shape, const WeightSource& source) {
    for (const ResnetKind& kind : kKinds)
        if (section.name == kind.name)
            return std::make_unique<Resnet>(kind, section, shape, source);
    return nullptr;
}

}  // namespace lathe::engine
