// Turns a run's series into curves: one for each branch, one for what each branch left behind.
#pragma once

#include "charts/curve.h"
#include "charts/palette.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace lathe::charts {

/// How a series is shown.
struct CurveStyle {
    QString name;           ///< "train"
    int color = 0;          ///< of the first branch; each later one has its own
    bool points = false;
    bool smoothed = false;
};

class CurveBuilder {
public:
    /// Appends to `curves`. Abandoned curves are left out unless wanted.
    void add(const session::RunData& data, const std::string& series, const CurveStyle& style, const Palette& palette, bool withAbandoned,
             std::vector<Curve>& curves);
    /// 0: no smoothing. A change makes the filters anew.
    void setSmoothing(double weight);
    double smoothing() const { return m_weight; }
    /// Forgets filters of series that are gone.
    void clear() { m_filters.clear(); }

private:
    std::shared_ptr<session::Smoothing> filterOf(const session::RunData& data, const std::string& name, const session::Piece& piece);

    double m_weight = 0;
    std::map<const session::Series*, std::shared_ptr<session::Smoothing>> m_filters;
};

/// Smallest and largest x of everything in the curves, from 0; nothing recorded: (0, 1).
struct XRange {
    double lo = 0, hi = 1;
};
XRange xRangeOf(const std::vector<const std::vector<Curve>*>& charts, session::XAxis axis);

}  // namespace lathe::charts
