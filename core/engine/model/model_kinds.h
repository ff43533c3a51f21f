// The models behind makeModel(), and the names of their parameters. Internal to engine/model.
#pragma once

#include "engine/model/layers.h"

namespace lathe::engine {

/// nn.Linear: "weight", "bias". Images are taken flat.
std::unique_ptr<Model> makeLinear(const ModelShape& shape, const WeightSource& source);
/// nn.Sequential(Linear, ReLU, Linear, ReLU, …, Linear): "0.weight", "0.bias", "2.weight" … whether or not there is
/// dropout (after each ReLU; it does not count in the names). Images are taken flat.
std::unique_ptr<Model> makeMlp(const config::ModelSection& section, const ModelShape& shape, const WeightSource& source);
/// Stages of 3x3 convolution, BatchNorm if asked for (then without bias), ReLU, and 2x2 max-pooling while both sides are
/// at least 4; dropout, linear layer. "conv1.weight", "conv1.bias", "bn1.weight" …, "fc.weight", "fc.bias".
std::unique_ptr<Model> makeConvnet(const config::ModelSection& section, const ModelShape& shape, const WeightSource& source);
/// torchvision's ResNet: "conv1.weight", "bn1.weight", "layer1.0.conv1.weight", "layer2.0.downsample.0.weight", "fc.weight".
/// The small stem has a 3x3 convolution of stride 1 and no pooling; dropout stands before fc.
std::unique_ptr<Model> makeResnet(const config::ModelSection& section, const ModelShape& shape, const WeightSource& source);
/// Hugging Face's Llama, without its model.rotary_emb: "model.embed_tokens.weight", "model.layers.0.self_attn.q_proj.weight",
/// "model.layers.0.mlp.gate_proj.weight" …, "model.norm.weight", and "lm_head.weight" where embeddings are not tied. With
/// feed_forward gelu there is no gate_proj; with norm layernorm the norms have a bias. Config error where heads do not fit.
Result<std::unique_ptr<Model>> makeGpt(const config::ModelSection& section, const ModelShape& shape, const WeightSource& source);

}  // namespace lathe::engine
