#include "actions.h"

#include "base/clock.h"
#include "base/number_text.h"
#include "launch/queue/queue_keeper.h"
#include "launch/run/disk_outlook.h"
#include "launch/run/settle.h"
#include "launch/verbs/away.h"
#include "output.h"
#include "run_facts.h"

#include <nlohmann/json.hpp>

namespace lathe::trainer {

using nlohmann::json;

static std::string cell(const json& row, const char* key) {
    const auto found = row.find(key);
    if (found == row.end() || found->is_null()) return "-";
    const std::string text = found->is_string() ? found->get<std::string>() : found->dump();
    return text.empty() ? "-" : text;
}

static std::string bestText(const json& row) {
    const auto best = row.find("best");
    if (best == row.end() || best->is_null()) return "-";
    const json& value = best->at("value");
    return best->at("metric").get<std::string>() + " " + (value.is_number() ? shortText(value.get<double>()) : value.get<std::string>());
}

static std::string padded(std::string text, std::size_t width) {
    std::size_t shown = 0;
    for (const char c : text) shown += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
    if (shown < width) text.append(width - shown, ' ');
    return text + "  ";
}

/// What ended since a moment: "2 completed, 1 diverged at 03:12", and one line for each.
static ExitCode endedRuns(const Options& options) {
    const std::int64_t now = Clock::system().wallNs();
    const auto since = launch::momentFrom(*options.since, now);
    if (!since) return fail(options, since.error());
    const auto endings = launch::endingsSince(workspaceOf(options), *since);
    const std::string text = launch::endingsText(endings, now);
    if (options.json) {
        json list = json::array();
        for (const auto& ending : endings) {
            list.push_back(rowJson(ending.run));
            list.back()["ended"] = timeJson(ending.endedNs);
        }
        printJson({{"since", timeJson(*since)}, {"text", text}, {"ended", list}});
        return ExitCode::Completed;
    }
    print(text.empty() ? "Nothing has ended since " + isoTime(*since) : text);
    for (const auto& ending : endings)
        print(isoTime(ending.endedNs) + "  " + padded(std::string(rundir::name(ending.state)), 13) + ending.name + (ending.why.empty() ? "" : ": " + ending.why));
    return ExitCode::Completed;
}

/// A run without run.json is listed nowhere; what else it holds may be whole.
static void tellNameless(const std::filesystem::path& workspace) {
    for (const std::string& name : rundir::runFolderNames(workspace)) {
        const rundir::RunFolder run = rundir::runNamed(workspace, name);
        std::error_code unknown;
        if (std::filesystem::exists(run.runJson(), unknown) || !std::filesystem::exists(run.database(), unknown)) continue;
        tell(run.place().string() + " holds a run's record but no run.json, without which it is no run: bring that file back from a copy");
    }
}

ExitCode runs(const Options& options) {
    if (const auto kept = launch::startKeeper(launch::Queue::ofThisUser()); !kept) tell(kept.error().text());   // whoever looks wakes it
    if (options.since) return endedRuns(options);
    json list = json::array();
    for (const auto& run : rundir::listRuns(workspaceOf(options))) {
        static_cast<void>(launch::settleToRead(run));   // a row counts what its record has; where that is not all its state tells
        list.push_back(rowJson(run));
    }
    if (options.json) {
        printJson(list);
        return ExitCode::Completed;
    }
    tellNameless(workspaceOf(options));
    if (list.empty()) {
        print("No runs in " + workspaceOf(options).string() + " yet; lathe-trainer run digits-mlp makes one");
        return ExitCode::Completed;
    }
    print(padded("id", 12) + padded("state", 13) + padded("name", 32) + padded("step", 8) + padded("best", 24) + "created");
    for (const json& row : list)
        print(padded(cell(row, "id"), 12) + padded(cell(row, "state"), 13) + padded(cell(row, "name"), 32) + padded(cell(row, "step"), 8)
              + padded(bestText(row), 24) + cell(row, "created"));
    for (const json& row : list) {
        if (row.contains("problem")) tell(row["problem"].get<std::string>());
        else if (const auto state = rundir::stateFrom(row["state"].get<std::string>()); (row["state"] == "lost" || (state && rundir::isAlive(*state))) && !row["why"].get<std::string>().empty()) tell(row["name"].get<std::string>() + ": " + row["why"].get<std::string>());
    }
    const auto workspace = workspaceOf(options);
    if (const std::string disk = launch::outlookText(launch::diskOutlook(workspace), workspace); !disk.empty()) tell(disk);
    return ExitCode::Completed;
}

}  // namespace lathe::trainer
