// Weights of samples by their place in an epoch's order: what windows with a weight budget are cut by.
// Thread: any number of threads.
#pragma once

#include "plan/order.h"

#include <map>
#include <mutex>
#include <vector>

namespace lathe::plan {

class SampleWeights final : public EntryWeights {
public:
    /// `weights`: by sample of the part, not negative. Seed and shuffle as for epochOrder().
    SampleWeights(std::vector<double> weights, std::uint64_t seed, bool shuffle) : m_weights(std::move(weights)), m_seed(seed), m_shuffle(shuffle) {}
    double sum(Epoch epoch, std::int64_t begin, std::int64_t end) const override;

private:
    using Sums = std::vector<double>;   ///< [i]: of the entries before i
    std::vector<double> m_weights;
    std::uint64_t m_seed;
    bool m_shuffle;
    mutable std::mutex m_mutex;
    mutable std::map<std::int64_t, Sums> m_byEpoch;   ///< the last two
};

}  // namespace lathe::plan
