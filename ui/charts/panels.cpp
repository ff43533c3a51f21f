#include "charts/panels.h"

#include "charts/run_charts.h"
#include "session/qt_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace lathe::charts {

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); }

bool isTraining(const std::string& name) {
    static const std::set<std::string> kOwn{"train/loss", "eval/loss", "train/lr", "train/grad_norm", "train/samples_per_second"};
    return kOwn.count(name) || name.starts_with("train/lr/");
}

bool isAside(const std::string& name) { return name.starts_with("device/") || name == "train/skipped"; }

/// "eval/accuracy": what is measured, and on which part of the data, where the name says so.
struct Parted {
    std::string what;
    int part = -1;  ///< 0 training, 1 evaluation
};

Parted partsOf(const std::string& name) {
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos) return {name, -1};
    static constexpr std::array<const char*, 5> kEvaluation{"eval", "val", "valid", "validation", "test"};
    const std::string first = name.substr(0, slash);
    if (first == "train") return {name.substr(slash + 1), 0};
    if (std::find(kEvaluation.begin(), kEvaluation.end(), first) != kEvaluation.end()) return {name.substr(slash + 1), 1};
    return {name, -1};
}

}  // namespace

std::vector<Panel> trainingPanels(const std::vector<std::string>& names) {
    std::vector<Panel> panels{{RunCharts::tr("Loss"), {}}, {RunCharts::tr("Learning rate"), {}}, {RunCharts::tr("Gradient norm"), {}}, {RunCharts::tr("Samples per second"), {}}};
    const auto add = [&](std::size_t panel, const std::string& name, const CurveStyle& style) {
        if (contains(names, name)) panels[panel].lines.push_back({name, style});
    };
    add(0, "train/loss", {RunCharts::tr("train"), 0, false, true});
    add(0, "eval/loss", {RunCharts::tr("evaluation"), 1, true, false});
    int color = 0;
    for (const std::string& name : names)
        if (name == "train/lr" || name.starts_with("train/lr/"))  // one for each parameter group
            panels[1].lines.push_back({name, {name == "train/lr" ? RunCharts::tr("rate") : session::toQt(name.substr(9)), color++, false, false}});
    add(2, "train/grad_norm", {RunCharts::tr("norm"), 0, false, true});
    add(3, "train/samples_per_second", {RunCharts::tr("samples/s"), 0, false, true});
    return panels;
}

std::vector<Panel> otherPanels(const std::vector<std::string>& names) {
    std::map<std::string, std::vector<std::string>> together;
    for (const std::string& name : names)
        if (!isTraining(name) && !isAside(name)) together[partsOf(name).what].push_back(name);
    std::vector<Panel> panels;
    for (const auto& [what, series] : together) {
        if (panels.size() == kMostPanels) break;
        Panel panel{session::toQt(what), {}};
        int color = 0;
        for (const std::string& name : series) {
            const int part = partsOf(name).part;
            const QString shown = part == 0 ? RunCharts::tr("train") : part == 1 ? RunCharts::tr("evaluation") : session::toQt(name.substr(name.rfind('/') + 1));
            panel.lines.push_back({name, {shown, part == 1 ? 1 : color, part == 1, part != 1}});
            ++color;
        }
        panels.push_back(std::move(panel));
    }
    return panels;
}

}  // namespace lathe::charts
