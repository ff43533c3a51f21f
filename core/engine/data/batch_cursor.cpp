#include "engine/data/batch_cursor.h"

#include "base/error.h"

namespace lathe::engine {

void BatchCursor::seek(Epoch epoch, PlanEntry entry, UpdateAttempt attempt) {
    LATHE_ASSERT(entry.value() >= 0 && entry.value() < m_shape.samplesPerEpoch());
    const std::int64_t into = m_most > 0 ? entry.value() % m_shape.batchSize : 0;  // whole micro-batches begin at multiples of their size
    m_window = windowAt(epoch, PlanEntry(entry.value() - into), attempt);
    m_index = m_sharing.of(m_window.microBatches.size()).begin;
    while (into > 0 && m_index + 1 < m_window.microBatches.size() && m_window.microBatches[m_index].begin < entry.value()) ++m_index;
    m_idle = false;
    skipForeign();
}

BatchPlace BatchCursor::take() {
    LATHE_ASSERT(!m_idle);
    const plan::Window::Range range = m_window.microBatches[m_index];
    BatchPlace place{m_window.epoch, range.begin, range.end, {}, {}};
    ++m_index;
    skipForeign();
    place.nextEpoch = epoch();
    place.nextEntry = entry();
    return place;
}

void BatchCursor::skipForeign() {
    const Epoch start = m_window.epoch;
    while (m_index >= m_sharing.of(m_window.microBatches.size()).end) {
        // One whole epoch without a share: of windows that are all alike there is none to come, others are sought when they are asked for.
        m_idle = m_window.epoch.value() > start.value() + 1;
        if (m_idle) return;
        m_window = windowAt(m_window.nextEpoch, m_window.nextEntry, m_window.attempt.next());
        m_index = m_sharing.of(m_window.microBatches.size()).begin;
    }
}

}  // namespace lathe::engine
