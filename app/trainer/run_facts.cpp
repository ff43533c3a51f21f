#include "run_facts.h"

#include "base/clock.h"
#include "base/number_text.h"
#include "config/command_text.h"
#include "launch/run/checkpoint_choice.h"
#include "launch/run/run_settings.h"
#include "launch/run/run_summary.h"
#include "launch/run/standing.h"
#include "launch/run/whole_counters.h"
#include "launch/session/memory_end.h"
#include "launch/session/supervisor.h"
#include "output.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/json_reader.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace lathe::trainer {

using nlohmann::json;
using rundir::RunFolder;

static constexpr int kMostWarnings = 100;

static std::string unreadableManifest(const RunFolder& run, const Error& error) {
    return error.text() + ". Put run.json back from a copy to go on with this run; lathe-trainer export " + run.name() + " gives its weights all the same";
}

json optionalNumber(const std::optional<double>& value) { return value ? rundir::numberJson(*value) : json(); }
json timeJson(std::int64_t wallNs) { return wallNs > 0 ? json(isoTime(wallNs)) : json(); }

json bestJson(const std::optional<rundir::BestValue>& best) {
    if (!best) return nullptr;
    return {{"metric", best->metric}, {"value", rundir::numberJson(best->value)}, {"step", best->step}};
}

json metricsJson(const std::map<std::string, std::string>& metrics) {
    json out = json::object();
    for (const auto& [name, text] : metrics) {
        const auto value = readDouble(text);
        out[name] = value ? rundir::numberJson(*value) : json(text);
    }
    return out;
}

json checkpointsJson(const RunFolder& run) {
    const auto user = rundir::readUser(run);
    const bool isUp = rundir::isAlive(launch::standingOf(run).state);
    json list = json::array();
    for (const auto& info : rundir::listCheckpoints(run.checkpoints(), user ? user->pinned : std::vector<std::string>())) {
        if (isUp && info.folder.starts_with('.')) continue;  // it is just being written
        const bool usable = info.problem.empty();
        list.push_back({{"step", info.step.value()}, {"session", info.session}, {"folder", info.folder}, {"valid", usable}, {"problem", usable ? json() : json(info.problem)},
                        {"metrics", metricsJson(info.metrics)}, {"bytes", info.bytes}, {"saved", timeJson(info.wallNs)}, {"best", info.best}, {"pinned", info.pinned},
                        {"verified", timeJson(info.verifiedNs)}});
    }
    return list;
}

/// Code and reason of the newest session's end; null while there is none.
static json exitJson(const RunFolder& run, const launch::Standing& standing) {
    if (rundir::isAlive(standing.state)) return nullptr;
    const auto record = rundir::readSession(run, rundir::newestSession(run));
    int code = static_cast<int>(rundir::exitCodeOf(standing.state));
    if (record && record->exitCode) code = *record->exitCode;
    json out = {{"code", code}, {"reason", standing.why}};
    if (record && record->signal) out["signal"] = *record->signal;
    if (record && record->commandExitCode) out["command_code"] = *record->commandExitCode;
    if (record && record->memory) out["memory"] = rundir::memoryJson(*record->memory);
    return out;
}

std::vector<std::string> remedyLines(const RunFolder& run) {
    std::vector<std::string> lines;
    const auto record = rundir::readSession(run, rundir::newestSession(run));
    if (!record || !record->memory) return lines;
    if (record->memory->remedies.empty()) return {std::string(launch::kNoRemedy)};
    lines.push_back("What would need less memory (lathe-trainer again " + displayName(run) + " --remedy N, or continue where it says so):");
    const auto& remedies = record->memory->remedies;
    for (std::size_t i = 0; i < remedies.size(); ++i)
        lines.push_back("  " + std::to_string(i + 1) + ". " + rundir::sentenceOf(remedies[i]) + (remedies[i].whenGoingOn ? " (continue)" : ""));
    return lines;
}

void leaveWhatIsExact(json& counters) {
    for (const char* lags : {"micro_step", "samples", "tokens", "epoch", "plan_entry"}) counters.erase(lags);
}

json resultJson(const RunFolder& run) {
    const auto standing = launch::standingOf(run);
    const auto manifest = rundir::readManifest(run);
    const auto summary = launch::summaryOf(run);
    json out = {{"run", manifest ? manifest->id : std::string()}, {"name", displayName(run)}, {"folder", run.place().string()},
                {"session", rundir::newestSession(run)}, {"state", rundir::name(standing.state)}, {"exit", exitJson(run, standing)},
                {"checkpoints", checkpointsJson(run)}};
    out["counters"] = summary ? rundir::countersJson(summary->counters) : json();
    if (summary && !launch::areWhole(run, *summary)) leaveWhatIsExact(out["counters"]);
    out["best"] = summary ? bestJson(summary->best) : json();
    out["resume"] = newestReport(run, rundir::newestSession(run));
    return out;
}

