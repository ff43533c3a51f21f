#include "plan/order.h"

#include "base/error.h"
#include "plan/accumulation.h"
#include "plan/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
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

OrderShape orderShape(const config::RunConfig& config, std::int64_t samples) {
    OrderShape shape{.samples = samples, .batchSize = config.data.batchSize, .accumulation = nullptr, .dropLast = config.data.dropLast};
    if (auto made = makeAccumulation(config.accumulation)) shape.accumulation = std::move(*made);
    if (config.task.name == "language") shape.sampleWeight = static_cast<double>(config.data.context);
    return shape;
}

std::int64_t OrderShape::batchesPerEpoch() const {
    return dropLast ? samples / batchSize : ceilDivide(samples, batchSize);
}
std::int64_t OrderShape::samplesPerEpoch() const {
    return dropLast ? samples / batchSize * batchSize : samples;
}

namespace {

/// After all that grows with the run has grown.
constexpr UpdateAttempt kLate(std::numeric_limits<std::int64_t>::max());

std::int64_t fullWindow(const OrderShape& shape) { return shape.accumulation->foretold(kLate, shape.sampleWeight * static_cast<double>(shape.batchSize)); }

}  // namespace

std::optional<std::int64_t> OrderShape::updatesPerEpoch() const {
    if (!accumulation) return std::nullopt;
    if (samplesPerEpoch() == 0) return 0;
    if (const std::int64_t size = fullWindow(*this); size > 0) return ceilDivide(batchesPerEpoch(), size);
    std::int64_t count = 1;
    for (Window window = windowAt(*this, Epoch(0), PlanEntry(0)); window.nextEpoch == Epoch(0); ++count)
        window = windowAt(*this, Epoch(0), window.nextEntry, window.attempt.next());
    return count;
}

Window windowAt(const OrderShape& shape, Epoch epoch, PlanEntry entry, UpdateAttempt attempt) {
    const std::int64_t end = shape.samplesPerEpoch();
    LATHE_ASSERT(shape.accumulation && entry.value() >= 0 && entry.value() < end);
    Window window;
    window.epoch = epoch;
    window.attempt = attempt;
    OpenWindow open(shape, epoch, entry.value(), attempt);
    std::int64_t at = entry.value();
    bool isFull = false;
    while (at < end && !isFull) {
        const std::int64_t next = std::min(at + shape.batchSize, end);
        window.microBatches.push_back({at, next});
        at = next;
        ++open.microBatches;
        open.samples = at - entry.value();
        open.endsEpoch = at == end;
        isFull = shape.accumulation->isFull(open);
    }
    window.isTail = !isFull;
    window.nextEpoch = at == end ? epoch.next() : epoch;
    window.nextEntry = PlanEntry(at == end ? 0 : at);
    return window;
}

Window limited(Window window, std::int64_t most) {
    if (most <= 0) return window;
    std::vector<Window::Range> parts;
    for (const Window::Range& whole : window.microBatches)
        for (std::int64_t at = whole.begin; at < whole.end; at += most) parts.push_back({at, std::min(at + most, whole.end)});
    window.microBatches = std::move(parts);
    window.limit = most;
    return window;
}

Sharing::Share Sharing::ofRank(std::size_t microBatches, int which) const {
    const auto r = static_cast<std::size_t>(which), ranks = static_cast<std::size_t>(world);
    if (!aligned) return {microBatches * r / ranks, microBatches * (r + 1) / ranks};
    const std::size_t block = std::bit_ceil(std::max(microBatches, ranks)) / std::bit_ceil(ranks);
    return {std::min(block * r, microBatches), std::min(block * (r + 1), microBatches)};
}

namespace {

/// Beyond so many windows to be looked at one by one nothing is foretold.
constexpr std::int64_t kMostCounted = 50'000'000;

/// Windows in `epochs` epochs, or `most` of them if there are more.
std::optional<std::int64_t> countWindows(const OrderShape& shape, std::int64_t epochs, std::int64_t most) {
    const std::int64_t full = shape.weights ? shape.accumulation->foretold(kLate, 0) : fullWindow(shape);
    const double weight = shape.weights ? 0 : shape.sampleWeight * static_cast<double>(shape.batchSize);
    Epoch epoch;
    PlanEntry entry;
    std::int64_t count = 0;
    while (epoch.value() < epochs && count < most) {
        const bool steady = full > 0 && shape.accumulation->foretold(UpdateAttempt(count), weight) == full;
        std::int64_t rest = 0;
        if (steady && entry.value() == 0) {
            if (__builtin_mul_overflow(epochs - epoch.value(), ceilDivide(shape.batchesPerEpoch(), full), &rest)) return std::nullopt;
            return count + rest;
        }
        if (count >= kMostCounted) return std::nullopt;
        const Window window = windowAt(shape, epoch, entry, UpdateAttempt(count++));
        epoch = window.nextEpoch;
        entry = window.nextEntry;
    }
    return count;
}

}  // namespace

std::optional<GlobalStep> plannedUpdates(const OrderShape& shape, std::optional<std::int64_t> epochs,
                                         std::optional<std::int64_t> maxUpdates) {
    std::optional<std::int64_t> planned = maxUpdates;
    if (epochs && !shape.accumulation) return std::nullopt;
    if (epochs && shape.samplesPerEpoch() > 0) {
        if (const auto byEpochs = countWindows(shape, *epochs, maxUpdates.value_or(std::numeric_limits<std::int64_t>::max()))) planned = planned ? std::min(*planned, *byEpochs) : *byEpochs;
    } else if (epochs) {
        planned = 0;
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
