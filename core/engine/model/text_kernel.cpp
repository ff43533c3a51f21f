#include "engine/model/text_kernel.h"

#include "engine/widest_vectors.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lathe::engine {
namespace {

constexpr std::int64_t kLanes = 16;

/// e^x within 2 units in the last place, in steps that every compiler can run on vectors (Cephes' expf). Below -87 it is 0.
[[gnu::always_inline]] inline float exponential(float x) {
    constexpr float kLog2e = 1.44269504088896341f, kHigh = 0.693359375f, kLow = -2.12194440e-4f, kRound = 12582912.0f;
    const float bounded = std::min(std::max(x, -87.33654f), 88.37626f);
    const float n = (bounded * kLog2e + kRound) - kRound;
    const float r = (bounded - n * kHigh) - n * kLow;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = (p * r * r + r) + 1.0f;
    const float power = std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
    return x < -87.33654f ? 0.0f : p * power;
}
[[gnu::always_inline]] inline double exponential(double x) { return std::exp(x); }

template <typename Number>
[[gnu::always_inline]] inline Number folded(Number (&lanes)[kLanes]) {
    for (std::int64_t half = kLanes / 2; half > 0; half /= 2)
        for (std::int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    return lanes[0];
}

/// Σ of value(i) over [0, count).
template <typename Number, typename Value>
[[gnu::always_inline]] inline Number sumOver(std::int64_t count, const Value& value) {
    Number lanes[kLanes] = {};
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
        for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += value(i + lane);
    for (; i < count; ++i) lanes[i % kLanes] += value(i);
    return folded(lanes);
}

template <typename Number>
[[gnu::always_inline]] inline Number largest(const Number* values, std::int64_t count) {
    Number most = values[0];
    for (std::int64_t i = 1; i < count; ++i) most = values[i] > most ? values[i] : most;
    return most;
}

template <typename Number>
[[gnu::always_inline]] inline void normForward(Rows rows, std::int64_t width, const Number* in, const Number* weight, Number epsilon, Number* out, Number* scale) {
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const Number* x = in + row * width;
        Number* y = out + row * width;
        const Number squares = sumOver<Number>(width, [x](std::int64_t i) { return x[i] * x[i]; });
        const Number s = Number(1) / std::sqrt(squares / static_cast<Number>(width) + epsilon);
        scale[row] = s;
        for (std::int64_t i = 0; i < width; ++i) y[i] = x[i] * s * weight[i];
    }
}

template <typename Number>
[[gnu::always_inline]] inline void normBackward(Rows rows, std::int64_t width, const Number* grad, const Number* in, const Number* weight, const Number* scale, Number* gradIn,
                                                Number* gradWeight) {
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const Number *g = grad + row * width, *x = in + row * width;
        Number* d = gradIn + row * width;
        const Number s = scale[row];
        const Number along = sumOver<Number>(width, [=](std::int64_t i) { return g[i] * weight[i] * x[i]; }) * (s * s / static_cast<Number>(width));
        for (std::int64_t i = 0; i < width; ++i) {
            d[i] = s * (g[i] * weight[i] - x[i] * along);
            gradWeight[i] += g[i] * x[i] * s;
        }
    }
}

template <typename Number>
[[gnu::always_inline]] inline void turn(std::int64_t half, const Number* cosine, const Number* sine, const Number* in, Number* out) {
    for (std::int64_t i = 0; i < half; ++i) {
        const Number a = in[i], b = in[half + i];
        out[i] = a * cosine[i] - b * sine[i];
        out[half + i] = b * cosine[i] + a * sine[i];
    }
}

template <typename Number>
[[gnu::always_inline]] inline void turnBack(std::int64_t half, const Number* cosine, const Number* sine, const Number* in, Number* out) {
    for (std::int64_t i = 0; i < half; ++i) {
        const Number a = in[i], b = in[half + i];
        out[i] = a * cosine[i] + b * sine[i];
        out[half + i] = b * cosine[i] - a * sine[i];
    }
}

template <typename Number>
[[gnu::always_inline]] inline void rotate(Rows rows, const Heads& heads, const Number* cosine, const Number* sine, const Number* in, Number* out) {
    const std::int64_t half = heads.width / 2, each = heads.heads * heads.width;
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const std::int64_t angle = row % heads.positions * half;
        const Number* x = in + row * 3 * each;
        Number* y = out + row * 3 * each;
        for (std::int64_t head = 0; head < 2 * heads.heads; ++head) turn(half, cosine + angle, sine + angle, x + head * heads.width, y + head * heads.width);
        std::copy(x + 2 * each, x + 3 * each, y + 2 * each);
    }
}

