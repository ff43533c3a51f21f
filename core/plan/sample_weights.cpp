#include "plan/sample_weights.h"

#include "base/error.h"

namespace lathe::plan {

double SampleWeights::sum(Epoch epoch, std::int64_t begin, std::int64_t end) const {
    const std::lock_guard lock(m_mutex);
    auto found = m_byEpoch.find(epoch.value());
    if (found == m_byEpoch.end()) {
        if (m_byEpoch.size() > 1) m_byEpoch.erase(epoch.value() > m_byEpoch.begin()->first ? m_byEpoch.begin() : std::prev(m_byEpoch.end()));
        Sums sums{0};
        for (const std::int64_t sample : epochOrder(static_cast<std::int64_t>(m_weights.size()), m_seed, epoch, m_shuffle))
            sums.push_back(sums.back() + m_weights[static_cast<std::size_t>(sample)]);
        found = m_byEpoch.emplace(epoch.value(), std::move(sums)).first;
    }
    const Sums& sums = found->second;
    LATHE_ASSERT(begin >= 0 && begin <= end && end < static_cast<std::int64_t>(sums.size()));
    return sums[static_cast<std::size_t>(end)] - sums[static_cast<std::size_t>(begin)];
}

}  // namespace lathe::plan
