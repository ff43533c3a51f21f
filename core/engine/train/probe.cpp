#include "engine/train/probe.h"

#include "base/number_text.h"

namespace lathe::engine {

Probe probeOf(const UpdateResult& result) {
    return {rundir::windowText(result.windowDigest), exactText(result.loss), exactText(result.gradNorm)};
}

std::string firstDifference(const Probe& expected, const Probe& found) {
    if (expected.samples != found.samples) return "data order";
    if (expected.loss != found.loss) return "loss";
    if (expected.gradNorm != found.gradNorm) return "norm";
    return {};
}

}  // namespace lathe::engine
