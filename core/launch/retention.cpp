#include "launch/retention.h"

#include "base/file_system.h"
#include "base/log.h"
#include "config/metrics.h"
#include "rundir/checkpoint_manifest.h"

namespace lathe::launch {

Result<void> removeCheckpoint(FileSystem& fs, const rundir::RunFolder& run, const std::string& folder) {
    const auto hidden = run.checkpoints() / ("." + folder + ".removed");
    LATHE_TRY(fs.rename(run.checkpoints() / folder, hidden));
    LATHE_TRY(fs.syncFolder(run.checkpoints()));
    return removeTree(fs, hidden);
}

void applyRetention(FileSystem& fs, const rundir::RunFolder& run, const config::RunConfig& config, store::RunWriter& writer,
                    const std::vector<std::string>& inUse) {
    const auto user = rundir::readUser(run);
    if (!user) return log::warning("No checkpoint is removed because the pinned ones are not known: " + user.error().text());
    const auto all = rundir::listCheckpoints(run.checkpoints(), user->pinned);
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