json seriesJson(const store::SeriesSummary& series) {
    return {{"name", series.name}, {"unit", series.unit}, {"points", series.points}, {"last", optionalNumber(series.last)},
            {"min", optionalNumber(series.minimum)}, {"max", optionalNumber(series.maximum)}, {"non_finite", series.nonFinite}};
}

json recordJson(const store::RecordSummary& record) {
    return {{"type", live::recordWord(record.type)}, {"name", record.name}, {"count", record.count}, {"first_step", record.firstStep}, {"last_step", record.lastStep}};
}

std::string recordLine(const store::RecordSummary& record) {
    return std::string(live::recordWord(record.type)) + " " + record.name + ": " + std::to_string(record.count) + ", steps "
           + std::to_string(record.firstStep) + " to " + std::to_string(record.lastStep);
}

/// Sentences that whoever looks at the run should know, newest first.
static json warningsJson(const store::RunReader& reader) {
    json out = json::array();
    std::int64_t after = 0;
    while (true) {
        const auto events = reader.events(after);
        if (!events || events->empty()) break;
        for (const store::EventRow& row : *events) {
            if (row.event.kind != "warning") continue;
            json warning = {{"session", row.event.session}, {"step", row.event.step}, {"time", timeJson(row.event.wallNs)}, {"text", row.event.text}};
            out.insert(out.begin(), std::move(warning));
        }
        if (out.size() > kMostWarnings) out.erase(out.begin() + kMostWarnings, out.end());
        after = events->back().id;
    }
    return out;
}

/// What a program said of its run as a whole, the checkpoints that it keeps itself, and the newest confusion matrix.
static void addRecords(const store::RunReader& reader, json& out) {
    out["records"] = out["own_checkpoints"] = json::array();
    out["summary"] = json::object();
    if (const auto names = reader.recordNames()) {
        for (const auto& one : *names) out["records"].push_back(recordJson(one));
    }
    if (const auto values = reader.newestRecords(live::FrameType::Summary)) {
        for (const auto& row : *values) {
            if (auto value = rundir::parseStrict(row.record.content, row.record.name)) out["summary"][row.record.name] = std::move(*value);
        }
    }
    out["confusion"] = nullptr;
    if (const auto tables = reader.newestRecords(live::FrameType::Table)) {
        for (const auto& row : *tables) {
            if (row.record.name != "confusion") continue;
            auto table = rundir::parseStrict(row.record.content, row.record.name);
            if (!table || !table->is_object()) continue;
            (*table)["step"] = row.record.step;
            out["confusion"] = std::move(*table);
        }
    }
    if (const auto kept = reader.newestRecords(live::FrameType::OwnCheckpoint)) {
        for (const auto& row : *kept) {
            auto facts = rundir::parseStrict(row.record.content, row.record.name);
            if (!facts || !facts->is_object()) continue;
            (*facts)["step"] = row.record.step;
            (*facts)["saved"] = timeJson(row.record.wallNs);
            out["own_checkpoints"].push_back(std::move(*facts));
        }
        std::stable_sort(out["own_checkpoints"].begin(), out["own_checkpoints"].end(), [](const json& a, const json& b) { return a.at("step") < b.at("step"); });
    }
}

/// The newest resume_report of each session.
static std::map<int, json> reportsOf(const store::RunReader& reader) {
    std::map<int, json> reports;
    for (std::int64_t after = 0;;) {
        const auto events = reader.events(after);
        if (!events || events->empty()) return reports;
        for (const store::EventRow& row : *events) {
            after = row.id;
            if (row.event.kind != "resume_report") continue;
            json facts = json::parse(row.event.json, nullptr, false);
            if (facts.is_object()) reports[row.event.session] = std::move(facts);
        }
    }
}

/// Groups of parameters as the newest session trains them.
static json groupsJson(const store::RunReader& reader) {
    json groups = json::array();
    for (std::int64_t after = 0;;) {
        const auto events = reader.events(after);
        if (!events || events->empty()) return groups;
        for (const store::EventRow& row : *events) {
            after = row.id;
            if (row.event.kind != "plan") continue;
            const json facts = json::parse(row.event.json, nullptr, false);
            if (facts.is_object() && facts.contains("groups") && facts["groups"].is_array()) groups = facts["groups"];
        }
    }
}

