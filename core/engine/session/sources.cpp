#include "engine/session/sources.h"

namespace lathe::engine {

Result<void> LoaderWindows::load(const plan::Window& window, std::vector<Batch>& out) {
    out.clear();
    if (window.microBatches.empty()) return {};
    const PlanEntry first(window.microBatches.front().begin);
    if (m_loader.epoch() != window.epoch || m_loader.planEntry() != first) m_loader.seek(window.epoch, first);
    for (const plan::Window::Range& range : window.microBatches) {
        LATHE_TRY_ASSIGN(Batch batch, m_loader.next());
        LATHE_ASSERT(batch.count() == range.end - range.begin);
        out.push_back(std::move(batch));
    }
    return {};
}

}  // namespace lathe::engine
