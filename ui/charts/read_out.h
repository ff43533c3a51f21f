// What the curves say at one x.
#pragma once

#include "charts/curve_item.h"

#include <vector>

namespace lathe::charts {

struct ReadOut {
    struct Value {
        QString name, text;  ///< "1.889 (2.184)": smoothed, then raw
        QColor color;
        double x = 0, y = 0; ///< of the point; y as drawn
    };
    QString place;           ///< "step 38,200" or "12 min 30 s"; empty: nothing there
    double x = 0;            ///< of the nearest point of the first curve that has one for every step; NaN: nothing
    std::vector<Value> values;
};

/// `slack` in x units: how far beyond its ends a curve still answers.
ReadOut readOutAt(const Scene& scene, double x, double slack);

}  // namespace lathe::charts
