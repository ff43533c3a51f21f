#include "plan/accumulation.h"

#include "base/number_text.h"
#include "plan/words.h"

#include <algorithm>
#include <cmath>

namespace lathe::plan {
namespace {

/// From so many micro-batches to so many more, evenly over `updates` windows; then they stay as large.
class Sized final : public Accumulation {
public:
    Sized(std::int64_t from, std::int64_t to, std::int64_t updates) : m_from(from), m_to(to), m_updates(updates) {}
    bool isFull(const OpenWindow& window) const override { return window.microBatches >= foretold(window.attempt, 0); }
    std::int64_t foretold(UpdateAttempt attempt, double) const override {
        if (attempt.value() >= m_updates) return m_to;
        return m_from + static_cast<std::int64_t>(static_cast<__int128>(m_to - m_from) * attempt.value() / m_updates);
    }

private:
    std::int64_t m_from, m_to, m_updates;
};

class Weighed final : public Accumulation {
public:
    explicit Weighed(double budget) : m_budget(budget) {}
    bool isFull(const OpenWindow& window) const override { return window.weight() >= m_budget; }
    std::int64_t foretold(UpdateAttempt, double weight) const override {
        if (!(weight > 0)) return 0;
        const double batches = std::ceil(m_budget / weight);
        return batches < 1e15 ? std::max<std::int64_t>(1, static_cast<std::int64_t>(batches)) : 1'000'000'000'000'000;
    }

private:
    double m_budget;
};

std::string batchText(const config::RunConfig& config) { return " of " + countText(config.data.batchSize, "sample"); }

using config::AccumulationSection;
using config::RunConfig;
using Made = Result<std::shared_ptr<Accumulation>>;

Kinds<AccumulationKind>::Map builtIn() {
    return {
        {"fixed", {[](const RunConfig& config) {
                       const std::int64_t batches = config.accumulation.microBatches;
                       return countText(batches, "micro-batch") + batchText(config) + " = " + countText(batches * config.data.batchSize, "sample");
                   },
                   [](const AccumulationSection& section) { return Made(fixedWindows(section.microBatches)); }}},
        {"ramp", {[](const RunConfig& config) {
                      return "from " + countText(config.accumulation.rampFrom, "micro-batch") + batchText(config) + " at first to " +
                             std::to_string(config.accumulation.microBatches) + " after " + countText(config.accumulation.rampUpdates, "update");
                  },
                  [](const AccumulationSection& section) { return Made(std::make_shared<Sized>(section.rampFrom, section.microBatches, section.rampUpdates)); }}},
        {"weight", {[](const RunConfig& config) { return "micro-batches" + batchText(config) + " until they hold a weight of " + shortText(config.accumulation.weight) + " or more"; },
                    [](const AccumulationSection& section) { return Made(std::make_shared<Weighed>(section.weight)); }}},
    };
}

}  // namespace

std::shared_ptr<Accumulation> fixedWindows(std::int64_t microBatches) { return std::make_shared<Sized>(microBatches, microBatches, 0); }

Kinds<AccumulationKind>& accumulationKinds() {
    static Kinds<AccumulationKind> kinds{builtIn()};
    return kinds;
}

Result<std::shared_ptr<Accumulation>> makeAccumulation(const config::AccumulationSection& section) {
    if (const AccumulationKind* kind = accumulationKinds().find(section.rule)) return kind->make(section);
    return Error{ErrorCode::Config, "There is no accumulation \"" + section.rule + "\"; there are " + accumulationKinds().names(), "accumulation.rule", {}};
}

}  // namespace lathe::plan
