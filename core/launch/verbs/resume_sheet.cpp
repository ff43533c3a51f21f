#include "launch/verbs/resume_sheet.h"

#include "base/file_system.h"
#include "base/number_text.h"
#include "launch/run/checkpoint_choice.h"
#include "launch/run/run_settings.h"
#include "launch/run/run_summary.h"
#include "launch/run/standing.h"
#include "launch/run/undo.h"
#include "launch/verbs/going_on.h"
#include "launch/workers/worker_answer.h"
#include "plan/schedule.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/json_reader.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace lathe::launch {

using config::Field;
using config::RunConfig;
using config::Values;
using rundir::RunFolder;

namespace {

constexpr std::int64_t kCurvePoints = 160;

std::string textOf(const Field& field, const Values& values) {
    const auto value = values.find(field.key());
    if (value == values.end()) return {};
    const bool unset = std::holds_alternative<std::monostate>(value->second) && !field.noneText.empty();
    return unset ? field.noneText : config::valueText(value->second);
}

/// What was asked for, by key: the last setting of a key counts.
std::map<std::string, std::string> askedFor(const std::vector<std::string>& settings) {
    std::map<std::string, std::string> asked;
    for (const std::string& setting : settings)
        if (const std::size_t equals = setting.find('='); equals != std::string::npos) asked[setting.substr(0, equals)] = setting.substr(equals + 1);
    return asked;
}

Effect effectOf(const Field& field, GoOn verb, const RunConfig& before, const RunConfig& after, const Values& used) {
    if (verb == GoOn::StartFromWeights) return config::isVisible(field, used) ? Effect::Applies : Effect::Ignored;
    if (isFixed(field, before, after)) return Effect::Forbidden;
    if (!config::isVisible(field, used)) return Effect::Ignored;
    return field.section == "run" ? Effect::Applies : Effect::AppliesFromNow;
}

std::string whyOf(Effect effect) {
    if (effect == Effect::Forbidden) return "The state of the checkpoint was made with the other value; start from its weights or make a new run";
    if (effect == Effect::Ignored) return "Has no meaning with the other settings";
    return {};
}

std::vector<SheetRow> rowsOf(GoOn verb, const RunConfig& configBefore, const RunConfig& configAfter, const std::map<std::string, std::string>& asked,
                             const std::vector<config::Problem>& problems) {
    const Values before = config::toValues(configBefore), after = config::toValues(configAfter);
    std::vector<SheetRow> rows;
    for (const config::Section& section : config::Schema::builtin().sections())
        for (const Field& field : section.fields) {
            SheetRow row{field.key(), section.label + ": " + field.label, textOf(field, before), {}, textOf(field, after), Effect::Same, {},
                         verb == GoOn::StartFromWeights || field.applies != config::Applies::Start, config::isVisible(field, after)};
            if (const auto text = asked.find(row.key); text != asked.end()) row.form = row.used == row.checkpoint ? text->second : row.used;
            const auto bad = std::find_if(problems.begin(), problems.end(), [&](const auto& problem) {
                return problem.severity == config::Severity::Error && problem.key == row.key;
            });
            if (bad != problems.end()) {
                row.effect = Effect::Forbidden;
                row.why = bad->sentence;
                row.used = row.checkpoint;
                if (row.form) row.form = asked.at(row.key);
            } else if (row.used != row.checkpoint) {
                row.effect = effectOf(field, verb, configBefore, configAfter, after);
                row.why = whyOf(row.effect);
                if (row.effect == Effect::Forbidden) row.used = row.checkpoint;
            }
            rows.push_back(std::move(row));
        }
    return rows;
}

/// Updates of an epoch, from what the newest session planned. Its batch shape is that of every session of the run.
std::optional<std::int64_t> updatesPerEpoch(const RunConfig& newest, std::optional<std::int64_t> planned) {
    if (!planned || !newest.run.epochs || *planned % *newest.run.epochs != 0) return std::nullopt;
    if (newest.run.maxUpdates && *planned >= *newest.run.maxUpdates) return std::nullopt;  // it may have been cut
    return *planned / *newest.run.epochs;
}

std::optional<std::int64_t> plannedWith(const RunConfig& config, std::optional<std::int64_t> perEpoch) {
    if (!config.run.epochs) return config.run.maxUpdates;
    if (!perEpoch) return std::nullopt;
    const std::int64_t all = *config.run.epochs * *perEpoch;
    return config.run.maxUpdates ? std::min(all, *config.run.maxUpdates) : all;
}

void addRates(ResumeSheet& sheet, const RunConfig& before, const RunConfig& after, const StoredCurve& stored, bool newCurve) {
    const bool beginsAnew = newCurve || sheet.verb == GoOn::StartFromWeights;
    const std::int64_t oldLength = stored.length.value_or(before.schedule.totalUpdates.value_or(sheet.plannedBefore.value_or(1)));
    config::ScheduleSection was = before.schedule;
    was.totalUpdates = oldLength;
    const bool hasStored = was.name == after.schedule.name;
    const config::ScheduleSection is = plan::scheduleOnResume(after, hasStored ? std::optional(oldLength) : std::nullopt, sheet.plannedAfter, beginsAnew);
    const double scaleBefore = was.name == "plateau" ? stored.plateauScale : 1;
    const double scaleAfter = is.name == "plateau" && was.name == "plateau" && !beginsAnew ? stored.plateauScale : 1;
    const std::int64_t newLength = is.totalUpdates.value_or(oldLength);
    const std::int64_t last = std::max({oldLength, newLength, sheet.plannedBefore.value_or(0), sheet.plannedAfter.value_or(0)}) - 1;
    std::set<std::int64_t> corners{std::max<std::int64_t>(0, was.warmupUpdates - 1), std::max<std::int64_t>(0, is.warmupUpdates - 1), sheet.step.value()};
    for (std::int64_t i = 0; i <= kCurvePoints; ++i) corners.insert(last * i / kCurvePoints);
    std::vector<std::int64_t> steps{sheet.step.value()};
    for (const std::int64_t step : corners)
        if (step >= 0 && step <= last) steps.push_back(step);
    const auto ratesOf = [&](const RunConfig& config, const config::ScheduleSection& schedule, double scale) {
        const auto factors = factorsAt(config, schedule, steps);
        std::vector<double> rates(steps.size(), std::nan(""));
        for (std::size_t i = 0; factors && i < steps.size(); ++i) rates[i] = config.optimizer.learningRate * scale * (*factors)[i];
        const std::string unknown = factors ? std::string() : "The learning rate of the schedule " + schedule.name + " is not known: " + factors.error().text();
        if (!unknown.empty() && (sheet.notices.empty() || sheet.notices.back() != unknown)) sheet.notices.push_back(unknown);
        return rates;
    };
    const std::vector<double> ratesBefore = ratesOf(before, was, scaleBefore), ratesAfter = ratesOf(after, is, scaleAfter);
    sheet.rateBefore = ratesBefore.front();
    sheet.rateAfter = ratesAfter.front();
    for (std::size_t i = 1; i < steps.size(); ++i) sheet.curve.push_back({steps[i], ratesBefore[i], ratesAfter[i]});
    if (!beginsAnew && !after.schedule.totalUpdates && sheet.plannedAfter && *sheet.plannedAfter != newLength && plan::hasLength(after.schedule))
        sheet.notices.push_back("The run will be " + std::to_string(*sheet.plannedAfter) + " updates long; its learning-rate curve keeps "
                                + std::to_string(newLength) + " unless a new curve is asked for");
    if (sheet.rateAfter == 0 && sheet.plannedAfter && *sheet.plannedAfter > sheet.step.value())
        sheet.notices.push_back("The learning rate is 0 from here on: nothing would be learned. A new curve (--new-curve) or another schedule.total_updates mends that");
}

/// The session whose configuration belongs to what is loaded.
int configSession(const RunFolder& run, GoOn verb, const std::string& checkpoint) {
    const auto named = rundir::parseCheckpointName(checkpoint);
    return verb == GoOn::Continue || !named ? standingSession(run) : std::max(named->session, 1);
}

void findRefusal(ResumeSheet& sheet, const RunFolder& run, const RunConfig& before, const RunConfig& after, const rundir::CheckpointManifest& manifest,
                 const std::vector<config::Problem>& problems) {
    const bool sameRun = sheet.verb == GoOn::Continue || sheet.verb == GoOn::RollBack;
    if (sameRun && rundir::isAlive(standingOf(run).state)) sheet.refused = Error{ErrorCode::Busy, "The run is up; stop it first", {}, {}};
    for (const config::Problem& problem : problems)
        if (!sheet.refused && problem.severity == config::Severity::Error) sheet.refused = Error{ErrorCode::Config, problem.sentence, problem.key, {}};
    if (sheet.refused || sheet.verb == GoOn::StartFromWeights || sheet.checkpoint.empty()) return;
    if (const auto fixed = refuseFixedChanges(before, after, !sameRun); !fixed.ok()) sheet.refused = fixed.error();
    else if (const auto reached = refuseReached(after, manifest, storedCurve(run.checkpoints() / sheet.checkpoint).length); !reached.ok()) sheet.refused = reached.error();
}

/// What the worker itself says of such a session: its refusal, or what it would tell of data, plug-ins and machine.
void askTheWorker(ResumeSheet& sheet, const RunFolder& run, const RunConfig& after, bool newCurve) {
    SessionStart start{{}, sheet.verb == GoOn::StartFromWeights, newCurve};
    if (!sheet.checkpoint.empty()) start.checkpoint = RunFolder(run.place()).checkpoints() / sheet.checkpoint;
    const auto answer = describeSession(after, start);
    if (!answer) {
        if (answer.error().code == ErrorCode::Config || answer.error().code == ErrorCode::Unsupported) sheet.refused = answer.error();
        else sheet.notices.push_back("What the worker says of it is not known: " + answer.error().text());
        return;
    }
    const auto told = answer->find("resume");
    if (told == answer->end() || !told->is_object()) return;
    for (const std::string& warning : told->value("warnings", std::vector<std::string>())) sheet.notices.push_back(warning);
    std::string reasons;
    for (const auto& reason : told->value("not_comparable", std::vector<std::string>())) reasons += (reasons.empty() ? "" : ", ") + reason;
    sheet.notices.push_back(reasons.empty() ? "Data, plug-ins and machine are as at the checkpoint: it can continue exactly"
                                            : "Whether it continues exactly could not be told, not comparable: " + reasons);
}

}  // namespace