template <typename Number>
[[gnu::always_inline]] inline void rotateBack(Rows rows, const Heads& heads, const Number* cosine, const Number* sine, const HeadGradient<Number> (&gradients)[3], Number* out) {
    const std::int64_t half = heads.width / 2;
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const std::int64_t text = row / heads.positions, position = row % heads.positions;
        Number* y = out + row * 3 * heads.heads * heads.width;
        for (int kind = 0; kind < 3; ++kind) {
            const HeadGradient<Number>& from = gradients[kind];
            for (std::int64_t head = 0; head < heads.heads; ++head, y += heads.width) {
                const Number* x = from.values + text * from.text + position * from.position + head * from.head;
                if (kind < 2) turnBack(half, cosine + position * half, sine + position * half, x, y);
                else std::copy(x, x + heads.width, y);
            }
        }
    }
}

template <typename Number>
[[gnu::always_inline]] inline void gate(Rows rows, std::int64_t half, const Number* in, Number* out) {
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const Number* x = in + row * 2 * half;
        Number* y = out + row * half;
        for (std::int64_t i = 0; i < half; ++i) y[i] = x[i] / (Number(1) + exponential(-x[i])) * x[half + i];
    }
}

template <typename Number>
[[gnu::always_inline]] inline void gateBack(Rows rows, std::int64_t half, const Number* grad, const Number* in, Number* gradIn) {
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const Number *g = grad + row * half, *x = in + row * 2 * half;
        Number* d = gradIn + row * 2 * half;
        for (std::int64_t i = 0; i < half; ++i) {
            const Number s = Number(1) / (Number(1) + exponential(-x[i]));
            d[i] = g[i] * x[half + i] * s * (Number(1) + x[i] * (Number(1) - s));
            d[half + i] = g[i] * x[i] * s;
        }
    }
}

template <typename Number>
[[gnu::always_inline]] inline void entropy(Rows rows, std::int64_t symbols, const Number* logits, const std::int64_t* targets, double* losses, Number* logSum) {
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const Number* x = logits + row * symbols;
        const Number most = largest(x, symbols);
        const Number sum = sumOver<Number>(symbols, [x, most](std::int64_t i) { return exponential(x[i] - most); });
        logSum[row] = most + std::log(sum);
        losses[row] = targets[row] < 0 ? 0.0 : static_cast<double>(logSum[row] - x[targets[row]]);
    }
}

template <typename Number>
[[gnu::always_inline]] inline void entropyBack(Rows rows, std::int64_t symbols, Number factor, const Number* logits, const std::int64_t* targets, const Number* logSum,
                                               Number* gradLogits) {
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const Number* x = logits + row * symbols;
        Number* d = gradLogits + row * symbols;
        if (targets[row] < 0) {
            std::fill(d, d + symbols, Number(0));
            continue;
        }
        const Number all = logSum[row];
        for (std::int64_t i = 0; i < symbols; ++i) d[i] = exponential(x[i] - all) * factor;
        d[targets[row]] -= factor;
    }
}

// Attributes for several vector widths cannot stand at templates: a function a type.
LATHE_WIDEST void run(Rows r, std::int64_t w, const float* in, const float* weight, float e, float* out, float* scale) { normForward(r, w, in, weight, e, out, scale); }
LATHE_WIDEST void run(Rows r, std::int64_t w, const double* in, const double* weight, double e, double* out, double* scale) { normForward(r, w, in, weight, e, out, scale); }
LATHE_WIDEST void run(Rows r, std::int64_t w, const float* g, const float* in, const float* weight, const float* s, float* d, float* dw) { normBackward(r, w, g, in, weight, s, d, dw); }
LATHE_WIDEST void run(Rows r, std::int64_t w, const double* g, const double* in, const double* weight, const double* s, double* d, double* dw) { normBackward(r, w, g, in, weight, s, d, dw); }
LATHE_WIDEST void run(Rows r, const Heads& h, const float* c, const float* s, const float* in, float* out) { rotate(r, h, c, s, in, out); }
LATHE_WIDEST void run(Rows r, const Heads& h, const double* c, const double* s, const double* in, double* out) { rotate(r, h, c, s, in, out); }
LATHE_WIDEST void run(Rows r, const Heads& h, const float* c, const float* s, const HeadGradient<float> (&g)[3], float* out) { rotateBack(r, h, c, s, g, out); }
LATHE_WIDEST void run(Rows r, const Heads& h, const double* c, const double* s, const HeadGradient<double> (&g)[3], double* out) { rotateBack(r, h, c, s, g, out); }
LATHE_WIDEST void run(Rows r, std::int64_t half, const float* in, float* out) { gate(r, half, in, out); }
LATHE_WIDEST void run(Rows r, std::int64_t half, const double* in, double* out) { gate(r, half, in, out); }
LATHE_WIDEST void run(Rows r, std::int64_t half, const float* g, const float* in, float* d) { gateBack(r, half, g, in, d); }
LATHE_WIDEST void run(Rows r, std::int64_t half, const double* g, const double* in, double* d) { gateBack(r, half, g, in, d); }
LATHE_WIDEST void run(Rows r, std::int64_t n, const float* x, const std::int64_t* t, double* losses, float* sums) { entropy(r, n, x, t, losses, sums); }
LATHE_WIDEST void run(Rows r, std::int64_t n, const double* x, const std::int64_t* t, double* losses, double* sums) { entropy(r, n, x, t, losses, sums); }
LATHE_WIDEST void run(Rows r, std::int64_t n, float f, const float* x, const std::int64_t* t, const float* sums, float* d) { entropyBack(r, n, f, x, t, sums, d); }
LATHE_WIDEST void run(Rows r, std::int64_t n, double f, const double* x, const std::int64_t* t, const double* sums, double* d) { entropyBack(r, n, f, x, t, sums, d); }

}  // namespace

