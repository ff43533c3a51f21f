// Which series of a run share a chart. Pure: names in, charts out.
#pragma once

#include "charts/curve_builder.h"

#include <QString>

#include <string>
#include <vector>

namespace lathe::charts {

/// One chart: its title and the series on it, in order.
struct Panel {
    struct Line {
        std::string series;
        CurveStyle style;
    };
    QString title;
    std::vector<Line> lines;
};

/// Loss, learning rate, gradient norm and samples a second of a training run; their lines are those that are there.
std::vector<Panel> trainingPanels(const std::vector<std::string>& names);
/// One for each other series, "train/x" and "eval/x" (also val, valid, validation, test) together, in the order of their
/// names; at most kMostPanels. Devices and counters are left out.
std::vector<Panel> otherPanels(const std::vector<std::string>& names);
constexpr std::size_t kMostPanels = 60;

}  // namespace lathe::charts
