#include "charts/read_out.h"

#include "base/number_text.h"
#include "session/qt_text.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::charts {

namespace {

/// Index of the piece's point closest to x, or SIZE_MAX where the piece does not reach.
std::size_t pointAt(const CurvePiece& piece, session::XAxis axis, double x, double slack) {
    const session::Series& series = *piece.piece.series;
    const std::size_t end = std::min(piece.piece.end, series.size());
    if (end <= piece.piece.begin) return SIZE_MAX;
    if (x < series.xAt(piece.piece.begin, axis) - slack || x > series.xAt(end - 1, axis) + slack) return SIZE_MAX;
    return series.nearest(axis, x, piece.piece.begin, end);
}

void takeValues(const Scene& scene, double x, double slack, double sparseSlack, ReadOut& found) {
    for (const Curve& curve : scene.curves) {
        if (!curve.visible) continue;
        for (auto piece = curve.pieces.rbegin(); piece != curve.pieces.rend(); ++piece) {
            const std::size_t i = pointAt(*piece, scene.axis, x, curve.points ? sparseSlack : slack);
            if (i == SIZE_MAX) continue;
            const double raw = double(piece->piece.series->at(i)), at = piece->piece.series->xAt(i, scene.axis);
            const double drawn = piece->smoothing && std::isfinite(raw) ? piece->smoothing->at(i) : raw;
            QString text = shortNumber(drawn);
            if (piece->smoothing) text += QStringLiteral(" (") + shortNumber(raw) + QLatin1Char(')');
            found.values.push_back({curve.name, text, curve.color, at, drawn});
            if (!curve.points && (!std::isfinite(found.x) || std::abs(at - x) < std::abs(found.x - x))) found.x = at;
            break;
        }
    }
}

}  // namespace

ReadOut readOutAt(const Scene& scene, double x, double slack) {
    ReadOut found;
    found.x = std::numeric_limits<double>::quiet_NaN();
    if (!std::isfinite(x)) return found;
    // Where a branch begins, its parent ends: only the one that has x speaks. Just beyond the end of all, the nearest do.
    takeValues(scene, x, 0, slack, found);
    if (found.values.empty()) takeValues(scene, x, slack, slack, found);
    if (found.values.empty()) return found;
    if (!std::isfinite(found.x)) found.x = found.values.front().x;
    found.place = scene.axis == session::XAxis::Step ? QCoreApplication::translate("lathe::charts::LineChart", "step %1").arg(groupedNumber(qint64(found.x)))
                                                     : session::toQt(durationText(found.x));
    return found;
}

}  // namespace lathe::charts
