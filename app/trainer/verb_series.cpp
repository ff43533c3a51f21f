// Every recorded point, nothing thinned, values in the shortest form that reads back to the same number.
#include "actions.h"

#include "base/clock.h"
#include "base/number_text.h"
#include "config/nearest.h"
#include "config/series_names.h"
#include "output.h"
#include "rundir/json_reader.h"
#include "store/run_store.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::trainer {

using nlohmann::json;

static Error noSuchSeries(const std::string& name, const std::vector<std::string>& all) {
    constexpr std::size_t kMostNamed = 20;
    std::string list;
    for (std::size_t i = 0; i < std::min(all.size(), kMostNamed); ++i) list += (list.empty() ? "" : ", ") + all[i];
    if (all.size() > kMostNamed) list += " and " + std::to_string(all.size() - kMostNamed) + " more";
    const std::string nearest = config::nearestWord(name, all);
    return {ErrorCode::NotFound, "There is no series \"" + name.substr(0, 200) + "\"; " + (nearest.empty() ? "" : "did you mean \"" + nearest + "\"? ")
            + (list.empty() ? "this run has none yet" : "There are: " + list), {}, {}};
}

static Result<std::vector<std::string>> namesToPrint(const store::RunReader& reader, const std::vector<std::string>& wanted) {
    LATHE_TRY_ASSIGN(const auto known, reader.series());
    std::vector<std::string> all, chosen;
    for (const auto& series : known) all.push_back(series.name);
    const auto isKnown = [&](const std::string& name) { return std::find(all.begin(), all.end(), name) != all.end(); };
    for (const std::string& name : wanted) {
        const std::string standard = config::standardSeriesName(name);  // a script's own name for it will do
        if (!isKnown(name) && !isKnown(standard)) return noSuchSeries(name, all);
        chosen.push_back(isKnown(name) ? name : standard);
    }
    return wanted.empty() ? all : chosen;
}

static void printCsvRow(const std::string& name, const store::Point& point) {
    print(name + "," + std::to_string(point.session) + "," + std::to_string(point.attempt) + "," + std::to_string(point.step) + ","
          + exactText(static_cast<double>(point.activeNs) / 1e9) + "," + isoTime(point.wallNs) + "," + exactText(point.value));
}

static json pointJson(const std::string& name, const store::Point& point) {
    return {{"series", name}, {"session", point.session}, {"attempt", point.attempt}, {"step", point.step},
            {"seconds", static_cast<double>(point.activeNs) / 1e9}, {"wall", isoTime(point.wallNs)}, {"value", rundir::numberJson(point.value)}};
}

/// What only --all-branches prints, of all series together.
static Result<void> tellAbandoned(const store::RunReader& reader, const std::vector<std::string>& names) {
    LATHE_TRY_ASSIGN(const auto sessions, reader.sessions());
    if (sessions.size() < 2) return {};   // no branch was left
    std::size_t left = 0;
    for (const std::string& name : names) {
        LATHE_TRY_ASSIGN(const auto all, reader.points(name, store::RunReader::Line::All));
        LATHE_TRY_ASSIGN(const auto line, reader.points(name, store::RunReader::Line::Surviving));
        left += all.size() - std::min(all.size(), line.size());
    }
    if (left > 0) tell(std::to_string(left) + (left == 1 ? " point" : " points") + " of abandoned branches " + (left == 1 ? "is" : "are") + " not among them (--all-branches)");
    return {};
}

ExitCode series(const Options& options) {
    const auto run = runToRead(options);
    if (!run) return fail(options, run.error());
    const auto reader = store::RunReader::open(run->database());
    if (!reader) return fail(options, reader.error());
    const auto names = namesToPrint(**reader, options.more);
    if (!names) return fail(options, names.error());
    // Written as it is read: a run may have more points than memory has room for as JSON.
    print(options.json ? "[" : "series,session,attempt,step,seconds,wall,value");
    bool first = true;
    const auto open = (*reader)->keepOpen();
    for (const std::string& name : *names) {
        const auto points = (*reader)->points(name, options.allBranches ? store::RunReader::Line::All : store::RunReader::Line::Surviving);
        if (!points) return fail(options, points.error());
        for (const store::Point& point : *points) {
            if (!options.json) printCsvRow(name, point);
            else print((first ? "" : ",") + pointJson(name, point).dump());
            first = false;
        }
    }
    if (options.json) print("]");
    if (!options.allBranches)
        if (const auto told = tellAbandoned(**reader, *names); !told) return fail(options, told.error());
    return ExitCode::Completed;
}

}  // namespace lathe::trainer
