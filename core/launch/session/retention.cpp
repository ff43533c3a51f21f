#include "launch/session/retention.h"

#include "base/file_system.h"
#include "base/lasting.h"
#include "base/log.h"
#include "config/metrics.h"
#include "launch/run/run_settings.h"
#include "launch/run/session_row.h"
#include "rundir/checkpoint_publishing.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <sys/stat.h>

namespace lathe::launch {

using rundir::KeepReason;

/// What the sessions say about checkpoints: which are in use or what the run began from, and what going back left, of which the
/// newest usable one of each branch is wanted. Fails where that cannot be read just now; where it is damaged nothing counts as left.
static Result<rundir::KeepFacts> factsOf(const rundir::RunFolder& run, const std::vector<rundir::CheckpointInfo>& all) {
    rundir::KeepFacts facts;
    std::vector<store::SessionRow> sessions;
    std::map<int, std::int64_t> goneOnFrom;  // session: the last attempt of it that a later session goes on from
    std::set<int> undone;                    // of which nothing counts, not even a checkpoint that it began with
    LATHE_TRY_ASSIGN(const int current, rundir::readNewestSession(run));
    for (int session = current; session > 0; --session) {
        auto record = rundir::readSession(run, session);
        if (!record && !isLasting(record.error())) return std::move(record).error();
        if (!record) continue;
        sessions.push_back(rowOf(*record));
        if (record->undone) undone.insert(session);
        if (record->parentSession == 0 || record->undone) continue;
        std::int64_t& attempt = goneOnFrom[record->parentSession];
        attempt = std::max(attempt, record->parentAttempt);
    }
    std::map<int, std::int64_t> line;        // session: up to which attempt it belongs to the line that goes on
    for (const store::LinePart& part : store::survivingLine(sessions)) line[part.session] = part.lastAttempt;
    const bool isLineKnown = current > 0 && static_cast<int>(sessions.size()) == current;
    std::map<int, const rundir::CheckpointInfo*> newest;
    for (const auto& info : all) {  // in order
        if (!info.problem.empty()) continue;
        newest[info.session] = &info;
        if (isLineKnown && info.session > 0 && (undone.contains(info.session) || !line.contains(info.session) || info.attempt.value() > line[info.session])) facts.left.insert(info.folder);
    }
    for (const auto& [session, info] : newest) {
        const auto goneOn = goneOnFrom.find(session);
        if (session == 0) facts.wanted.emplace(info->folder, KeepReason::Origin);
        else if (session != current && !undone.contains(session) && (goneOn == goneOnFrom.end() || info->attempt.value() > goneOn->second)) facts.wanted.emplace(info->folder, KeepReason::LeftBranch);
    }
    return facts;
}

/// Bytes of files that have no other name, of those that the size of the whole checkpoint counts.
static std::uint64_t ownBytes(const std::filesystem::path& folder) {
    std::uint64_t bytes = 0;
    const auto manifest = rundir::readCheckpoint(folder);
    std::vector<std::string> names;
    if (manifest) std::transform(manifest->files.begin(), manifest->files.end(), std::back_inserter(names), [](const auto& file) { return file.name; });
    else if (auto all = listFolder(folder)) names = std::move(*all);
    for (const std::string& name : names) {
        struct stat info {};
        if (::lstat((folder / name).c_str(), &info) == 0 && info.st_nlink == 1) bytes += static_cast<std::uint64_t>(info.st_size);
    }
    return bytes;
}

static Result<rundir::KeepRule> ruleOf(const config::RunConfig& config) {
    LATHE_TRY_ASSIGN(const config::Metric best, config::bestMetric(config));
    return rundir::KeepRule{config.checkpoint.keepLast, config.checkpoint.keepBest, config.checkpoint.keepEvery, "eval/" + best.name, best.higherIsBetter};
}

static Result<std::vector<rundir::KeepChoice>> choose(const rundir::RunFolder& run, const std::vector<rundir::CheckpointInfo>& all, const rundir::UserRecord& user,
                                                      const rundir::KeepRule& rule, const std::vector<std::string>& inUse) {
    LATHE_TRY_ASSIGN(rundir::KeepFacts facts, factsOf(run, all));
    for (const std::string& folder : user.forked) facts.wanted.emplace(folder, KeepReason::Parent);
    for (const std::string& folder : inUse) facts.wanted.emplace(folder, KeepReason::InUse);
    return rundir::chooseKept(all, rule, facts);
}

Result<std::vector<PlannedCheckpoint>> planRetention(const rundir::RunFolder& run, const config::RunConfig& config) {
    LATHE_TRY_ASSIGN(const rundir::SessionRecord record, rundir::readSession(run, rundir::newestSession(run)));
    LATHE_TRY_ASSIGN(const rundir::UserRecord user, rundir::readUser(run));
    LATHE_TRY_ASSIGN(const rundir::KeepRule rule, ruleOf(config));
    std::vector<rundir::CheckpointInfo> all = rundir::listCheckpoints(run.checkpoints(), user.pinned);
    const std::vector<std::string> inUse = record.state ? std::vector<std::string>() : std::vector{record.checkpoint};
    LATHE_TRY_ASSIGN(std::vector<rundir::KeepChoice> now, choose(run, all, user, rule, inUse));
    // One more, later than all, whatever it is worth.
    rundir::CheckpointInfo one;
    one.session = record.number;
    one.step = GlobalStep(std::numeric_limits<std::int64_t>::max());
    one.attempt = UpdateAttempt(std::numeric_limits<std::int64_t>::max());
    all.push_back(one);
    LATHE_TRY_ASSIGN(const std::vector<rundir::KeepChoice> next, choose(run, all, user, rule, {record.checkpoint}));
    all.pop_back();
    std::vector<PlannedCheckpoint> plan;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::uint64_t own = ownBytes(run.checkpoints() / all[i].folder);
        std::string why = rundir::textOf(now[i], rule);
        plan.push_back({std::move(all[i]), std::move(now[i]), std::move(why), !next[i].kept(), own});
    }
    return plan;
}