json newestReport(const RunFolder& run, int session) {
    const auto reader = store::RunReader::open(run.database());
    const std::map<int, json> reports = reader ? reportsOf(**reader) : std::map<int, json>();
    const auto found = reports.find(session);
    return found == reports.end() ? json() : found->second;
}

std::string reportText(const json& report) {
    const std::string outcome = report.value("outcome", ""), detail = report.value("detail", "");
    if (outcome == "continues exactly") return outcome + (detail.empty() ? "" : " (" + detail + ")");
    return outcome + (outcome == "differs" ? " at: " : ": ") + detail;
}

/// Where the steps of a person's own program begin nobody knows before it has told of one.
static json sessionJson(const store::SessionRow& row, bool isProgram) {
    const bool isUnknown = isProgram && row.lastStep < row.firstStep;
    return {{"n", row.number}, {"verb", row.verb}, {"parent_session", row.parentSession == 0 ? json() : json(row.parentSession)},
            {"parent_attempt", row.parentAttempt}, {"first_step", isUnknown ? json() : json(row.firstStep)}, {"last_step", isUnknown ? json() : json(row.lastStep)},
            {"started", timeJson(row.startedNs)}, {"ended", timeJson(row.endedNs)}, {"end", row.end.empty() ? json() : json(row.end)},
            {"why", row.why}};
}

/// The surviving line first, then what was abandoned: whole sessions, and what sessions of the line did behind the point
/// that was gone back to.
static json branchesJson(const RunFolder& run, const std::vector<store::SessionRow>& sessions) {
    std::map<int, std::int64_t> line;
    for (const auto& part : store::survivingLine(sessions)) line[part.session] = part.lastAttempt;
    json out = json::array();
    for (auto row = sessions.rbegin(); row != sessions.rend(); ++row) {
        const bool newest = row == sessions.rbegin(), onLine = line.contains(row->number);
        const auto record = rundir::readSession(run, row->number);
        const std::int64_t attempts = record && record->counters ? record->counters->updateAttempts.value() : 0;
        if (onLine && !newest && attempts <= line[row->number]) continue;
        out.push_back({{"session", row->number}, {"surviving", newest}, {"from_session", onLine && !newest ? json(row->number) : row->parentSession == 0 ? json() : json(row->parentSession)},
                       {"from_attempt", onLine && !newest ? line[row->number] : row->parentAttempt}, {"last_step", row->lastStep}});
    }
    return out;
}

/// The newest updates that were not applied, with their reason.
static json skippedJson(const store::RunReader& reader) {
    constexpr std::size_t kMost = 50;
    json out = json::array();
    const auto events = reader.events();
    if (!events) return out;
    for (const store::EventRow& row : *events) {
        if (row.event.kind != "skipped") continue;
        const json facts = json::parse(row.event.json, nullptr, false);
        out.push_back({{"session", row.event.session}, {"attempt", row.event.attempt}, {"step", row.event.step},
                       {"reason", facts.is_object() ? facts.value("reason", row.event.text) : row.event.text}});
        if (out.size() > kMost) out.erase(0);
    }
    return out;
}

/// What the guard and the run's own policies decided, newest last.
static json guardJson(const store::RunReader& reader) {
    constexpr std::size_t kMost = 50;
    json out = json::array();
    const auto events = reader.events();
    if (!events) return out;
    for (const store::EventRow& row : *events) {
        if (row.event.kind != "guard" && row.event.kind != "rolled_back") continue;
        json facts = json::parse(row.event.json, nullptr, false);
        if (!facts.is_object()) facts = json::object();
        facts.erase("counters");
        facts.update({{"kind", row.event.kind}, {"session", row.event.session}, {"attempt", row.event.attempt}, {"at_step", row.event.step}, {"text", row.event.text}});
        out.push_back(std::move(facts));
        if (out.size() > kMost) out.erase(0);
    }
    return out;
}

/// A person's own command with the settings among its arguments; null for Lathe's training.
static json commandJson(const RunFolder& run) {
    const auto config = launch::configOf(run, std::max(1, rundir::newestSession(run)));
    const auto command = config && config::isCommand(*config) ? config::splitCommand(config->command.line) : Result<config::CommandWords>(Error{});
    if (!command) return nullptr;
    const config::CommandParts parts = config::partsOf(*command);
    return {{"line", config->command.line}, {"folder", config->command.folder}, {"arguments", std::map(parts.settings.begin(), parts.settings.end())},
            {"variables", std::map(parts.variables.begin(), parts.variables.end())}};
}

