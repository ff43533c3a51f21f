// What a decoder of text computes beside matrix products and attention: own operators for float and double on the CPU, a
// forward and a backward pass each; elsewhere, and in short formats, the same from LibTorch's operators.
// Shapes: N rows, T bytes, W width, H heads, D = W / H.
// Thread: pure functions; the results do not depend on the number of threads.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <tuple>

namespace lathe::engine {

/// x / sqrt(mean(x²) + epsilon) · weight over the last dimension (Zhang and Sennrich, 2019).
at::Tensor rmsNorm(const at::Tensor& input, const at::Tensor& weight, double epsilon);

/// cos and sin of position · base^(-2i / D), [positions, D / 2].
struct RotaryTables {
    at::Tensor cosine, sine;
};
RotaryTables rotaryTables(std::int64_t positions, std::int64_t headWidth, double base, const at::TensorOptions& options);

/// Queries, keys and values [N, H, T, D] out of [N, T, 3 W]. Channel i and i + D / 2 of each query and key are a pair that is
/// turned by the angle of its position (0 at the first byte of the row), as Hugging Face's Llama pairs them.
std::tuple<at::Tensor, at::Tensor, at::Tensor> rotatedHeads(const at::Tensor& allNTW3, std::int64_t heads, const RotaryTables& tables);

/// Σ of the cross entropies of [.., V] logits over [..] targets; nothing where a target is negative.
at::Tensor crossEntropySum(const at::Tensor& logits, const at::Tensor& targets);

/// silu(first half) · second half of the last dimension (Shazeer, 2020).
at::Tensor gated(const at::Tensor& input);

}  // namespace lathe::engine
