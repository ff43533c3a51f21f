// One step of Lion over a flat buffer (Chen et al. 2023, Symbolic Discovery of Optimization Algorithms, algorithm 2), in the
// form whose decay does not depend on the gradient: the same bits for every vector width.
#pragma once

#include <cstdint>

namespace lathe::engine {

struct LionStep {
    double rate = 0, weightDecay = 0, beta1 = 0, beta2 = 0;
};

/// `count` values with their gradients and running means, all changed in place but the gradients.
void lionKernel(float* values, const float* gradients, float* means, std::int64_t count, const LionStep& step);
void lionKernel(double* values, const double* gradients, double* means, std::int64_t count, const LionStep& step);

}  // namespace lathe::engine
