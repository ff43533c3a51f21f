#include "charts/growth.h"

#include <algorithm>

namespace lathe::charts {

namespace {

constexpr double kVisibleAdvance = 1, kVisibleRise = 0.5;   // pixels
constexpr qint64 kLongestWaitMs = 250;

std::vector<std::size_t> endsOf(const Scene& scene) {
    std::vector<std::size_t> found;
    for (const Curve& curve : scene.curves)
        for (const CurvePiece& piece : curve.pieces) found.push_back(std::min(piece.piece.end, piece.piece.series->size()));
    return found;
}

double newestOf(const Scene& scene) {
    double newest = 0;
    for (const Curve& curve : scene.curves)
        for (const CurvePiece& piece : curve.pieces)
            if (const session::Series& series = *piece.piece.series; series.size()) newest = std::max(newest, series.xAt(series.size() - 1, scene.axis));
    return newest;
}

}  // namespace

void Growth::painted(const Scene& scene) {
    m_since.restart();
    m_ends = endsOf(scene);
}

qint64 Growth::canWait(const Scene& scene, QSizeF plot) {
    const double newest = newestOf(scene), advance = (newest - m_newest) / (scene.x.hi - scene.x.lo) * plot.width();
    const qint64 waited = m_since.elapsed();
    if (advance < kVisibleAdvance && waited < kLongestWaitMs && !standsOut(scene, plot)) {
        m_ends = endsOf(scene);
        return kLongestWaitMs - waited;
    }
    m_newest = newest;
    return 0;
}

/// Whether new points reach beyond what was painted in the pixel beside them.
bool Growth::standsOut(const Scene& scene, QSizeF plot) const {
    const double pixel = (scene.x.hi - scene.x.lo) / plot.width();
    const std::vector<std::size_t> now = endsOf(scene);
    std::size_t i = 0;
    for (const Curve& curve : scene.curves) {
        for (const CurvePiece& piece : curve.pieces) {
            const std::size_t was = m_ends[i], end = now[i++];
            if (!curve.visible || end == was) continue;
            const session::Series& series = *piece.piece.series;
            if (was <= piece.piece.begin) return true;
            const std::size_t from = std::max(piece.piece.begin, series.lowerBound(scene.axis, series.xAt(was - 1, scene.axis) - pixel));
            const session::Extent fresh = series.extent(was, end), beside = series.extent(std::min(from, was - 1), was);
            if (fresh.nonFinite > 0 || !beside.hasFinite()) return true;
            const double above = (scene.y.unit(double(fresh.max)) - scene.y.unit(double(beside.max))) * plot.height();
            const double below = (scene.y.unit(double(beside.min)) - scene.y.unit(double(fresh.min))) * plot.height();
            if (!(above < kVisibleRise && below < kVisibleRise)) return true;  // also where a log axis has no place for one
        }
    }
    return false;
}

}  // namespace lathe::charts
