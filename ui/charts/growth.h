// Whether new points are worth a repaint: where a pixel column stands for many points, newer ones are painted once they stand
// out of it, the curves grew by a pixel, or enough time has passed.
#pragma once

#include "charts/curve_item.h"

#include <QElapsedTimer>

#include <cstddef>
#include <vector>

namespace lathe::charts {

class Growth {
public:
    Growth() { m_since.start(); }
    /// The picture stands for all points that the scene has now.
    void painted(const Scene& scene);
    /// Milliseconds that the new points can wait on a plot of this size; 0: they are to be painted now. The scene's range
    /// is as it was painted.
    qint64 canWait(const Scene& scene, QSizeF plot);

private:
    bool standsOut(const Scene& scene, QSizeF plot) const;

    QElapsedTimer m_since;
    double m_newest = 0;               ///< where the curves ended when they were painted for their growth
    std::vector<std::size_t> m_ends;   ///< by piece: points that the picture stands for
};

}  // namespace lathe::charts
