// A decoder of bytes: attention to what stands before, with rotary positions, then a feed-forward network, layer by layer.
// Built as Llama is (Touvron et al., 2023): rotary positions (Su et al., 2021), norms before each part, no biases.
//
// Shapes: N rows, T bytes of context, W width, H heads, D = W / H, V = 256 bytes.
#include "engine/model/model_kinds.h"
#include "engine/model/text_operators.h"

#include <ATen/ops/scaled_dot_product_attention.h>

#include <cmath>

namespace lathe::engine {
namespace {

constexpr double kNormEpsilon = 1e-5, kInitialDeviation = 0.02, kRotaryBase = 10000;

/// What all layers of one forward pass share.
struct Surroundings {
    RotaryTables rotary;   ///< of all positions of the context
    at::Tensor mask;       ///< [N, 1, T, T], true where a byte may look; undefined: at itself and all before it
};

class TextBlock : public Block {
public:
    using Block::Block;

protected:
    at::Tensor add(std::string name, at::Tensor tensor) {
        tensor.set_requires_grad(true);
        m_parameters.push_back({std::move(name), tensor});
        return tensor;
    }
    at::Tensor addMatrix(const WeightSource& source, const std::string& name, std::int64_t out, std::int64_t in, double deviation) {
        return add(name, source.normal(name, {out, in}, deviation));
    }
};

/// RMSNorm or LayerNorm, by the name that Llama gives it.
struct Norm {
    at::Tensor weight, bias;   ///< bias undefined: RMSNorm
    at::Tensor operator()(const at::Tensor& input) const {
        if (bias.defined()) return at::layer_norm(input, weight.sizes(), weight, bias, kNormEpsilon);
        return rmsNorm(input, weight, kNormEpsilon);
    }
};

class Embedding final : public TextBlock {
public:
    Embedding(const config::ModelSection& section, std::int64_t symbols, const WeightSource& source)
        : TextBlock("embed_tokens", 0), m_dropout(section.dropout) {
        m_weight = addMatrix(source, "model.embed_tokens.weight", symbols, section.width, kInitialDeviation);
    }
    const at::Tensor& weight() const { return m_weight; }
    at::Tensor forward(Context& context, const at::Tensor& bytesNT) override { return context.dropout(at::embedding(m_weight, bytesNT), m_dropout); }

private:
    at::Tensor m_weight;
    double m_dropout;
};

class DecoderLayer final : public TextBlock {
public:
    DecoderLayer(const config::ModelSection& section, std::int64_t number, const Surroundings& around, const WeightSource& source)
        : TextBlock("layers." + std::to_string(number), static_cast<std::uint32_t>(number) + 1), m_around(around), m_heads(section.heads),
          m_dropout(section.dropout) {
        const std::string prefix = "model.layers." + std::to_string(number) + ".";
        const std::int64_t width = section.width;
        // What is added to the residual stream shrinks with the number of additions (GPT-2).
        const double residual = kInitialDeviation / std::sqrt(2.0 * static_cast<double>(section.layers));
        m_before = addNorm(section, prefix + "input_layernorm.", source);
        m_query = addMatrix(source, prefix + "self_attn.q_proj.weight", width, width, kInitialDeviation);
        m_key = addMatrix(source, prefix + "self_attn.k_proj.weight", width, width, kInitialDeviation);
        m_value = addMatrix(source, prefix + "self_attn.v_proj.weight", width, width, kInitialDeviation);
        m_out = addMatrix(source, prefix + "self_attn.o_proj.weight", width, width, residual);
        m_between = addNorm(section, prefix + "post_attention_layernorm.", source);
        const bool gates = section.feedForward == "swiglu";
        const std::int64_t inner = feedForwardWidth(section);
        if (gates) m_gate = addMatrix(source, prefix + "mlp.gate_proj.weight", inner, width, kInitialDeviation);
        m_up = addMatrix(source, prefix + "mlp.up_proj.weight", inner, width, kInitialDeviation);
        m_down = addMatrix(source, prefix + "mlp.down_proj.weight", width, inner, residual);
    }

    at::Tensor forward(Context& context, const at::Tensor& inputNTW) override {
        const at::Tensor attendedNTW = inputNTW + context.dropout(at::linear(attention(m_before(inputNTW)), m_out), m_dropout);
        return attendedNTW + context.dropout(at::linear(innerOf(m_between(attendedNTW)), m_down), m_dropout);
    }