std::string_view name(GoOn verb) {
    static constexpr std::array<std::string_view, 4> kNames{"continue", "roll-back", "fork", "start-from-weights"};
    return kNames[std::size_t(verb)];
}

std::string_view name(Effect effect) {
    static constexpr std::array<std::string_view, 5> kNames{"same", "applies", "applies from now", "ignored", "forbidden"};
    return kNames[std::size_t(effect)];
}

Result<ResumeSheet> resumeSheet(const RunFolder& run, GoOn verb, std::string checkpoint, const Changes& changes) {
    ResumeSheet sheet;
    sheet.verb = verb;
    if (verb == GoOn::Continue && checkpoint.empty()) {
        LATHE_TRY_ASSIGN(checkpoint, readNewestOnLine(run));
    }
    sheet.checkpoint = checkpoint;
    LATHE_TRY_ASSIGN(const RunConfig before, configOf(run, configSession(run, verb, checkpoint)));
    config::Loaded loaded;
    loaded.config = before;
    config::applySettings(loaded, changes.settings);
    const std::vector<config::Problem> problems = config::check(loaded);
    const RunConfig& after = loaded.config;
    sheet.rows = rowsOf(verb, before, after, askedFor(changes.settings), problems);

    rundir::CheckpointManifest manifest;
    if (!checkpoint.empty()) {
        LATHE_TRY_ASSIGN(manifest, rundir::readCheckpoint(run.checkpoints() / checkpoint));
        if (verb != GoOn::StartFromWeights) sheet.step = manifest.counters.globalStep;
    }
    if (verb == GoOn::Continue) {
        LATHE_TRY_ASSIGN(std::string notice, passedOverNotice(run, checkpoint));
        if (!notice.empty()) sheet.notices.push_back(std::move(notice));
    }
    const auto summary = summaryOf(run);
    const auto newest = configOf(run, standingSession(run));
    const auto perEpoch = updatesPerEpoch(newest.ok() ? *newest : before, summary.ok() ? summary->plannedUpdates : std::nullopt);
    sheet.plannedBefore = plannedWith(before, perEpoch);
    sheet.plannedAfter = plannedWith(after, perEpoch);
    if (sheet.plannedAfter) sheet.left = std::max<std::int64_t>(0, *sheet.plannedAfter - sheet.step.value());
    const bool newCurve = verb == GoOn::Continue ? makesNewCurve(run, checkpoint, changes.newCurve) : changes.newCurve;
    addRates(sheet, before, after, checkpoint.empty() ? StoredCurve() : storedCurve(run.checkpoints() / checkpoint), newCurve);
    findRefusal(sheet, run, before, after, manifest, problems);
    if (!sheet.refused) askTheWorker(sheet, run, after, newCurve);
    return sheet;
}

}  // namespace lathe::launch
