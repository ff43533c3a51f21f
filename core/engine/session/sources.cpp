#include "engine/session/sources.h"

#include <utility>

namespace lathe::engine {

Result<void> LoaderWindows::load(const plan::Window& window, const plan::Sharing::Share& share, std::vector<Batch>& out) {
    out.clear();
    if (share.count() == 0) return {};
    const PlanEntry first(window.microBatches[share.begin].begin);
    const bool isCutAnew = std::exchange(m_limit, window.limit) != window.limit;
    if (isCutAnew) m_loader.limitMicroBatch(window.limit);
    if (isCutAnew || m_loader.epoch() != window.epoch || m_loader.planEntry() != first)
        m_loader.seek(window.epoch, m_loader.foreseesWindows() ? PlanEntry(window.microBatches.front().begin) : first, window.attempt);
    for (std::size_t i = share.begin; i < share.end; ++i) {
        LATHE_TRY_ASSIGN(Batch batch, m_loader.next());
        LATHE_ASSERT(batch.count() == window.microBatches[i].end - window.microBatches[i].begin);
        out.push_back(std::move(batch));
    }
    return {};
}

}  // namespace lathe::engine
