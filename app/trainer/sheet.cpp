#include "sheet.h"

#include "base/number_text.h"
#include "output.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace lathe::trainer {

using launch::Effect;
using launch::ResumeSheet;
using nlohmann::json;

static json orNull(const std::optional<std::int64_t>& value) { return value ? json(*value) : json(); }

static json sheetJson(const rundir::RunFolder& run, const ResumeSheet& sheet) {
    json rows = json::array(), curve = json::array();
    for (const launch::SheetRow& row : sheet.rows)
        rows.push_back({{"key", row.key}, {"label", row.label}, {"checkpoint", row.checkpoint}, {"form", row.form ? json(*row.form) : json()},
                        {"used", row.used}, {"effect", name(row.effect)}, {"why", row.why}, {"changeable", row.changeable}, {"visible", row.visible}});
    for (const launch::RatePoint& point : sheet.curve) curve.push_back({{"step", point.step}, {"before", point.before}, {"after", point.after}});
    json out = {{"dry_run", true}, {"verb", name(sheet.verb)}, {"run", displayName(run)}, {"folder", run.place().string()},
                {"checkpoint", sheet.checkpoint}, {"step", sheet.step.value()}, {"settings", rows},
                {"learning_rate", {{"before", sheet.rateBefore}, {"after", sheet.rateAfter}, {"curve", curve}}},
                {"updates", {{"planned_before", orNull(sheet.plannedBefore)}, {"planned_after", orNull(sheet.plannedAfter)}, {"left", orNull(sheet.left)}}},
                {"notices", sheet.notices}, {"would_start", !sheet.refused}};
    if (sheet.refused) out["error"] = {{"sentence", sheet.refused->sentence}, {"key", sheet.refused->key}};
    return out;
}

static std::string rateText(double rate) { return std::isnan(rate) ? "not known" : shortText(rate); }

static std::string lengthText(const std::optional<std::int64_t>& updates) { return updates ? std::to_string(*updates) : "not known before the data are read"; }

static void tellSheetText(const rundir::RunFolder& run, const ResumeSheet& sheet) {
    print(std::string(name(sheet.verb)) + " " + displayName(run) + (sheet.checkpoint.empty() ? ": no usable checkpoint, from the start" : " from " + sheet.checkpoint));
    bool any = false;
    for (const launch::SheetRow& row : sheet.rows) {
        if (row.effect == Effect::Same && !row.form) continue;
        any = true;
        print("  " + row.key + ": " + row.checkpoint + " -> " + row.form.value_or(row.used) + " (" + std::string(name(row.effect)) + ")" + (row.why.empty() ? "" : " " + row.why));
    }
    if (!any) print("  every setting as in the checkpoint");
    print("Learning rate of the next update: " + rateText(sheet.rateBefore) + (rateText(sheet.rateAfter) == rateText(sheet.rateBefore) ? "" : " -> " + rateText(sheet.rateAfter)));
    print("Updates left: " + lengthText(sheet.left) + (sheet.plannedAfter ? " of " + lengthText(sheet.plannedAfter) : "")
          + (sheet.plannedBefore != sheet.plannedAfter ? " (planned before: " + lengthText(sheet.plannedBefore) + ")" : ""));
    for (const std::string& notice : sheet.notices) print(notice);
}

ExitCode tellSheet(const Options& options, const rundir::RunFolder& run, launch::GoOn verb, const std::string& checkpoint) {
    const auto sheet = launch::resumeSheet(run, verb, checkpoint, {options.settings, options.newCurve});
    if (!sheet) return fail(options, sheet.error());
    if (options.json) printJson(sheetJson(run, *sheet));
    else tellSheetText(run, *sheet);
    if (!sheet->refused) return ExitCode::Completed;
    if (!options.json) tell("Would not start: " + sheet->refused->text());
    return exitCodeOf(sheet->refused->code);
}

}  // namespace lathe::trainer
