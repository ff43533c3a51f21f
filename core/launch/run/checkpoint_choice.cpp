#include "launch/run/checkpoint_choice.h"

#include "base/file_system.h"
#include "base/number_text.h"
#include "config/metrics.h"
#include "launch/run/run_settings.h"
#include "launch/run/session_row.h"
#include "launch/run/undo.h"
#include "rundir/checkpoint_manifest.h"
#include "store/run_store.h"

#include <algorithm>
#include <limits>

namespace lathe::launch {

using rundir::CheckpointInfo;
using rundir::RunFolder;

/// The surviving line by the records of the sessions, also where run.sqlite is damaged. What a fork began from counts as
/// its session 0.
static Result<std::vector<store::LinePart>> lineOf(const RunFolder& run) {
    LATHE_TRY_ASSIGN(const int newest, rundir::readNewestSession(run));
    std::vector<store::SessionRow> rows;
    for (int session = 1; session <= newest; ++session) {
        const auto record = rundir::readSession(run, session);
        if (record && record->undone) continue;   // nothing of it counts, not even a checkpoint that it began with
        const bool isLost = !record && (record.error().code == ErrorCode::Corrupt || record.error().code == ErrorCode::NotFound);
        if (!record && !isLost) return record.error();
        rows.push_back(record ? rowOf(*record) : store::SessionRow{.number = session});
    }
    std::vector<store::LinePart> line = store::survivingLine(rows);
    const auto first = line.empty() ? Result<rundir::SessionRecord>(Error{}) : rundir::readSession(run, line.back().session);
    if (first && first->parentSession == 0 && !first->checkpoint.empty() && !first->weightsOnly) line.push_back({0, std::numeric_limits<std::int64_t>::max()});
    return line;
}

static bool isOnLine(const CheckpointInfo& info, const store::LinePart& part) {
    return info.problem.empty() && info.session == part.session && info.attempt.value() <= part.lastAttempt;
}

Result<std::string> readNewestOnLine(const RunFolder& run) {
    LATHE_TRY_ASSIGN(const auto line, lineOf(run));
    LATHE_TRY_ASSIGN(const auto all, rundir::readCheckpoints(run.checkpoints()));
    for (const auto& part : line) {
        const auto found = std::find_if(all.rbegin(), all.rend(), [&](const CheckpointInfo& info) { return isOnLine(info, part); });
        if (found != all.rend()) return found->folder;
    }
    return std::string();
}

std::string newestOnLine(const RunFolder& run) {
    auto newest = readNewestOnLine(run);
    return newest ? std::move(*newest) : std::string();
}

Result<std::vector<std::string>> lineUpTo(const RunFolder& run, std::int64_t step) {
    std::vector<std::string> found;
    LATHE_TRY_ASSIGN(const auto line, lineOf(run));
    LATHE_TRY_ASSIGN(const auto all, rundir::readCheckpoints(run.checkpoints()));
    for (const auto& part : line)
        for (auto info = all.rbegin(); info != all.rend(); ++info)
            if (isOnLine(*info, part) && info->step.value() <= step) found.push_back(info->folder);
    return found;
}

static Result<std::vector<CheckpointInfo>> unusableAfter(const RunFolder& run, const std::string& chosen) {
    std::vector<CheckpointInfo> out;
    LATHE_TRY_ASSIGN(const auto line, lineOf(run));
    LATHE_TRY_ASSIGN(auto all, rundir::readCheckpoints(run.checkpoints()));
    for (CheckpointInfo& info : all) {
        if (info.folder == chosen) out.clear();  // they are in order: what follows is newer
        const bool ofLine = std::any_of(line.begin(), line.end(), [&](const auto& part) { return part.session == info.session; });
        if (!info.problem.empty() && ofLine) out.push_back(std::move(info));
    }
    return out;
}

static std::string unusableText(const std::vector<CheckpointInfo>& all) {
    std::string out;
    for (const CheckpointInfo& info : all) out += (out.empty() ? "" : "; ") + info.folder + " cannot be used: " + info.problem;
    return out;
}

Result<std::string> passedOver(const RunFolder& run, const std::string& chosen) {
    LATHE_TRY_ASSIGN(const auto passed, unusableAfter(run, chosen));
    return unusableText(passed);
}

Result<std::string> passedOverNotice(const RunFolder& run, const std::string& chosen, std::int64_t notAfter, const std::string& unread) {
    LATHE_TRY_ASSIGN(auto passed, unusableAfter(run, chosen));
    std::erase_if(passed, [&](const CheckpointInfo& info) { return info.step.value() > notAfter; });
    std::string out = unusableText(passed);
    if (!unread.empty()) out += (out.empty() ? "" : "; ") + unread;
    if (out.empty()) return out;
    const auto from = rundir::parseCheckpointName(chosen);
    std::int64_t lost = 0;
    for (const CheckpointInfo& info : passed) lost = std::max(lost, info.step.value() - (from ? from->step.value() : 0));
    out += ". Goes on from " + (chosen.empty() ? "the start" : chosen);
    return lost > 0 ? out + "; " + std::to_string(lost) + (lost == 1 ? " update that was" : " updates that were") + " saved after it must be made once more" : out;
}

Result<std::string> bestCheckpoint(const RunFolder& run) {
    LATHE_TRY_ASSIGN(const config::RunConfig config, configOf(run, rundir::newestSession(run)));
    LATHE_TRY_ASSIGN(const config::Metric metric, config::bestMetric(config));
    const std::string series = "eval/" + metric.name;
    LATHE_TRY_ASSIGN(const auto all, rundir::readCheckpoints(run.checkpoints()));
    const auto ranked = rundir::bestFirst(all, series, metric.higherIsBetter);
    if (!ranked.empty()) return ranked.front()->folder;
    return Error{ErrorCode::NotFound, "No usable checkpoint of " + run.name() + " has a value of " + series + " (evaluation.best_metric)", {}, {}};
}

static Result<std::string> atStep(const RunFolder& run, const std::vector<CheckpointInfo>& all, std::int64_t step, bool usable) {
    const auto matches = [&](const CheckpointInfo& info) { return info.step == GlobalStep(step) && (info.problem.empty() || (!usable && !info.folder.starts_with('.'))); };
    LATHE_TRY_ASSIGN(const auto line, lineOf(run));
    for (const auto& part : line) {
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

static Result<std::string> resolve(const RunFolder& run, const std::string& which, bool usable) {
    LATHE_TRY_ASSIGN(const auto all, rundir::readCheckpoints(run.checkpoints()));
    if (which == "best") return bestCheckpoint(run);
    if (which == "latest") {
        LATHE_TRY_ASSIGN(const std::string newest, readNewestOnLine(run));
        if (!newest.empty()) return newest;
        return Error{ErrorCode::NotFound, run.name() + " has no checkpoint that can be used", {}, {}};
    }
    if (const auto step = readInteger(which); step && *step >= 0) {
        auto found = atStep(run, all, *step, true);
        return found || usable ? found : atStep(run, all, *step, false);
    }
    for (const CheckpointInfo& info : all) {
        if (info.folder != which) continue;
        if (info.problem.empty()) return which;
        return Error{ErrorCode::Corrupt, "Checkpoint " + which + " cannot be used: " + info.problem, {}, {}};
    }
    return Error{ErrorCode::NotFound, run.name() + " has no checkpoint \"" + which + "\"; name a step, a folder, best or latest", {}, {}};
}

/// RUN@WHICH as its two parts. What names a run alone means its newest checkpoint; best, a step or a checkpoint's folder
/// alone are those of the newest run.
static Result<std::pair<RunFolder, std::string>> parted(const std::filesystem::path& workspace, const std::string& reference) {
    const std::size_t at = reference.rfind('@');
    if (at == 0 || at + 1 == reference.size() || reference.empty())
        return Error{ErrorCode::Usage, "\"" + reference + "\" names no checkpoint; write RUN@STEP, RUN@best or RUN@latest", {}, {}};
    if (at != std::string::npos) {
        LATHE_TRY_ASSIGN(RunFolder run, rundir::findRun(workspace, reference.substr(0, at)));
        return std::pair(std::move(run), reference.substr(at + 1));
    }
    const auto step = readInteger(reference);
    const bool isPart = reference == "best" || (step && *step >= 0) || rundir::parseCheckpointName(reference);
    auto run = rundir::findRun(workspace, reference);
    if (run) return std::pair(std::move(*run), std::string("latest"));
    if (!isPart) return std::move(run).error();
    LATHE_TRY_ASSIGN(RunFolder newest, rundir::findRun(workspace, "latest"));
    return std::pair(std::move(newest), reference);
}

static Result<std::pair<RunFolder, std::string>> find(const std::filesystem::path& workspace, const std::string& reference, bool usable) {
    LATHE_TRY_ASSIGN(auto parts, parted(workspace, reference));
    auto& [run, which] = parts;
    LATHE_TRY(refuseWithoutCheckpoints(run));
    std::error_code ignored;
    if (!usable && rundir::parseCheckpointName(which) && std::filesystem::is_directory(run.checkpoints() / which, ignored))
        return parts;
    LATHE_TRY_ASSIGN(which, resolve(run, which, usable));
    return parts;
}

Result<std::pair<RunFolder, std::string>> findCheckpoint(const std::filesystem::path& workspace, const std::string& reference) {
    return find(workspace, reference, true);
}

Result<HeldCheckpoint> holdCheckpoint(const std::filesystem::path& workspace, const std::string& reference) {
    for (int tries = 1;; ++tries) {   // "latest" may be another one by now
        LATHE_TRY_ASSIGN(auto found, findCheckpoint(workspace, reference));
        auto hold = rundir::CheckpointHold::take(found.first.checkpoints() / found.second);
        if (hold) return HeldCheckpoint{std::move(found.first), std::move(found.second), std::move(*hold)};
        if (hold.error().code != ErrorCode::NotFound || tries == 20) return std::move(hold).error();
    }
}

Result<std::pair<RunFolder, std::string>> findAnyCheckpoint(const std::filesystem::path& workspace, const std::string& reference) {
    return find(workspace, reference, false);
}

}  // namespace lathe::launch
