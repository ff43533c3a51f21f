#include "engine/data/batch_cursor.h"

#include "base/error.h"

namespace lathe::engine {

void BatchCursor::seek(Epoch epoch, PlanEntry entry) {
    LATHE_ASSERT(entry.value() >= 0 && entry.value() < m_shape.samplesPerEpoch());
    m_window = plan::windowAt(m_shape, epoch, entry);
    m_index = 0;
}

BatchPlace BatchCursor::current() const {
    const plan::Window::Range range = m_window.microBatches[m_index];
    BatchPlace place{m_window.epoch, range.begin, range.end, m_window.epoch, PlanEntry(range.end)};
    if (m_index + 1 == m_window.microBatches.size()) {
        place.nextEpoch = m_window.nextEpoch;
        place.nextEntry = m_window.nextEntry;
    }
    return place;
}

void BatchCursor::advance() {
    if (++m_index == m_window.microBatches.size())
        seek(m_window.nextEpoch, m_window.nextEntry);
}

}  // namespace lathe::engine
