#include "launch/retention.h"

#include "base/file_system.h"
#include "base/log.h"
#include "rundir/checkpoint_manifest.h"

namespace lathe::launch {

BestRule bestRule(const config::RunConfig& config) {
    const bool classification = config.task.name == "classification";
    BestRule rule;
    const std::string& chosen = config.evaluation.bestMetric;
    const std::string metric = chosen != "auto" ? chosen : classification ? "accuracy" : "loss";
    rule.metric = metric.starts_with("eval/") ? metric : "eval/" + metric;
    const std::string& direction = config.evaluation.bestDirection;
    rule.higherIsBetter = direction == "max" || (direction == "auto" && rule.metric == "eval/accuracy");
    return rule;
}

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
    const BestRule best = bestRule(config);
    for (const std::string& folder : rundir::retentionVictims(all, config.checkpoint.keepLast, config.checkpoint.keepBest, best.metric,
                                                              best.higherIsBetter, inUse)) {
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
