// The loops of text_operators, free of LibTorch. Each works on a range of rows, so that callers can share rows out among
// threads; what a row gives does not depend on how. Sums run over sixteen fixed lanes: the same bits for every vector width.
// Thread: pure; disjoint ranges may run at the same time.
#pragma once

#include <cstdint>

namespace lathe::engine {

/// [begin, end) of rows.
struct Rows {
    std::int64_t begin = 0, end = 0;
};

/// out = in · scale · weight with scale = 1 / sqrt(mean(in²) + epsilon), kept for the way back.
template <typename Number>
void rmsNormForward(Rows rows, std::int64_t width, const Number* in, const Number* weight, Number epsilon, Number* out, Number* scale);
/// Gradient of the input; what the rows give for the weight is added to `gradWeight`.
template <typename Number>
void rmsNormBackward(Rows rows, std::int64_t width, const Number* grad, const Number* in, const Number* weight, const Number* scale, Number* gradIn,
                     Number* gradWeight);

/// Where the heads of a row lie.
struct Heads {
    std::int64_t positions = 0;   ///< rows of one text: the position is row % positions
    std::int64_t heads = 0, width = 0;   ///< channels of one head
};
/// Rows of queries, keys and values; queries and keys are turned by the angle of their position.
template <typename Number>
void rotateForward(Rows rows, const Heads& heads, const Number* cosine, const Number* sine, const Number* in, Number* out);
/// Gradients of queries, keys and values, each with strides of its own for text, position and head (channels side by side).
template <typename Number>
struct HeadGradient {
    const Number* values = nullptr;
    std::int64_t text = 0, position = 0, head = 0;
};
template <typename Number>
void rotateBackward(Rows rows, const Heads& heads, const Number* cosine, const Number* sine, const HeadGradient<Number> (&gradients)[3], Number* out);

/// out = silu(in[0, half)) · in[half, 2 half).
template <typename Number>
void gateForward(Rows rows, std::int64_t half, const Number* in, Number* out);
template <typename Number>
void gateBackward(Rows rows, std::int64_t half, const Number* grad, const Number* in, Number* gradIn);

/// Cross entropy of each row; 0 where the target is negative. `logSum`: log Σ exp, kept for the way back.
template <typename Number>
void crossEntropyForward(Rows rows, std::int64_t symbols, const Number* logits, const std::int64_t* targets, double* losses, Number* logSum);
/// factor · (softmax - one at the target).
template <typename Number>
void crossEntropyBackward(Rows rows, std::int64_t symbols, Number factor, const Number* logits, const std::int64_t* targets, const Number* logSum, Number* gradLogits);

}  // namespace lathe::engine
