#include "charts/curve_builder.h"

#include "charts/axis_map.h"

#include <QCoreApplication>

#include <algorithm>

namespace lathe::charts {

using session::Piece;
using session::Smoothing;

namespace {

constexpr int kColorsEachBranch = 2;  // a chart shows at most two series of a run, so that no two curves share a colour

QString nameOf(const CurveStyle& style, const Piece& piece, bool branched) {
    if (!branched && !piece.abandoned) return style.name;
    QString name = style.name + QStringLiteral(" · ") + QCoreApplication::translate("lathe::charts", "branch %1").arg(piece.branch + 1);
    if (piece.abandoned) name += QStringLiteral(", ") + QCoreApplication::translate("lathe::charts", "abandoned");
    return name;
}

}  // namespace

void CurveBuilder::setSmoothing(double weight) {
    if (weight == m_weight) return;
    m_weight = weight;
    m_filters.clear();
}

std::shared_ptr<Smoothing> CurveBuilder::filterOf(const session::RunData& data, const std::string& name, const Piece& piece) {
    std::shared_ptr<Smoothing>& filter = m_filters[piece.series];
    if (filter) return filter;
    const session::Series* parent = piece.parentSession ? data.find(name, piece.parentSession) : nullptr;
    const auto before = parent ? m_filters.find(parent) : m_filters.end();
    filter = std::make_shared<Smoothing>(piece.series, m_weight, before == m_filters.end() ? nullptr : before->second.get(), piece.parentPoints);
    return filter;
}

void CurveBuilder::add(const session::RunData& data, const std::string& series, const CurveStyle& style, const Palette& palette,
                       bool withAbandoned, std::vector<Curve>& curves) {
    const std::vector<Piece> pieces = data.pieces(series);
    const bool branched = std::any_of(pieces.begin(), pieces.end(), [](const Piece& piece) { return piece.branch > 0; });
    const std::size_t first = curves.size();
    for (const Piece& piece : pieces) {
        // Filters are made for every piece, oldest first: a later branch goes on with that of its parent.
        const auto filter = style.smoothed && m_weight > 0 ? filterOf(data, series, piece) : nullptr;
        if (piece.abandoned && !withAbandoned) continue;
        const QString name = nameOf(style, piece, branched);
        auto curve = std::find_if(curves.begin() + std::ptrdiff_t(first), curves.end(), [&](const Curve& each) { return each.name == name; });
        if (curve == curves.end()) {
            curves.push_back({name, palette.curve(style.color + kColorsEachBranch * piece.branch), {}, true, style.points, piece.abandoned});
            curve = curves.end() - 1;
        }
        curve->pieces.push_back({piece, filter});
    }
    // What was left stands last, in the legend too.
    std::stable_partition(curves.begin(), curves.end(), [](const Curve& curve) { return !curve.abandoned; });
}

XRange xRangeOf(const std::vector<const std::vector<Curve>*>& charts, session::XAxis axis) {
    double hi = 0;
    for (const auto* curves : charts)
        for (const Curve& curve : *curves)
            for (const CurvePiece& piece : curve.pieces) {
                const std::size_t end = std::min(piece.piece.end, piece.piece.series->size());
                if (end > piece.piece.begin) hi = std::max(hi, piece.piece.series->xAt(end - 1, axis));
            }
    return {0, hi > 0 ? hi : 1};
}

}  // namespace lathe::charts
