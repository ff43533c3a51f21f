#include "launch/retention.h"

#include "base/file_system.h"
#include "base/log.h"
#include "config/metrics.h"
#include "rundir/checkpoint_manifest.h"

#include <algorithm>
#include <map>

namespace lathe::launch {

Result<void> removeCheckpoint(FileSystem& fs, const rundir::RunFolder& run, const std::string& folder) {
    const auto hidden = run.checkpoints() / ("." + folder + ".removed");
    LATHE_TRY(fs.rename(run.checkpoints() / folder, hidden));
    LATHE_TRY(fs.syncFolder(run.checkpoints()));
    return removeTree(fs, hidden);
}

/// What going back left: the newest usable checkpoint of each branch. And what the run began from.
static std::vector<std::string> tipsOf(const rundir::RunFolder& run, const std::vector<rundir::CheckpointInfo>& all) {
    std::map<int, std::int64_t> goneOnFrom;  // session: the last attempt of it that a later session goes on from
    for (int session = rundir::newestSession(run); session > 0; --session) {
        const auto record = rundir::readSession(run, session);
        if (!record || record->parentSession == 0) continue;
        std::int64_t& attempt = goneOnFrom[record->parentSession];
        attempt = std::max(attempt, record->parentAttempt);
    }
    std::map<int, const rundir::CheckpointInfo*> newest;
    for (const auto& info : all) {  // in order
        if (info.problem.empty()) newest[info.session] = &info;
    }
    std::vector<std::string> tips;
    for (const auto& [session, info] : newest) {
        const auto goneOn = goneOnFrom.find(session);
        if (session == 0 || goneOn == goneOnFrom.end() || info->attempt.value() > goneOn->second) tips.push_back(info->folder);
    }
    return tips;
}

void applyRetention(FileSystem& fs, const rundir::RunFolder& run, const config::RunConfig& config, store::RunWriter& writer,
                    std::vector<std::string> inUse) {
    const auto user = rundir::readUser(run);
    if (!user) return log::warning("No checkpoint is removed because the pinned ones are not known: " + user.error().text());
    const auto all = rundir::listCheckpoints(run.checkpoints(), user->pinned);
    const auto tips = tipsOf(run, all);
    inUse.insert(inUse.end(), tips.begin(), tips.end());
    const auto best = config::bestMetric(config);
    if (!best) return log::warning("No checkpoint is removed because the best one is not known: " + best.error().text());
    for (const std::string& folder : rundir::retentionVictims(all, config.checkpoint.keepLast, config.checkpoint.keepBest, "eval/" + best->name,
                                                              best->higherIsBetter, inUse)) {
        auto removed = removeCheckpoint(fs, run, folder);
        if (removed) removed = writer.markCheckpointDeleted(folder);
        if (!removed) log::warning(removed.error().text());
    }
}

void removeUnfinished(FileSystem& fs, const rundir::RunFolder& run) {
    const auto names = listFolder(run.checkpoints());
    for (std::size_t i = 0; names && i < names->size(); ++i) {
        const std::string& name = (*names)[i];
        if (!name.starts_with(".s")) continue;
        if (const auto removed = removeTree(fs, run.checkpoints() / name); !removed) log::warning(removed.error().text());
    }
}

}  // namespace lathe::launch