template <typename Number>
void rmsNormForward(Rows rows, std::int64_t width, const Number* in, const Number* weight, Number epsilon, Number* out, Number* scale) {
    run(rows, width, in, weight, epsilon, out, scale);
}
template <typename Number>
void rmsNormBackward(Rows rows, std::int64_t width, const Number* grad, const Number* in, const Number* weight, const Number* scale, Number* gradIn, Number* gradWeight) {
    run(rows, width, grad, in, weight, scale, gradIn, gradWeight);
}
template <typename Number>
void rotateForward(Rows rows, const Heads& heads, const Number* cosine, const Number* sine, const Number* in, Number* out) {
    run(rows, heads, cosine, sine, in, out);
}
template <typename Number>
void rotateBackward(Rows rows, const Heads& heads, const Number* cosine, const Number* sine, const HeadGradient<Number> (&gradients)[3], Number* out) {
    run(rows, heads, cosine, sine, gradients, out);
}
template <typename Number>
void gateForward(Rows rows, std::int64_t half, const Number* in, Number* out) {
    run(rows, half, in, out);
}
template <typename Number>
void gateBackward(Rows rows, std::int64_t half, const Number* grad, const Number* in, Number* gradIn) {
    run(rows, half, grad, in, gradIn);
}
template <typename Number>
void crossEntropyForward(Rows rows, std::int64_t symbols, const Number* logits, const std::int64_t* targets, double* losses, Number* logSum) {
    run(rows, symbols, logits, targets, losses, logSum);
}
template <typename Number>
void crossEntropyBackward(Rows rows, std::int64_t symbols, Number factor, const Number* logits, const std::int64_t* targets, const Number* logSum, Number* gradLogits) {
    run(rows, symbols, factor, logits, targets, logSum, gradLogits);
}

template void rmsNormForward(Rows, std::int64_t, const float*, const float*, float, float*, float*);
template void rmsNormForward(Rows, std::int64_t, const double*, const double*, double, double*, double*);
template void rmsNormBackward(Rows, std::int64_t, const float*, const float*, const float*, const float*, float*, float*);
template void rmsNormBackward(Rows, std::int64_t, const double*, const double*, const double*, const double*, double*, double*);
template void rotateForward(Rows, const Heads&, const float*, const float*, const float*, float*);
template void rotateForward(Rows, const Heads&, const double*, const double*, const double*, double*);
template void rotateBackward(Rows, const Heads&, const float*, const float*, const HeadGradient<float> (&)[3], float*);
template void rotateBackward(Rows, const Heads&, const double*, const double*, const HeadGradient<double> (&)[3], double*);
template void gateForward(Rows, std::int64_t, const float*, float*);
template void gateForward(Rows, std::int64_t, const double*, double*);
template void gateBackward(Rows, std::int64_t, const float*, const float*, float*);
template void gateBackward(Rows, std::int64_t, const double*, const double*, double*);
template void crossEntropyForward(Rows, std::int64_t, const float*, const std::int64_t*, double*, float*);
template void crossEntropyForward(Rows, std::int64_t, const double*, const std::int64_t*, double*, double*);
template void crossEntropyBackward(Rows, std::int64_t, float, const float*, const std::int64_t*, const float*, float*);
template void crossEntropyBackward(Rows, std::int64_t, double, const double*, const std::int64_t*, const double*, double*);

}  // namespace lathe::engine
