#include "launch/retention.h"

#include "base/file_system.h"
#include "base/log.h"
#include "config/metrics.h"
#include "launch/verbs.h"
#include "rundir/checkpoint_publishing.h"

#include <algorithm>
#include <limits>
#include <map>
#include <sys/stat.h>

namespace lathe::launch {

/// What going back left: the newest usable checkpoint of each branch. And what the run began from.
static void addTips(const rundir::RunFolder& run, const std::vector<rundir::CheckpointInfo>& all, std::multimap<std::string, std::string>& wanted) {
    std::map<int, std::int64_t> goneOnFrom;  // session: the last attempt of it that a later session goes on from
    const int current = rundir::newestSession(run);
    for (int session = current; session > 0; --session) {
        const auto record = rundir::readSession(run, session);
        if (!record || record->parentSession == 0) continue;
        std::int64_t& attempt = goneOnFrom[record->parentSession];
        attempt = std::max(attempt, record->parentAttempt);
    }
    std::map<int, const rundir::CheckpointInfo*> newest;
    for (const auto& info : all) {  // in order
        if (info.problem.empty()) newest[info.session] = &info;
    }
    for (const auto& [session, info] : newest) {
        const auto goneOn = goneOnFrom.find(session);
        if (session == 0) wanted.emplace(info->folder, "the run began from it");
        else if (session != current && (goneOn == goneOnFrom.end() || info->attempt.value() > goneOn->second)) wanted.emplace(info->folder, "newest of a branch that was left");
    }
}

/// Bytes on disk of files that have no other name.
static std::uint64_t ownBytes(const std::filesystem::path& folder) {
    std::uint64_t bytes = 0;
    const auto names = listFolder(folder);
    for (std::size_t i = 0; names && i < names->size(); ++i) {
        struct stat info {};
        if (::lstat((folder / (*names)[i]).c_str(), &info) == 0 && info.st_nlink == 1) bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
    }
    return bytes;
}

static Result<std::vector<rundir::KeepChoice>> choose(const rundir::RunFolder& run, const std::vector<rundir::CheckpointInfo>& all, const rundir::UserRecord& user,
                                                      const config::RunConfig& config, const std::vector<std::string>& inUse) {
    LATHE_TRY_ASSIGN(const config::Metric best, config::bestMetric(config));
    std::multimap<std::string, std::string> wanted;
    for (const std::string& folder : user.forked) wanted.emplace(folder, "another run was made from it");
    for (const std::string& folder : inUse) wanted.emplace(folder, "in use");
    addTips(run, all, wanted);
    return rundir::chooseKept(all, {config.checkpoint.keepLast, config.checkpoint.keepBest, config.checkpoint.keepEvery, "eval/" + best.name, best.higherIsBetter}, wanted);
}

Result<std::vector<PlannedCheckpoint>> planRetention(const rundir::RunFolder& run, const config::RunConfig& config, const std::vector<std::string>& inUse) {
    LATHE_TRY_ASSIGN(const rundir::UserRecord user, rundir::readUser(run));
    std::vector<rundir::CheckpointInfo> all = rundir::listCheckpoints(run.checkpoints(), user.pinned);
    LATHE_TRY_ASSIGN(std::vector<rundir::KeepChoice> choices, choose(run, all, user, config, inUse));
    std::vector<PlannedCheckpoint> plan;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::uint64_t own = ownBytes(run.checkpoints() / all[i].folder);
        plan.push_back({std::move(all[i]), std::move(choices[i]), own});
    }
    return plan;
}

Result<std::vector<std::string>> goesNext(const rundir::RunFolder& run) {
    const int newest = rundir::newestSession(run);
    LATHE_TRY_ASSIGN(const config::RunConfig config, configOf(run, newest));
    LATHE_TRY_ASSIGN(const rundir::SessionRecord record, rundir::readSession(run, newest));
    LATHE_TRY_ASSIGN(const rundir::UserRecord user, rundir::readUser(run));
    std::vector<rundir::CheckpointInfo> all = rundir::listCheckpoints(run.checkpoints(), user.pinned);
    rundir::CheckpointInfo next;
    next.session = newest;
    next.step = GlobalStep(std::numeric_limits<std::int64_t>::max());
    next.attempt = UpdateAttempt(std::numeric_limits<std::int64_t>::max());
    all.push_back(next);
    LATHE_TRY_ASSIGN(const std::vector<rundir::KeepChoice> choices, choose(run, all, user, config, {record.checkpoint}));
    std::vector<std::string> names;
    for (const rundir::KeepChoice& choice : choices)
        if (!choice.kept) names.push_back(choice.folder);
    return names;
}

/// Which of `all` stay; all of them where that cannot be told.
static std::vector<bool> stays(const rundir::RunFolder& run, const std::vector<rundir::CheckpointInfo>& all, const Result<rundir::UserRecord>& user,
                               const config::RunConfig& config, const std::vector<std::string>& inUse) {
    std::vector<bool> kept(all.size(), true);
    if (!user) {
        log::warning("No checkpoint is removed because the pinned ones are not known: " + user.error().text());
        return kept;
    }
    const auto choices = choose(run, all, *user, config, inUse);
    if (!choices) log::warning("No checkpoint is removed because the best one is not known: " + choices.error().text());
    for (std::size_t i = 0; choices && i < all.size(); ++i) kept[i] = (*choices)[i].kept;
    return kept;
}

std::vector<std::string> applyRetention(FileSystem& fs, const rundir::RunFolder& run, const config::RunConfig& config, store::RunWriter& writer,
                                        const std::vector<std::string>& inUse) {
    const auto user = rundir::readUser(run);
    const auto all = rundir::listCheckpoints(run.checkpoints(), user ? user->pinned : std::vector<std::string>());
    const std::vector<bool> kept = stays(run, all, user, config, inUse);
    std::vector<std::string> unread;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (kept[i]) {
            if (all[i].problem.empty() && all[i].verifiedNs == 0) unread.push_back(all[i].folder);
            continue;
        }
        auto removed = rundir::removeCheckpoint(fs, run.checkpoints(), all[i].folder);
        if (removed) removed = writer.markCheckpointDeleted(all[i].folder);
        if (!removed) log::warning(removed.error().text());
    }
    return unread;
}

}  // namespace lathe::launch
