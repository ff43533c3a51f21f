// Only what differs: settings, results, and the environment that numbers depend on.
#include "actions.h"

#include "base/number_text.h"
#include "config/config.h"
#include "launch/run/run_settings.h"
#include "output.h"
#include "run_facts.h"
#include "rundir/json_reader.h"
#include "store/run_store.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace lathe::trainer {

using nlohmann::json;
using Column = std::map<std::string, std::string>;

/// What one run brings to each part of the comparison.
struct Compared {
    std::string id, name;
    Column settings, results, environment;
};

/// As the worker told it when it began: a session's record has it once it has ended.
static Column environmentSoFar(const rundir::RunFolder& run) {
    Column told;
    const auto reader = store::RunReader::open(run.database());
    for (std::int64_t after = 0; reader;) {
        const auto rows = (*reader)->events(after);
        if (!rows || rows->empty()) break;
        for (const store::EventRow& row : *rows) {
            after = row.id;
            const json facts = row.event.kind == "environment" ? json::parse(row.event.json, nullptr, false) : json();
            if (!facts.is_object()) continue;
            told.clear();
            for (const auto& [key, value] : facts.items()) told[key] = value.is_string() ? value.get<std::string>() : value.dump();
        }
    }
    return told;
}

static Result<Compared> read(const rundir::RunFolder& run) {
    LATHE_TRY_ASSIGN(const auto manifest, rundir::readManifest(run));
    LATHE_TRY_ASSIGN(const auto settings, launch::settingsOf(run));
    Compared out;
    out.id = manifest.id;
    out.name = displayName(run);
    out.settings = settings;
    const json facts = rowJson(run);
    for (const char* key : {"state", "step", "sessions"}) {
        if (facts.contains(key)) out.results[key] = facts[key].is_string() ? facts[key].get<std::string>() : facts[key].dump();
    }
    const json last = facts.value("last", json::object());
    for (const auto& [series, value] : last.items()) {
        if (series.starts_with("device/")) continue;  // of the machine, not of the run
        out.results["last " + series] = value.is_string() ? value.get<std::string>() : value.dump();
    }
    if (facts.contains("best") && !facts["best"].is_null()) out.results["best " + facts["best"].value("metric", "")] = facts["best"]["value"].dump();
    if (const auto session = rundir::readSession(run, rundir::newestSession(run))) out.environment = session->environment;
    if (out.environment.empty()) out.environment = environmentSoFar(run);
    return out;
}

/// Keys whose values are not the same in all runs, with a value or null for each run.
static json differing(const std::vector<Compared>& all, Column Compared::*part) {
    std::set<std::string> keys;
    for (const Compared& one : all) {
        for (const auto& [key, value] : one.*part) keys.insert(key);
    }
    json rows = json::array();
    for (const std::string& key : keys) {
        json values = json::array();
        for (const Compared& one : all) {
            const auto found = (one.*part).find(key);
            values.push_back(found == (one.*part).end() ? json() : json(found->second));
        }
        const auto same = [&](const json& value) {
            const json& first = values.front();
            return value.is_string() && first.is_string() ? config::sameSetting(value.get<std::string>(), first.get<std::string>()) : value == first;
        };
        if (!std::all_of(values.begin(), values.end(), same)) rows.push_back({{"key", key}, {"values", values}});
    }
    return rows;
}

/// Results are measured: six digits say what there is to say.
static std::string shown(const json& value, bool measured) {
    if (value.is_null()) return "-";
    const auto number = measured ? readDouble(value.get<std::string>()) : std::nullopt;
    return number ? shortText(*number, 6) : value.get<std::string>();
}

static void printPart(const char* title, const json& rows, bool measured = false) {
    if (rows.empty()) return print(std::string(title) + ": identical");
    print(std::string(title) + ":");
    for (const json& row : rows) {
        std::string line = "  " + row.at("key").get<std::string>() + ": ";
        for (std::size_t i = 0; i < row.at("values").size(); ++i) {
            line += (i == 0 ? "" : "  |  ") + shown(row.at("values")[i], measured);
        }
        print(line);
    }
}

ExitCode compare(const Options& options) {
    if (options.more.empty()) return fail(options, Error{ErrorCode::Usage, "Only one run is named: compare takes two RUNS or more, lathe-trainer compare " + options.target + " OTHER", {}, {}});
    std::vector<std::string> references = {options.target};
    references.insert(references.end(), options.more.begin(), options.more.end());
    std::vector<Compared> all;
    json heads = json::array();
    for (const std::string& reference : references) {
        const auto run = rundir::findRun(workspaceOf(options), reference);
        if (!run) return fail(options, run.error());
        auto one = read(*run);
        if (!one) return fail(options, one.error());
        heads.push_back({{"id", one->id}, {"name", one->name}});
        all.push_back(std::move(*one));
    }
    const json settings = differing(all, &Compared::settings), results = differing(all, &Compared::results), environment = differing(all, &Compared::environment);
    if (options.json) {
        printJson({{"runs", heads}, {"settings", settings}, {"results", results}, {"environment", environment}});
        return ExitCode::Completed;
    }
    std::string line;
    for (const Compared& one : all) line += (line.empty() ? "" : "  |  ") + one.name + " (" + one.id + ")";
    print(line);
    printPart("settings", settings);
    printPart("results", results, true);
    printPart("environment", environment);
    return ExitCode::Completed;
}

}  // namespace lathe::trainer
