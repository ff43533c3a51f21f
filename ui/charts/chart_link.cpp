#include "charts/chart_link.h"

#include <algorithm>
#include <cmath>

namespace lathe::charts {

namespace {

constexpr int kCalmMs = 1000;
constexpr double kMostAhead = 8;  // an axis is at most half empty

/// The right edge moves in steps of about 1/16 to 1/8 of the width, more while they come too quickly: an axis that
/// crawled with every frame would cost more than the curves do.
double stepOf(double width, double ahead) { return std::exp2(std::floor(std::log2(std::max(width, 1e-9) / 8))) * ahead; }

double steppedEdge(double hi, double width, double ahead = 1) {
    const double step = stepOf(width, ahead);
    return std::ceil(hi / step) * step;
}

}  // namespace

ChartLink::ChartLink(QObject* parent) : QObject(parent) {
    m_calm.setSingleShot(true);
    m_calm.setInterval(2 * kCalmMs);
    connect(&m_calm, &QTimer::timeout, this, [this] {
        m_ahead = 1;
        setDataRange(m_dataLo, m_dataHi);
    });
}

void ChartLink::setDataRange(double lo, double hi) {
    if (!(hi > lo)) hi = lo + 1;
    const bool grows = lo == m_dataLo && hi > m_dataHi && hi - lo < 2 * (m_dataHi - m_dataLo);
    m_dataLo = lo;
    m_dataHi = hi;
    const double width = m_zoomed ? m_hi - m_lo : hi - lo;
    const bool fits = hi <= m_hi && m_hi - hi <= stepOf(width, m_ahead) && (m_zoomed || m_lo == lo);
    if ((!m_zoomed || m_follow) && !fits) moveTo(lo, width, grows);
    Q_EMIT dataChanged();
}

void ChartLink::moveTo(double lo, double width, bool grows) {
    if (!grows) m_ahead = 1;
    else if (m_sinceMove.isValid() && m_sinceMove.elapsed() < kCalmMs) m_ahead = std::min(kMostAhead, 2 * m_ahead);
    m_sinceMove.start();
    m_calm.start();
    m_hi = steppedEdge(m_dataHi, width, m_ahead);
    m_lo = m_zoomed ? m_hi - width : lo;
    Q_EMIT rangeChanged();
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
