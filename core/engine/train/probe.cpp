#include "engine/train/probe.h"

#include "base/hash.h"
#include "base/number_text.h"

#include <span>

namespace lathe::engine {

Probe probeOf(const std::vector<Batch>& batches, const UpdateResult& result) {
    Hasher hasher;
    for (const Batch& batch : batches) {
        const std::int64_t count = batch.count();
        hasher.update(std::as_bytes(std::span(&count, 1)));
        hasher.update(std::as_bytes(std::span(batch.ids)));
    }
    return {hasher.hex(), exactText(result.loss), exactText(result.gradNorm)};
}

std::string firstDifference(const Probe& expected, const Probe& found) {
    if (expected.samples != found.samples) return "data order";
    if (expected.loss != found.loss) return "loss";
    if (expected.gradNorm != found.gradNorm) return "norm";
    return {};
}

}  // namespace lathe::engine
