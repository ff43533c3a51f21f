#include "actions.h"

#include "base/number_text.h"
#include "output.h"
#include "run_facts.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

namespace lathe::trainer {

using nlohmann::json;

static std::string text(const json& value) {
    if (value.is_null()) return "-";
    if (value.is_number_float()) return shortText(value.get<double>(), 6);
    return value.is_string() ? value.get<std::string>() : value.dump();
}

static void printSessions(const json& facts) {
    if (!facts.at("sessions").empty()) print("sessions:");
    for (const json& row : facts.at("sessions")) {
        const bool stepped = row.at("first_step").is_number() && row.at("last_step") >= row.at("first_step");
        print("  session " + text(row.at("n")) + " (" + text(row.at("verb")) + "): "
              + (stepped ? "steps " + text(row.at("first_step")) + " to " + text(row.at("last_step")) : std::string("no update")) + ", " + (row.at("end").is_null() ? "not ended" : text(row.at("end")))
              + (text(row.at("why")).empty() ? "" : ". " + text(row.at("why"))));
        if (row.at("resume").is_object()) print("    " + reportText(row.at("resume")));
    }
}

static void printCheckpoints(const json& facts) {
    if (!facts.at("checkpoints").empty()) print("checkpoints:");
    for (const json& row : facts.at("checkpoints")) {
        std::string line = "  " + text(row.at("folder")) + "  " + diskText(row.at("bytes").get<std::uint64_t>());
        for (const auto& [name, value] : row.at("metrics").items()) line += "  " + name + " " + text(value);
        if (row.at("best").get<bool>()) line += "  best";
        if (row.at("pinned").get<bool>()) line += "  pinned";
        if (!row.at("valid").get<bool>()) line += "  cannot be used: " + text(row.at("problem"));
        print(line);
    }
}

/// The newest confusion matrix: a row for each actual class, columns for the predicted ones, as wide as they need.
static void printConfusion(const json& facts) {
    const json table = facts.value("confusion", json());
    if (!table.is_object() || !table.contains("columns") || !table.contains("rows")) return;
    json lines = table.at("rows");
    lines.insert(lines.begin(), table.at("columns"));
    std::vector<std::size_t> widths;
    for (const json& line : lines)
        for (std::size_t i = 0; i < line.size(); ++i) {
            if (widths.size() <= i) widths.push_back(0);
            widths[i] = std::max(widths[i], text(line[i]).size());
        }
    print("confusion at step " + text(table.value("step", json())) + " (columns: predicted):");
    for (const json& line : lines) {
        std::string out;
        for (std::size_t i = 0; i < line.size(); ++i) {
            const std::string cell = text(line[i]);
            out += "  " + std::string(widths[i] - cell.size(), ' ') + cell;
        }
        print(out);
    }
}

/// What a script of one's own logged beside its curves.
static void printRecords(const json& facts) {
    const json kept = facts.value("own_checkpoints", json::array()), records = facts.value("records", json::array());
    if (!kept.empty()) print("checkpoints that the script keeps itself:");
    for (const json& row : kept) {
        std::string line = "  step " + text(row.at("step")) + "  " + text(row.value("path", json()));
        const json metrics = row.value("metrics", json::object());
        for (const auto& [name, value] : metrics.items()) line += "  " + name + " " + text(value);
        print(line);
    }
    const json summary = facts.value("summary", json::object());
    for (const auto& [name, value] : summary.items()) print("summary " + name + ": " + text(value));
    if (!records.empty()) print("also logged (lathe-trainer records):");
    for (const json& row : records)
        print("  " + text(row.at("type")) + " " + text(row.at("name")) + ": " + text(row.at("count")) + ", steps " + text(row.at("first_step")) + " to " + text(row.at("last_step")));
}

/// What an import found of them: its configuration stands nowhere else.
static void printImported(const json& facts) {
    if (facts.at("kind") != "imported" || facts.at("settings").empty()) return;
    print("settings, as the logs tell them:");
    for (const auto& [name, value] : facts.at("settings").items()) print("  " + name + ": " + text(value));
}

static void printGroups(const json& facts) {
    if (facts.at("groups").empty()) return;
    print("parameters:");
    for (const json& group : facts.at("groups"))
        if (group.is_object()) print("  " + text(group.value("name", json())) + ": " + text(group.value("text", json())));
}

static void printCommand(const json& facts) {
    const json& command = facts.at("command");
    if (command.is_null()) return;
    print("command " + text(command.at("line")) + " in " + text(command.at("folder")));
    for (const auto& [name, value] : command.at("arguments").items()) print("  " + name + " " + text(value));
    const json& environment = facts.at("environment");
    if (const std::string commit = environment.value("git.commit", ""); !commit.empty())
        print("  commit " + commit + " of " + (environment.value("git.branch", "").empty() ? "no branch" : environment.value("git.branch", "")) + ", changed: " + environment.value("git.dirty", ""));
}

/// `keepsItsOwn`: a script's run, whose checkpoints are not ours to count.
static std::string bestText(const json& best, bool keepsItsOwn) {
    std::string out = "best " + text(best.at("metric")) + " " + text(best.at("value")) + " at step " + text(best.at("step"));
    if (keepsItsOwn) return out;
    if (!best.contains("checkpoint")) return out + ", of which there is no checkpoint here";
    const json& checkpoint = best.at("checkpoint");
    return checkpoint.at("step") == best.at("step") ? out : out + ", of which there is no checkpoint here; @best means step " + text(checkpoint.at("step"));
}

static void printWarnings(const json& facts) {
    constexpr std::size_t kShown = 10;
    const json warnings = facts.value("warnings", json::array());
    if (warnings.empty()) return;
    print("warnings:");
    for (std::size_t i = 0; i < std::min(kShown, warnings.size()); ++i) print("  " + text(warnings[i].at("text")));
    if (warnings.size() > kShown) print("  and older ones (--json)");
}

ExitCode show(const Options& options) {
    const auto run = runToRead(options);
    if (!run) return fail(options, run.error());
    const json facts = showJson(*run);
    if (options.json) {
        printJson(facts);
        return ExitCode::Completed;
    }
    print(text(facts.at("name")) + " (" + text(facts.at("id")) + "): " + text(facts.at("state"))
          + (text(facts.at("why")).empty() ? "" : ". " + text(facts.at("why"))));
    if (facts.at("state") == rundir::name(rundir::State::Interrupted))
        print(facts.at("command").is_null() ? "lathe-trainer continue " + run->name() + " goes on" : "The script was ended with it; lathe-trainer again " + run->name() + " starts it anew");
    for (const std::string& line : remedyLines(*run)) print(line);
    print("in " + text(facts.at("folder")));
    if (!facts.at("parent").is_null()) {
        const json& parent = facts.at("parent");
        print(text(parent.at("verb")) + " of run " + text(parent.at("run")) + (text(parent.at("checkpoint")).empty() ? "" : " from " + text(parent.at("checkpoint"))));
    }
    printCommand(facts);
    if (!facts.at("best").is_null()) print(bestText(facts.at("best"), !facts.at("command").is_null()));
    printImported(facts);
    printGroups(facts);
    printSessions(facts);
    printCheckpoints(facts);
    printConfusion(facts);
    printRecords(facts);
    printWarnings(facts);
    if (!facts.at("series").empty()) print("series:");
    for (const json& row : facts.at("series"))
        print("  " + text(row.at("name")) + ": " + text(row.at("points")) + " points, last " + text(row.at("last")) + ", min " + text(row.at("min")) + ", max " + text(row.at("max"))
              + (row.value("non_finite", 0) > 0 ? ", " + text(row.at("non_finite")) + " not finite" : ""));
    for (const char* problem : {"problem", "database_problem"})
        if (facts.contains(problem)) tell(text(facts.at(problem)));
    return ExitCode::Completed;
}

}  // namespace lathe::trainer
