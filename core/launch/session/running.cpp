#include "launch/session/running.h"

#include "device/proc.h"

#include <algorithm>

namespace lathe::launch {

Running::Running(Kind kind, Order order) : m_order(std::move(order)), m_kind(kind), m_killsBefore(device::outOfMemoryKills("/")) {}

bool Running::systemRanOutOfMemory() const { return device::outOfMemoryKills("/") > m_killsBefore; }

double Running::secondsSince(std::int64_t thenNs, std::int64_t nowNs) {
    return thenNs > 0 ? std::max<double>(0, static_cast<double>(nowNs - thenNs) / 1e9) : 0.0;
}

std::pair<int, double> Running::silence(std::int64_t nowNs) const { return {0, secondsSince(m_beat.monotonicNs, nowNs)}; }

void Running::capLogs() const {
    for (int rank = 0; rank < static_cast<int>(m_order.config.parallel.ranks); ++rank) capLog(m_order.run.rankLog(rank));
}

}  // namespace lathe::launch
