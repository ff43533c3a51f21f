// checkpoints: what there is of a run, and which of it the rule keeps, why, and what it would remove.
#include "actions.h"

#include "base/number_text.h"
#include "launch/run/run_settings.h"
#include "launch/session/retention.h"
#include "output.h"
#include "run_facts.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

namespace lathe::trainer {

using nlohmann::json;

static json plannedJson(const launch::PlannedCheckpoint& one) {
    const rundir::CheckpointInfo& info = one.info;
    return {{"folder", info.folder}, {"step", info.step.value()}, {"session", info.session}, {"bytes", info.bytes}, {"own_bytes", one.ownBytes},
            {"kept", one.choice.kept()}, {"why", one.why}, {"verified", timeJson(info.verifiedNs)},
            {"problem", info.problem.empty() ? json() : json(info.problem)}};
}

static std::string plannedText(const launch::PlannedCheckpoint& one) {
    const rundir::CheckpointInfo& info = one.info;
    if (info.isBeingWritten) return "  " + info.folder.substr(1) + "  is being written";
    std::string line = "  " + info.folder + "  " + diskText(info.bytes) + " (removing it frees " + diskText(one.ownBytes) + ")  " + (one.choice.kept() ? "kept: " : "would go: ") + one.why;
    if (!info.problem.empty()) return line + ": " + info.problem;
    return line + (info.verifiedNs > 0 ? "  re-read and whole" : "  not re-read yet");
}

/// Those that a script keeps itself, as it told of them: no rule of ours is about them.
static std::optional<ExitCode> listOwn(const Options& options, const rundir::RunFolder& run) {
    const json facts = showJson(run), kept = facts.value("own_checkpoints", json::array());
    if (facts.at("command").is_null() || kept.empty()) return std::nullopt;
    if (options.json) {
        printJson({{"run", displayName(run)}, {"folder", run.place().string()}, {"own_checkpoints", kept}});
        return ExitCode::Completed;
    }
    for (const json& one : kept) print("  step " + one.at("step").dump() + "  " + one.value("path", ""));
    print("The script keeps these itself; nothing here removes them or goes on from them");
    return ExitCode::Completed;
}

ExitCode checkpoints(const Options& options) {
    const auto run = runToRead(options);
    if (!run) return fail(options, run.error());
    if (const auto own = listOwn(options, *run)) return *own;
    if (const auto refused = launch::refuseWithoutCheckpoints(*run); !refused) return fail(options, refused.error());
    const auto before = launch::configOf(*run, std::max(1, rundir::newestSession(*run)));
    if (!before) return fail(options, before.error());
    const auto config = launch::withSettings(*before, options.settings);
    if (!config) return fail(options, config.error());
    const auto plan = launch::planRetention(*run, *config);
    if (!plan) return fail(options, plan.error());
    json rows = json::array();
    std::uint64_t freed = 0;
    std::size_t removed = 0;
    for (const launch::PlannedCheckpoint& one : *plan) {
        rows.push_back(plannedJson(one));
        if (!options.json) print(plannedText(one));
        removed += one.choice.kept() ? 0 : 1;
        freed += one.choice.kept() ? 0 : one.ownBytes;
    }
    const config::CheckpointSection& rule = config->checkpoint;
    if (options.json) {
        printJson({{"run", displayName(*run)}, {"folder", run->place().string()}, {"checkpoints", rows}, {"would_remove", removed}, {"would_free_bytes", freed},
                   {"rule", {{"keep_last", rule.keepLast}, {"keep_best", rule.keepBest}, {"keep_every", rule.keepEvery ? json(*rule.keepEvery) : json()}}}});
    } else {
        print("The rule (newest " + std::to_string(rule.keepLast) + ", best " + std::to_string(rule.keepBest) + (rule.keepEvery ? ", every " + std::to_string(*rule.keepEvery) + " updates" : "") +
              ") would remove " + std::to_string(removed) + " of " + std::to_string(rows.size()) + (removed > 0 ? " and give back " + diskText(freed) + " or more" : "") + ". It is applied after each save.");
    }
    return ExitCode::Completed;
}

}  // namespace lathe::trainer
