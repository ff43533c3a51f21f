// What is true about a run, and which checkpoints lie on its surviving line.
#include "launch/verbs.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/number_text.h"
#include "config/metrics.h"
#include "launch/identity.h"
#include "rundir/checkpoint_manifest.h"

#include <algorithm>
#include <limits>

namespace lathe::launch {

using rundir::CheckpointInfo;
using rundir::RunFolder;
using rundir::State;

static Standing elsewhere(const RunFolder& run, const std::string& host) {
    Standing out;
    out.onThisHost = false;
    const auto summary = rundir::readSummary(run);
    if (!summary) return {State::Lost, "On " + host + "; its summary.json cannot be read", false};
    out.state = summary->state;
    const double age = static_cast<double>(Clock::system().wallNs() - summary->updatedNs) / 1e9;
    out.why = "On " + host + ", seen " + durationText(std::max(0.0, age)) + " ago";
    return out;
}

static Standing whileHeld(const RunFolder& run) {
    const auto summary = rundir::readSummary(run);
    if (summary && rundir::isAlive(summary->state)) return {summary->state, summary->why, true};
    return {State::Starting, {}, true};
}

/// The lock is free and no exit record was written.
static Standing withoutRecord(const RunFolder& run, const std::optional<rundir::LiveRecord>& live) {
    if (rundir::RunLock::isHeld(run.workersLock()))
        return {State::Stopping, "Its supervisor was lost; the worker finishes its update and saves", true};
    if (!live) return {State::Interrupted, "It was interrupted before its worker started", true};
    if (live->supervisor.bootId != bootId()) return {State::Interrupted, "The machine was restarted while it ran", true};
    return {State::Interrupted, "Its supervisor was lost", true};
}

Standing standingOf(const RunFolder& run) {
    const auto live = rundir::readLive(run);
    if (live && *live && (*live)->supervisor.host != hostName()) return elsewhere(run, (*live)->supervisor.host);
    // Asked first: the record is written before the lock is released.
    const bool held = rundir::RunLock::isHeld(run.lock());
    const int newest = rundir::newestSession(run);
    if (newest == 0) return {State::Lost, "There is no session in this run folder", true};
    const auto record = rundir::readSession(run, newest);
    if (!record) return {State::Lost, record.error().text(), true};
    if (record->state) return {*record->state, record->why, true};  // also while a short verb holds the lock
    if (held) return whileHeld(run);
    return withoutRecord(run, live ? *live : std::nullopt);
}

Result<config::RunConfig> configOf(const RunFolder& run, int session) {
    const auto file = run.sessionYaml(session);
    LATHE_TRY_ASSIGN(const std::string yaml, readFile(file, 1u << 20));
    const config::Loaded loaded = config::parse(yaml, run.root());
    for (const config::Problem& problem : loaded.problems) {
        if (problem.severity == config::Severity::Error)
            return Error{ErrorCode::Config, file.string() + " cannot be used: " + problem.sentence, problem.key, {}};
    }
    return loaded.config;
}

/// Sessions of the line from the newest back, each with the last update attempt of it that belongs to the line.
static std::vector<std::pair<int, std::int64_t>> lineOf(const RunFolder& run) {
    std::vector<std::pair<int, std::int64_t>> line;
    std::int64_t last = std::numeric_limits<std::int64_t>::max();
    for (int session = rundir::newestSession(run); session > 0;) {
        line.emplace_back(session, last);
        const auto record = rundir::readSession(run, session);
        if (!record) break;
        if (record->parentSession >= session) break;  // a damaged record must not lead in circles
        last = record->parentAttempt;
        if (record->parentSession == 0 && !record->checkpoint.empty() && !record->weightsOnly) line.emplace_back(0, std::numeric_limits<std::int64_t>::max());
        session = record->parentSession;
    }
    return line;
}

static bool isOnLine(const CheckpointInfo& info, const std::pair<int, std::int64_t>& part) {
    return info.problem.empty() && info.session == part.first && info.attempt.value() <= part.second;
}

static std::vector<CheckpointInfo> checkpointsOf(const RunFolder& run) {
    const auto user = rundir::readUser(run);
    return rundir::listCheckpoints(run.checkpoints(), user ? user->pinned : std::vector<std::string>());
}

std::string newestOnLine(const RunFolder& run) {
    const auto all = checkpointsOf(run);
    for (const auto& part : lineOf(run)) {
        const auto found = std::find_if(all.rbegin(), all.rend(), [&](const CheckpointInfo& info) { return isOnLine(info, part); });
        if (found != all.rend()) return found->folder;
    }
    return {};
}

std::string passedOver(const RunFolder& run, const std::string& chosen) {
    std::string out;
    const auto line = lineOf(run);
    for (const CheckpointInfo& info : checkpointsOf(run)) {
        if (info.folder == chosen) out.clear();  // they are in order: what follows is newer
        const bool ofLine = std::any_of(line.begin(), line.end(), [&](const auto& part) { return part.first == info.session; });
        if (info.problem.empty() || !ofLine) continue;
        out += (out.empty() ? "" : "; ") + info.folder + " cannot be used: " + info.problem;
    }
    return out;
}

static Result<std::string> bestOf(const RunFolder& run, const std::vector<CheckpointInfo>& all) {
    LATHE_TRY_ASSIGN(const config::RunConfig config, configOf(run, rundir::newestSession(run)));
    LATHE_TRY_ASSIGN(const config::Metric metric, config::bestMetric(config));
    const std::string series = "eval/" + metric.name;
    const CheckpointInfo* best = nullptr;
    double bestValue = 0;
    for (const CheckpointInfo& info : all) {
        const auto found = info.metrics.find(series);
        const auto value = info.problem.empty() && found != info.metrics.end() ? readDouble(found->second) : std::nullopt;
        if (!value || *value != *value) continue;
        if (best != nullptr && !(metric.higherIsBetter ? *value > bestValue : *value < bestValue)) continue;
        best = &info;
        bestValue = *value;
    }
    if (best != nullptr) return best->folder;
    return Error{ErrorCode::NotFound, "No checkpoint of " + run.name() + " has " + series, {}, {}};
}

static Result<std::string> atStep(const RunFolder& run, const std::vector<CheckpointInfo>& all, std::int64_t step) {
    const auto matches = [&](const CheckpointInfo& info) { return info.step == GlobalStep(step) && info.problem.empty(); };
    for (const auto& part : lineOf(run)) {
        for (const CheckpointInfo& info : all) {
            if (matches(info) && isOnLine(info, part)) return info.folder;
        }
    }
    const auto other = std::find_if(all.rbegin(), all.rend(), matches);  // on an abandoned branch
    if (other != all.rend()) return other->folder;
    std::string steps;
    for (const CheckpointInfo& info : all) {
        if (info.problem.empty()) steps += (steps.empty() ? "" : ", ") + std::to_string(info.step.value());
    }
    return Error{ErrorCode::NotFound, run.name() + " has no checkpoint at step " + std::to_string(step)
                 + (steps.empty() ? "; it has none that can be used" : "; there are: " + steps), {}, {}};
}

static Result<std::string> resolve(const RunFolder& run, const std::string& which) {
    const auto all = checkpointsOf(run);
    if (which == "best") return bestOf(run, all);
    if (which == "latest") {
        const std::string newest = newestOnLine(run);
        if (!newest.empty()) return newest;
        return Error{ErrorCode::NotFound, run.name() + " has no checkpoint that can be used", {}, {}};
    }
    if (const auto step = readInteger(which); step && *step >= 0) return atStep(run, all, *step);
    for (const CheckpointInfo& info : all) {
        if (info.folder != which) continue;
        if (info.problem.empty()) return which;
        return Error{ErrorCode::Corrupt, "Checkpoint " + which + " cannot be used: " + info.problem, {}, {}};
    }
    return Error{ErrorCode::NotFound, run.name() + " has no checkpoint \"" + which + "\"; name a step, a folder, best or latest", {}, {}};
}

Result<std::pair<RunFolder, std::string>> findCheckpoint(const std::filesystem::path& workspace, const std::string& reference) {
    const std::size_t at = reference.rfind('@');
    if (at == std::string::npos || at == 0 || at + 1 == reference.size()) {
        return Error{ErrorCode::Usage, "\"" + reference + "\" names no checkpoint; write RUN@STEP, RUN@best or RUN@latest", {}, {}};
    }
    LATHE_TRY_ASSIGN(RunFolder run, rundir::findRun(workspace, reference.substr(0, at)));
    LATHE_TRY_ASSIGN(std::string folder, resolve(run, reference.substr(at + 1)));
    return std::pair(std::move(run), std::move(folder));
}

}  // namespace lathe::launch
