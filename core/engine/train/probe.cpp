#include "engine/train/probe.h"

#include "base/number_text.h"

#include <cstdio>

namespace lathe::engine {

Probe probeOf(const UpdateResult& result) {
    char samples[20];
    std::snprintf(samples, sizeof samples, "w%016llx", static_cast<unsigned long long>(result.windowDigest));
    return {samples, exactText(result.loss), exactText(result.gradNorm)};
}

std::string firstDifference(const Probe& expected, const Probe& found) {
    if (expected.samples != found.samples) return "data order";
    if (expected.loss != found.loss) return "loss";
    if (expected.gradNorm != found.gradNorm) return "norm";
    return {};
}

}  // namespace lathe::engine
