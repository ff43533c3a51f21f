#include "plan/order.h"

#include "base/error.h"
#include "plan/random.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace lathe::plan {
namespace {

std::vector<std::int64_t> identity(std::int64_t n) {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(std::max<std::int64_t>(n, 0)));
    std::iota(ids.begin(), ids.end(), std::int64_t{0});
    return ids;
}

void shuffleIds(std::vector<std::int64_t>& ids, Stream stream) {  // Fisher-Yates
    for (std::size_t left = ids.size(); left > 1; --left)
        std::swap(ids[left - 1], ids[static_cast<std::size_t>(stream.below(left))]);
}

std::int64_t ceilDivide(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }

}  // namespace

std::vector<std::int64_t> epochOrder(std::int64_t samples, std::uint64_t seed, Epoch epoch, bool shuffle) {
    std::vector<std::int64_t> ids = identity(samples);
    if (shuffle) shuffleIds(ids, Stream(seed, Purpose::Order, static_cast<std::uint64_t>(epoch.value())));
    return ids;
}

Split split(std::int64_t samples, double evalFraction, std::uint64_t splitSeed) {
    std::vector<std::int64_t> ids = identity(samples);
    if (!(evalFraction > 0) || samples < 2) return {std::move(ids), {}};
    const auto wanted = static_cast<std::int64_t>(std::llround(evalFraction * static_cast<double>(samples)));
    const std::int64_t count = std::clamp<std::int64_t>(wanted, 1, samples - 1);
    shuffleIds(ids, Stream(splitSeed, Purpose::Split));
    Split result;
    result.eval.assign(ids.begin(), ids.begin() + count);
    result.train.assign(ids.begin() + count, ids.end());
    std::sort(result.eval.begin(), result.eval.end());
    std::sort(result.train.begin(), result.train.end());
    return result;
}

std::int64_t OrderShape::batchesPerEpoch() const {
    return dropLast ? samples / batchSize : ceilDivide(samples, batchSize);
}
std::int64_t OrderShape::updatesPerEpoch() const { return ceilDivide(batchesPerEpoch(), microBatches); }
std::int64_t OrderShape::samplesPerEpoch() const {
    return dropLast ? samples / batchSize * batchSize : samples;
}

Window windowAt(const OrderShape& shape, Epoch epoch, PlanEntry entry) {
    const std::int64_t end = shape.samplesPerEpoch();
    LATHE_ASSERT(entry.value() >= 0 && entry.value() < end);
    Window window;
    window.epoch = epoch;
    std::int64_t at = entry.value();
    while (at < end && static_cast<std::int64_t>(window.microBatches.size()) < shape.microBatches) {
        const std::int64_t next = std::min(at + shape.batchSize, end);
        window.microBatches.push_back({at, next});
        at = next;
    }
    window.isTail = static_cast<std::int64_t>(window.microBatches.size()) < shape.microBatches;
    window.nextEpoch = at == end ? epoch.next() : epoch;
    window.nextEntry = PlanEntry(at == end ? 0 : at);
    return window;
}

std::optional<GlobalStep> plannedUpdates(const OrderShape& shape, std::optional<std::int64_t> epochs,
                                         std::optional<std::int64_t> maxUpdates) {
    std::optional<std::int64_t> planned = maxUpdates;
    if (epochs) {
        std::int64_t byEpochs = 0;
        if (!__builtin_mul_overflow(*epochs, shape.updatesPerEpoch(), &byEpochs))
            planned = planned ? std::min(*planned, byEpochs) : byEpochs;
    }
    if (!planned) return std::nullopt;
    return GlobalStep(*planned);
}

Interval evaluationInterval(Interval every, std::optional<std::int64_t> epochs, std::optional<GlobalStep> planned) {
    constexpr std::int64_t kTimes = 20;
    if (every != Interval{Interval::Unit::Epochs, 1} || epochs != 1 || !planned) return every;
    return {Interval::Unit::Updates, std::max<std::int64_t>(1, planned->value() / kTimes)};
}

}  // namespace lathe::plan