Result<std::vector<PlannedCheckpoint>> planRetention(const rundir::RunFolder& run) {
    LATHE_TRY_ASSIGN(const config::RunConfig config, configOf(run, rundir::newestSession(run)));
    return planRetention(run, config);
}

/// Which of `all` stay.
static Result<std::vector<bool>> stays(const rundir::RunFolder& run, const std::vector<rundir::CheckpointInfo>& all, const Result<rundir::UserRecord>& user,
                                       const config::RunConfig& config, const std::vector<std::string>& inUse) {
    constexpr const char* kNone = "No checkpoint is removed because ";
    if (!user) return Error{user.error().code, kNone + ("the pinned ones are not known: " + user.error().text()), {}, {}};
    const auto rule = ruleOf(config);
    if (!rule) return Error{rule.error().code, kNone + ("the best one is not known: " + rule.error().text()), {}, {}};
    const auto choices = choose(run, all, *user, *rule, inUse);
    if (!choices) return Error{choices.error().code, kNone + ("the sessions are not known: " + choices.error().text()), {}, {}};
    std::vector<bool> kept;
    std::transform(choices->begin(), choices->end(), std::back_inserter(kept), [](const rundir::KeepChoice& choice) { return choice.kept(); });
    return kept;
}

AppliedRetention applyRetention(FileSystem& fs, const rundir::RunFolder& run, const config::RunConfig& config, store::RunWriter& writer,
                                const std::vector<std::string>& inUse) {
    AppliedRetention out;
    const auto note = [&](Error error) {
        if (out.done) out.done = std::move(error);
        else log::warning(error.text());
    };
    const auto user = rundir::readUser(run);
    const auto all = rundir::readCheckpoints(run.checkpoints(), user ? user->pinned : std::vector<std::string>());
    const auto kept = all ? stays(run, *all, user, config, inUse) : Result<std::vector<bool>>(all.error());
    if (!kept) note(kept.error());
    std::set<std::string> there;
    for (std::size_t i = 0; all && i < all->size(); ++i) {
        const rundir::CheckpointInfo& info = (*all)[i];
        there.insert(info.folder);
        if (info.isUnread) note({ErrorCode::Io, "Checkpoint " + info.folder + " stays because it cannot be read just now: " + info.problem, {}, {}});
        if (kept && !(*kept)[i]) {
            auto removed = rundir::removeCheckpoint(fs, run.checkpoints(), info.folder);
            if (removed) there.erase(info.folder);
            else if (removed.error().code != ErrorCode::Busy) note(std::move(removed).error());   // one that is read goes afterwards
        } else if (info.problem.empty() && info.verifiedNs == 0) {
            out.notReRead.push_back(info.folder);
        }
    }
    if (auto marked = all ? writer.markDeletedBut(there) : Result<void>(); !marked) note(std::move(marked).error().in("while noting which checkpoints were removed"));
    return out;
}

}  // namespace lathe::launch
