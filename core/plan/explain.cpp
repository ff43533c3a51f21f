#include "plan/explain.h"

#include "base/number_text.h"
#include "config/plugin_list.h"
#include "plan/accumulation.h"
#include "plan/schedule.h"
#include "plan/words.h"

namespace lathe::plan {
namespace {

std::string wordsOf(const Kinds<Explanation>& kinds, const std::string& name, const config::RunConfig& config) {
    const Explanation* words = kinds.find(name);
    return words ? (*words)(config) : name;
}

std::string windowText(const config::RunConfig& config) {
    const AccumulationKind* kind = accumulationKinds().find(config.accumulation.rule);
    return (kind ? kind->words(config) : config.accumulation.rule) +
           ", in the order of the epoch, which does not depend on the number of ranks. The last window of an epoch takes what is left";
}

std::string shareText(const config::RunConfig& config) {
    const auto ranks = static_cast<int>(config.parallel.ranks);
    if (config.accumulation.rule != "fixed" || !config::pluginOf(config.parallel.strategy).empty()) return "each rank takes a contiguous part, as equal as can be";
    std::string text;
    const auto batches = static_cast<std::size_t>(config.accumulation.microBatches);
    for (int rank = 0; rank < ranks && rank < 8; ++rank) {
        const auto share = Sharing{rank, ranks, config.parallel.reduction == "tree"}.ofRank(batches, rank);
        text += (rank ? ", rank " : "rank ") + std::to_string(rank) + " runs " + countText(static_cast<std::int64_t>(share.count()), "micro-batch");
    }
    return ranks > 8 ? text + " …" : text;
}

std::string scheduleText(const config::RunConfig& config) {
    const config::ScheduleSection& schedule = config.schedule;
    const CurveKind* kind = curveKinds().find(schedule.name);
    std::string text = kind ? kind->words(config) : schedule.name;
    if (hasLength(schedule))
        text += " to " + shortText(schedule.finalFactor) + " of the peak over " + (schedule.totalUpdates ? countText(*schedule.totalUpdates, "update") : std::string("the planned length of the run"));
    if (schedule.warmupUpdates > 0 && config::pluginOf(schedule.name).empty()) text = "warm-up over " + countText(schedule.warmupUpdates, "update") + ", then " + text;
    return text;
}

bool isOwnPrecision(const config::RunConfig& config) { return !config::pluginOf(config.precision.mode).empty(); }
bool mayScale(const config::RunConfig& config) { return config.precision.mode == "fp16" || config.precision.mode == "auto" || isOwnPrecision(config); }

std::string throughout(const config::RunConfig& config) { return "weights and arithmetic in " + config.precision.mode; }

std::string inForward(const std::string& type) { return "arithmetic in " + type + ", weights in fp32; casts of weights are dropped after each pass"; }

std::string reduceText(const config::RunConfig& config) {
    const config::ParallelSection& parallel = config.parallel;
    if (parallel.reduction == "tree") return "gradients of micro-batches are added up along a binary tree over the window, on each rank and then between ranks: the same bits for 1, 2, 4 … ranks";
    if (parallel.ranks == 1) return "nothing to reduce: one process holds all gradients";
    if (parallel.reduceAt == "micro_step") return "after each micro-batch: SUM over ranks, then added to the window's gradient";
    return "once a window, in buckets, while the backward pass of a rank's last micro-batch still runs, always in the same order: SUM over ranks, not divided by their number";
}

/// Empty where the guard does no more than leave out what is not finite.
std::string guardText(const config::GuardSection& guard) {
    std::string text, finite;
    if (guard.onNotFinite != "skip") finite = "what is not finite: " + guard.onNotFinite;
    if (guard.onLossSpike != "go_on")
        text = "a loss more than " + shortText(guard.spikeScore) + " robust deviations above the median: " + guard.onLossSpike;
    if (guard.onGradientExplosion != "go_on")
        text += (text.empty() ? "" : "; ") + ("a norm more than " + shortText(guard.explosionFactor) + " times the median: " + guard.onGradientExplosion);
    if (text.empty()) return finite;
    return (finite.empty() ? "" : finite + "; ") + "against the last " + countText(guard.window, "applied update") + ": " + text + ", and the update is left out";
}

}  // namespace

Kinds<Explanation>& precisionWords() {
    static Kinds<Explanation> kinds{{
        {"auto", [](const config::RunConfig&) { return inForward("the type that the device is fast in"); }},
        {"fp32", throughout},
        {"fp64", throughout},
        {"bf16", [](const config::RunConfig&) { return inForward("bf16"); }},
        {"fp16", [](const config::RunConfig&) { return inForward("fp16"); }},
    }};
    return kinds;
}

Kinds<Explanation>& parallelWords() {
    static Kinds<Explanation> kinds{{{"auto", reduceText}, {"single", reduceText}, {"ddp", reduceText}}};
    return kinds;
}

std::vector<UpdateEvent> explainUpdate(const config::RunConfig& config) {
    const bool several = config.parallel.ranks > 1, scales = mayScale(config), isFp16 = scales && !isOwnPrecision(config);
    const std::string scale = scales ? "scale · " : "";
    const bool isLanguage = config.task.name == "language";
    std::vector<UpdateEvent> events{{"window", windowText(config)}};
    if (several) events.push_back({"share", shareText(config)});
    events.push_back({"weights", std::string("W = Σ weights of the whole window") + (several ? ", over all ranks" : "") + (isLanguage ? "; each byte weighs 1 that has a next one in its document" : "") +
                      "; W = 0: the update is skipped"});
    events.push_back({"forward", "of each micro-batch: " + wordsOf(precisionWords(), config.precision.mode, config) + ". Noise is a function of seed, update attempt and the micro-batch's number in the window"});
    events.push_back({"loss", "Σ weight · loss of the micro-batch, in " + std::string(config.precision.mode == "fp64" ? "fp64" : "fp32")});
    events.push_back({"backward", "of " + scale + "Σ weight · loss / W; gradients add up in " + (config.precision.mode == "fp64" ? "fp64" : "fp32")});
    events.push_back({"reduce", wordsOf(parallelWords(), config.parallel.strategy, config)});
    if (scales) events.push_back({"unscale", "gradients / scale, once (" + (isFp16 ? "fp16; the scale starts at " + shortText(config.precision.initialScale) : std::string("where the number format scales the loss")) + ")"});
    events.push_back({"norm", "of all gradients, in fp64; this is what train/grad_norm shows, before clipping"});
    events.push_back({"verdict", std::string("loss, gradients and norm must be finite, else all ranks skip this update") + (isFp16 ? " and the scale halves" : "") + "; after " +
                      countText(config.precision.maxSkippedInARow, "skip") + " in a row the run ends as diverged. A hook may leave it out as well"});
    if (const std::string watched = guardText(config.guard); !watched.empty()) events.push_back({"guard", watched});
    if (config.optimizer.maxGradNorm)
        events.push_back({"clip", "gradients · " + shortText(*config.optimizer.maxGradNorm) + " / norm where the norm is larger than " + shortText(*config.optimizer.maxGradNorm)});
    if (config.optimizer.maxGradValue) {
        const std::string most = shortText(*config.optimizer.maxGradValue);
        events.push_back({"clip", "each number of the gradients into [-" + most + ", " + most + "]"});
    }
    events.push_back({"optimizer", config.optimizer.name + " with the rate at global_step, peak " + shortText(config.optimizer.learningRate) + ": " +
                      scheduleText(config)});
    if (config.optimizer.ema)
        events.push_back({"ema", "mean of the weights = d · mean + (1 - d) · weights, d " + shortText(config.optimizer.emaDecay) +
                          (config.optimizer.emaWarmup ? ", or (1 + n) / (10 + n) after n updates where that is less" : "")});
    events.push_back({"buffers", std::string("statistics of BatchNorm, in the order of the micro-batches") + (several ? " of all ranks" : "")});
    events.push_back({"counters", std::string("micro_step + micro-batches of the window, update_attempts + 1, global_step + 1 (skipped: skipped_updates + 1 instead), samples + samples of the window, ") + (isLanguage ? "tokens + W, " : "") + "epoch and place"});
    if (isFp16) events.push_back({"scale", "doubles after " + countText(config.precision.scaleGrowthUpdates, "update") + " without an overflow (fp16)"});
    events.push_back({"log", "every " + toText(config.telemetry.logEvery)});
    if (several) events.push_back({"agree", "what any rank asks for (log, roll back, pause, evaluate, save, stop) is done on all ranks, at this update"});
    const bool inOneEpoch = config.run.epochs == 1 && config.evaluation.every == Interval{Interval::Unit::Epochs, 1};   // see evaluationInterval()
    events.push_back({"evaluate", "when due (" + (inOneEpoch ? std::string("20 times in the run's one epoch") : toText(config.evaluation.every)) + "); then best, " + (config.schedule.name == "plateau" ? "plateau, " : "") +
                      "early stop. A save that is due as well is made before it, too, so that nothing is lost with it"});
    events.push_back({"save", "when due (" + toText(config.checkpoint.every) + ")" + (config.checkpoint.keepBest > 0 ? ", and after an evaluation that is the best" : "") +
                      (several ? "; the first rank writes" : "") +
                      (config.parallel.determinism == "exact" ? ". With a look at the next window, of which nothing is applied, for the proof of a resume" : "")});
    return events;
}

}  // namespace lathe::plan