    Norm addNorm(const config::ModelSection& section, const std::string& prefix, const WeightSource& source) {
        Norm norm;
        norm.weight = add(prefix + "weight", source.filled(section.width, 1));
        if (section.norm == "layernorm") norm.bias = add(prefix + "bias", source.filled(section.width, 0));
        return norm;
    }
    /// 4 W, or 8/3 W in steps of 16, so that both kinds have about as many parameters.
    static std::int64_t feedForwardWidth(const config::ModelSection& section) {
        return section.feedForward == "swiglu" ? (8 * section.width / 3 + 15) / 16 * 16 : 4 * section.width;
    }

private:
    at::Tensor attention(const at::Tensor& inputNTW) const {
        const at::Tensor allNTW3 = at::linear(inputNTW, at::cat({m_query, m_key, m_value}));
        const auto [queryNHTD, keyNHTD, valueNHTD] = rotatedHeads(allNTW3, m_heads, m_around.rotary);
        const std::optional<at::Tensor> mask = m_around.mask.defined() ? std::optional(m_around.mask) : std::nullopt;
        const at::Tensor seenNHTD = at::scaled_dot_product_attention(queryNHTD, keyNHTD, valueNHTD, mask, 0.0, !mask);
        return seenNHTD.transpose(1, 2).reshape(inputNTW.sizes());
    }
    at::Tensor innerOf(const at::Tensor& inputNTW) const {
        if (!m_gate.defined()) return at::gelu(at::linear(inputNTW, m_up));
        return gated(at::linear(inputNTW, at::cat({m_gate, m_up})));
    }

    const Surroundings& m_around;
    std::int64_t m_heads;
    double m_dropout;
    Norm m_before, m_between;
    at::Tensor m_query, m_key, m_value, m_out, m_gate, m_up, m_down;
};

class OutputHead final : public TextBlock {
public:
    OutputHead(const config::ModelSection& section, const Embedding& embedding, std::int64_t symbols, const WeightSource& source)
        : TextBlock("norm", static_cast<std::uint32_t>(section.layers) + 1) {
        m_norm.weight = add("model.norm.weight", source.filled(section.width, 1));
        if (section.norm == "layernorm") m_norm.bias = add("model.norm.bias", source.filled(section.width, 0));
        m_weight = section.tieEmbeddings ? embedding.weight() : addMatrix(source, "lm_head.weight", symbols, section.width, kInitialDeviation);
    }
    at::Tensor forward(Context&, const at::Tensor& inputNTW) override { return at::linear(m_norm(inputNTW), m_weight); }

private:
    Norm m_norm;
    at::Tensor m_weight;
};

class Gpt final : public Model {
public:
    Gpt(const config::ModelSection& section, const ModelShape& shape, const WeightSource& source) : m_packed(shape.packed) {
        m_around.rotary = rotaryTables(shape.context, section.width / section.heads, kRotaryBase, source.options());
        auto embedding = std::make_unique<Embedding>(section, shape.outputs, source);
        const Embedding& table = *embedding;
        m_blocks.push_back(std::move(embedding));
        for (std::int64_t i = 0; i < section.layers; ++i) m_blocks.push_back(std::make_unique<DecoderLayer>(section, i, m_around, source));
        m_blocks.push_back(std::make_unique<OutputHead>(section, table, shape.outputs, source));
    }

    /// [N, 2, T]: bytes, and the number of the document that each belongs to -> [N, T, V].
    at::Tensor forward(Context& context, at::Tensor inputN2T) override {
        if (m_packed) {
            const at::Tensor documentsNT = inputN2T.select(1, 1);
            m_around.mask = (documentsNT.unsqueeze(2) == documentsNT.unsqueeze(1)).tril_().unsqueeze(1);
        }
        return Model::forward(context, inputN2T.select(1, 0));
    }

private:
    bool m_packed;
    Surroundings m_around;
};

}  // namespace

Result<std::unique_ptr<Model>> makeGpt(const config::ModelSection& section, const ModelShape& shape, const WeightSource& source) {
    if (section.width % (2 * section.heads) != 0)
        return Error{ErrorCode::Config, "Each head has width / heads channels, an even number, and width " + std::to_string(section.width) + " does not divide so among " +
                     std::to_string(section.heads) + " heads; choose a width that is a multiple of " + std::to_string(2 * section.heads), "model.heads", {}};
    return std::unique_ptr<Model>(std::make_unique<Gpt>(section, shape, source));
}

}  // namespace lathe::engine
