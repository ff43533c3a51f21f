#include "engine/train/lion_kernel.h"

#include "engine/widest_vectors.h"

namespace lathe::engine {
namespace {

template <typename T>
[[gnu::always_inline]] inline void lion(T* values, const T* gradients, T* means, std::int64_t count, const LionStep& step) {
    const T keep = static_cast<T>(1 - step.rate * step.weightDecay), rate = static_cast<T>(step.rate);
    const T beta1 = static_cast<T>(step.beta1), rest1 = static_cast<T>(1 - step.beta1);
    const T beta2 = static_cast<T>(step.beta2), rest2 = static_cast<T>(1 - step.beta2);
    for (std::int64_t i = 0; i < count; ++i) {
        const T direction = beta1 * means[i] + rest1 * gradients[i];
        const T sign = direction > 0 ? T(1) : direction < 0 ? T(-1) : T(0);
        values[i] = keep * values[i] - rate * sign;
        means[i] = beta2 * means[i] + rest2 * gradients[i];
    }
}

}  // namespace

LATHE_WIDEST void lionKernel(float* values, const float* gradients, float* means, std::int64_t count, const LionStep& step) {
    lion(values, gradients, means, count, step);
}

LATHE_WIDEST void lionKernel(double* values, const double* gradients, double* means, std::int64_t count, const LionStep& step) {
    lion(values, gradients, means, count, step);
}

}  // namespace lathe::engine
