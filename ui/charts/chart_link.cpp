#include "charts/chart_link.h"

#include <algorithm>
#include <cmath>

namespace lathe::charts {

namespace {

/// The right edge moves in steps of about 1/20 of the width: an axis that crawled with every frame would cost more than
/// the curves do.
double steppedEdge(double hi, double width) {
    const double step = std::exp2(std::floor(std::log2(std::max(width, 1e-9) / 16)));
    return std::ceil(hi / step) * step;
}

}  // namespace

void ChartLink::setDataRange(double lo, double hi) {
    if (!(hi > lo)) hi = lo + 1;
    m_dataLo = lo;
    m_dataHi = hi;
    const double width = m_zoomed ? m_hi - m_lo : hi - lo, edge = steppedEdge(hi, width);
    const bool stays = (m_zoomed && !m_follow) || (m_hi == edge && (m_zoomed || m_lo == lo));
    if (!stays) {
        m_lo = m_zoomed ? edge - width : lo;
        m_hi = edge;
        Q_EMIT rangeChanged();
    }
    Q_EMIT dataChanged();
}

void ChartLink::setRange(double lo, double hi) {
    if (!std::isfinite(lo) || !std::isfinite(hi) || !(hi - lo > 1e-9 * std::max(1.0, std::abs(hi)))) return;
    m_lo = lo;
    m_hi = hi;
    m_zoomed = true;
    if (m_follow && hi < m_dataHi) {
        m_follow = false;
        Q_EMIT followChanged(false);
    }
    Q_EMIT rangeChanged();
}

void ChartLink::setFollow(bool on) {
    if (m_follow == on) return;
    m_follow = on;
    if (on) {
        const double width = m_zoomed ? m_hi - m_lo : m_dataHi - m_dataLo;
        m_hi = steppedEdge(m_dataHi, width);
        m_lo = m_hi - width;
        m_zoomed = true;
    }
    Q_EMIT followChanged(on);
    Q_EMIT rangeChanged();
}

void ChartLink::reset() {
    m_zoomed = false;
    m_lo = m_dataLo;
    m_hi = steppedEdge(m_dataHi, m_dataHi - m_dataLo);
    if (m_follow) {
        m_follow = false;
        Q_EMIT followChanged(false);
    }
    Q_EMIT rangeChanged();
}

void ChartLink::setCursor(double x) {
    if (x == m_cursor || (std::isnan(x) && std::isnan(m_cursor))) return;
    m_cursor = x;
    Q_EMIT cursorChanged();
}

void ChartLink::setAxis(session::XAxis axis, double lo, double hi) {
    m_axis = axis;
    m_dataLo = lo;
    m_dataHi = hi > lo ? hi : lo + 1;
    m_cursor = std::numeric_limits<double>::quiet_NaN();
    Q_EMIT axisChanged();
    reset();
}

}  // namespace lathe::charts