json showJson(const RunFolder& run) {
    json out = resultJson(run);
    out["command"] = commandJson(run);
    const auto session = rundir::readSession(run, rundir::newestSession(run));
    out["environment"] = session ? json(session->environment) : json::object();
    out["id"] = out["run"];
    // The best value may be of a step whose checkpoint another run has (before a fork), or nobody.
    if (const auto best = launch::bestCheckpoint(run); best && out["best"].is_object())
        out["best"]["checkpoint"] = {{"folder", *best}, {"step", rundir::parseCheckpointName(*best)->step.value()}};
    const auto standing = launch::standingOf(run);
    out["why"] = standing.why;
    out["on_this_host"] = standing.onThisHost;
    const auto manifest = rundir::readManifest(run);
    out["kind"] = rundir::name(manifest ? manifest->kind : rundir::RunKind::Started);
    out["parent"] = nullptr;
    if (manifest && manifest->parent)
        out["parent"] = {{"run", manifest->parent->run}, {"checkpoint", manifest->parent->checkpoint}, {"verb", manifest->parent->verb}};
    if (!manifest) out["problem"] = unreadableManifest(run, manifest.error());
    const auto settings = launch::settingsOf(run);
    out["settings"] = settings ? json(*settings) : json::object();
    out["preset"] = manifest ? manifest->preset : std::string();
    out["created"] = timeJson(manifest ? manifest->createdNs : 0);
    if (const auto user = rundir::readUser(run))
        out["user"] = {{"note", user->note.value_or("")}, {"tags", user->tags}, {"star", user->star}, {"archived", user->archived}, {"pinned", user->pinned}};
    out["sessions"] = out["series"] = out["branches"] = out["groups"] = json::array();
    const auto reader = store::RunReader::open(run.database());
    const auto summary = launch::summaryOf(run);
    const bool hasNeverBegun = summary && summary->counters.updateAttempts.value() == 0 && summary->activeSeconds == 0;   // it waits, or was taken out of the queue
    if (!reader && reader.error().code == ErrorCode::NotFound && hasNeverBegun) return out;
    if (!reader) {
        out["database_problem"] = reader.error().text();
        return out;
    }
    if (auto sessions = (*reader)->sessions()) {
        // The row of a session gets its last step when it ends; until then the counters say how far it is.
        if (!sessions->empty() && sessions->back().end.empty()) {
            const std::int64_t reached = out["counters"].is_object() ? out["counters"].value("global_step", std::int64_t{0}) : 0;
            sessions->back().lastStep = std::max(sessions->back().lastStep, reached);
        }
        const std::map<int, json> reports = reportsOf(**reader);
        for (const auto& row : *sessions) {
            out["sessions"].push_back(sessionJson(row, out["command"].is_object()));
            const auto report = reports.find(row.number);
            out["sessions"].back()["resume"] = report == reports.end() ? json() : report->second;
        }
        out["branches"] = branchesJson(run, *sessions);
    }
    out["skipped"] = skippedJson(**reader);
    out["guard"] = guardJson(**reader);
    out["groups"] = groupsJson(**reader);
    out["warnings"] = warningsJson(**reader);
    const auto names = (*reader)->fact("original_names");  // what an imported run's program called them
    const json originals = names && *names ? json::parse(**names, nullptr, false) : json();
    if (const auto all = (*reader)->series()) {
        for (const auto& series : *all) {
            out["series"].push_back(seriesJson(series));
            if (originals.is_object() && originals.contains(series.name)) out["series"].back()["original"] = originals[series.name];
        }
    }
    addRecords(**reader, out);
    return out;
}

json rowJson(const RunFolder& run) {
    const auto standing = launch::standingOf(run);
    const auto summary = launch::summaryOf(run);
    const auto manifest = rundir::readManifest(run);
    json out = {{"id", manifest ? manifest->id : std::string()}, {"name", displayName(run)}, {"folder", run.place().string()},
                {"kind", rundir::name(manifest ? manifest->kind : rundir::RunKind::Started)},
                {"state", rundir::name(standing.state)}, {"why", standing.why}, {"created", timeJson(manifest ? manifest->createdNs : 0)}};
    if (!manifest) out["problem"] = unreadableManifest(run, manifest.error());
    if (!summary) return out;
    out["step"] = summary->counters.globalStep.value();
    out["planned_updates"] = summary->plannedUpdates ? json(*summary->plannedUpdates) : json();
    out["active_seconds"] = rundir::numberJson(summary->activeSeconds);
    out["sessions"] = summary->sessions;
    out["best"] = bestJson(summary->best);
    out["last"] = json::object();
    for (const auto& [series, value] : summary->last) out["last"][series] = rundir::numberJson(value);
    return out;
}

}  // namespace lathe::trainer
