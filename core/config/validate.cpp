// The rules: each field's own, and what must hold between fields.
#include "config/command_text.h"
#include "config/config.h"
#include "config/metrics.h"
#include "config/param_rules.h"
#include "config/plugin_list.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

namespace lathe::config {
namespace {

using Problems = std::vector<Problem>;

void error(Problems& problems, const char* key, std::string sentence) { problems.push_back({key, Severity::Error, std::move(sentence)}); }
void warning(Problems& problems, const char* key, std::string sentence) { problems.push_back({key, Severity::Warning, std::move(sentence)}); }

void checkFields(const RunConfig& config, Problems& problems) {
    const Values values = toValues(config);
    for (const Section& section : Schema::builtin().sections()) {
        for (const Field& field : section.fields) {
            if (const auto fine = checkValue(field, values.find(field.key())->second); !fine)
                problems.push_back({field.key(), Severity::Error, fine.error().sentence});
        }
    }
}

void checkLength(const RunConfig& config, Problems& problems) {
    const auto& run = config.run;
    if (!run.epochs && !run.maxUpdates)
        error(problems, "run.epochs", "The run has no end: give epochs, max_updates or both");
}

void checkSchedule(const RunConfig& config, Problems& problems) {
    const auto& schedule = config.schedule;
    const auto length = schedule.totalUpdates ? schedule.totalUpdates : config.run.maxUpdates;
    if (schedule.name == "cosine" && length && schedule.cycles > 1 && schedule.cycles > *length - schedule.warmupUpdates)
        error(problems, "schedule.cycles", std::to_string(schedule.cycles) + " falls do not fit into the " + std::to_string(std::max<std::int64_t>(0, *length - schedule.warmupUpdates)) +
              " updates after warm-up; give fewer");
    if (schedule.name == "cosine" && schedule.cycles == 1 && schedule.cycleGrowth > 1)
        warning(problems, "schedule.cycle_growth", "One fall alone cannot grow: schedule.cycle_growth has no effect while schedule.cycles is 1");
    if (schedule.name != "plateau") return;
    if (config.evaluation.every.unit == Interval::Unit::Never)
        error(problems, "schedule.name", "The plateau schedule watches evaluations, and evaluation.every is never; give an interval, or choose another schedule");
    else if (config.data.eval.empty() && config.data.evalFraction == 0)
        error(problems, "schedule.name", "The plateau schedule watches evaluations, and there is no evaluation data; give data.eval or a data.eval_fraction above 0");
    if (schedule.decayFactor == 1)
        warning(problems, "schedule.decay_factor", "A decay factor of 1 cuts nothing: the rate stays as it is");
}

bool isCsv(const DataSection& data) {
    return data.format == "csv" || (data.format == "auto" && std::filesystem::path(data.train).extension() == ".csv");
}

bool isIdx(const DataSection& data) {
    return data.format == "idx" || (data.format == "auto" && data.train.ends_with("-ubyte"));
}

void checkColumns(const RunConfig& config, Problems& problems) {
    const auto& data = config.data;
    if (data.target.empty()) error(problems, "data.target", "CSV data needs the name of the column to predict: give target");
    if (config.task.name == "classification" && data.target.size() > 1)
        error(problems, "data.target", "A classification has one target column, and " + std::to_string(data.target.size()) + " are given; keep one, or choose regression");
    const auto twice = [&](const std::vector<std::string>& columns, const char* key) {
        std::set<std::string> seen;
        for (const std::string& column : columns)
            if (!seen.insert(column).second) error(problems, key, "The column \"" + column + "\" is named twice; remove one");
        return seen;
    };
    const std::set<std::string> features = twice(data.features, "data.features");
    for (const std::string& column : twice(data.target, "data.target"))
        if (features.contains(column)) error(problems, "data.features", "The column \"" + column + "\" is both feature and target; remove it from one of them");
    if (data.weight.empty()) return;
    const bool isTarget = std::find(data.target.begin(), data.target.end(), data.weight) != data.target.end();
    if (features.contains(data.weight) || isTarget)
        error(problems, "data.weight", "The weight column \"" + data.weight + "\" is also " + (isTarget ? "the target" : "a feature") + "; a weight column is only that");
}

void checkData(const RunConfig& config, Problems& problems) {
    const auto& data = config.data;
    if (data.train.empty()) error(problems, "data.train", "Choose the training data: a folder of class folders, a CSV file, an IDX file or a text file");
    if (isCsv(data)) checkColumns(config, problems);
    if (isIdx(data)) {
        if (data.trainLabels.empty()) error(problems, "data.train_labels", "IDX images need their label file: give train_labels");
        if (!data.eval.empty() && data.evalLabels.empty()) error(problems, "data.eval_labels", "IDX evaluation images need their label file: give eval_labels");
    }
    for (const auto& [key, path] : {std::pair{"data.train", &data.train}, std::pair{"data.eval", &data.eval}, std::pair{"model.weights", &config.model.weights}})
        if (path->starts_with("~") || path->find("/~/") != std::string::npos)
            warning(problems, key, "\"~\" is taken as a name, not as the home folder: write the whole path");
}

void checkLanguage(const RunConfig& config, Problems& problems) {
    const bool isText = config.data.format == "text", isLanguage = config.task.name == "language";
    if (isLanguage != (config.model.name == "gpt"))
        error(problems, "model.name", isLanguage ? "Language is learned by gpt, not by " + config.model.name + "; choose gpt" : "gpt learns language; set task.name to language, or choose another model");
    if (isText && !isLanguage) error(problems, "task.name", "A text has neither classes nor targets; set task.name to language and model.name to gpt");
    if (isLanguage && !isText && config.data.format != "auto") error(problems, "data.format", "Language is learned from a text file; set data.format to text or auto");
    if (isLanguage && config.model.width % (2 * config.model.heads) != 0)
        error(problems, "model.heads", "Each head has width / heads channels, an even number, and " + std::to_string(config.model.width) + " does not divide so among " +
              std::to_string(config.model.heads) + " heads; choose a width that is a multiple of " + std::to_string(2 * config.model.heads));
}

void checkTask(const RunConfig& config, Problems& problems) {
    if (config.task.name != "classification") {
        const std::string task = config.task.name == "regression" ? "a regression" : "language";
        if (config.task.labelSmoothing > 0) warning(problems, "task.label_smoothing", "Label smoothing has no effect on " + task);
        if (config.task.numClasses) warning(problems, "task.num_classes", "The number of classes has no effect on " + task);
    }
    if (config.model.name == "convnet" && config.model.filters.empty())
        error(problems, "model.filters", "A convnet needs at least one stage; for example 16, 32");
    const auto& optimizer = config.optimizer;
    if (optimizer.name == "sgd" && optimizer.nesterov && optimizer.momentum == 0)
        error(problems, "optimizer.nesterov", "Nesterov momentum needs a momentum above 0; for example momentum 0.9");
    if (optimizer.name == "sgd" && optimizer.nesterov && optimizer.dampening != 0)
        error(problems, "optimizer.nesterov", "Nesterov momentum knows no dampening; set optimizer.dampening to 0");
    if (optimizer.maxGradNorm && optimizer.maxGradValue)
        error(problems, "optimizer.max_grad_value", "Gradients are clipped by their norm or by value, not by both; set optimizer.max_grad_norm to none");
    if (config.evaluation.weights == "ema" && !optimizer.ema)
        error(problems, "evaluation.weights", "There is no running mean of the weights to evaluate; set optimizer.ema to true, or evaluation.weights to trained");
    for (const std::string& group : optimizer.groups)
        if (const auto rule = parseParamRule(group); !rule) {
            error(problems, "optimizer.groups", rule.error().sentence);
            break;
        }
}

void checkEvaluation(const RunConfig& config, Problems& problems) {
    const auto& evaluation = config.evaluation;
    const bool never = evaluation.every.unit == Interval::Unit::Never;
    const bool noData = config.data.eval.empty() && config.data.evalFraction == 0;
    if (evaluation.patience && never)
        error(problems, "evaluation.patience", "Patience counts evaluations, and evaluation.every is never; give an interval, or patience none");
    else if (evaluation.patience && noData)
        error(problems, "evaluation.patience", "Patience counts evaluations, and there is no evaluation data; give data.eval or a data.eval_fraction above 0");
    else if (noData && !never)
        warning(problems, "data.eval_fraction", "There is no evaluation data, so nothing is evaluated and no checkpoint is the best one");
    if (evaluation.restoreBest && config.checkpoint.keepBest == 0)
        error(problems, "evaluation.restore_best", "The best weights are those of a kept checkpoint, and checkpoint.keep_best is 0; give at least 1");
    else if (evaluation.restoreBest && (never || noData))
        error(problems, "evaluation.restore_best", "Without evaluations nothing is best; give data.eval or a data.eval_fraction above 0, and evaluation.every");
    if (const auto metrics = chosenMetrics(config); !metrics) error(problems, metrics.error().key.c_str(), metrics.error().sentence);
}

void checkGuard(const RunConfig& config, Problems& problems) {
    const auto& guard = config.guard;
    if (guard.onWorse == "go_on") return;
    if (config.evaluation.every.unit == Interval::Unit::Never)
        error(problems, "guard.on_worse", "Whether an evaluation is worse is seen at evaluations, and evaluation.every is never; give an interval, or on_worse go_on");
    else if (config.data.eval.empty() && config.data.evalFraction == 0)
        error(problems, "guard.on_worse", "Whether an evaluation is worse is seen at evaluations, and there is no evaluation data; give data.eval, or on_worse go_on");
    if (config.evaluation.patience && *config.evaluation.patience <= guard.worseInARow)
        warning(problems, "guard.worse_in_a_row", "evaluation.patience " + std::to_string(*config.evaluation.patience) + " ends the run before " +
                std::to_string(guard.worseInARow) + " worse evaluations have been seen; raise the patience");
}

void checkPlugins(const RunConfig& config, Problems& problems) {
    const auto used = pluginsOf(config.plugins);
    if (!used) return problems.push_back({used.error().key, Severity::Error, used.error().sentence});
    for (const auto& [key, thing] : {std::pair{"model.name", &config.model.name}, std::pair{"task.name", &config.task.name}, std::pair{"schedule.name", &config.schedule.name},
                                     std::pair{"accumulation.rule", &config.accumulation.rule}, std::pair{"precision.mode", &config.precision.mode},
                                     std::pair{"parallel.strategy", &config.parallel.strategy}, std::pair{"evaluation.best_metric", &config.evaluation.bestMetric}}) {
        const std::string name(pluginOf(*thing));
        if (!name.empty() && std::none_of(used->begin(), used->end(), [&](const PluginChoice& choice) { return choice.name == name; }))
            error(problems, key, "\"" + *thing + "\" is of the plug-in " + name + ", which is not used; add it to plugins.use");
    }
}

void checkStrategies(const RunConfig& config, Problems& problems) {
    const auto& parallel = config.parallel;
    const auto& accumulation = config.accumulation;
    if (parallel.strategy == "single" && parallel.ranks > 1)
        error(problems, "parallel.strategy", "single is one process, and parallel.ranks asks for " + std::to_string(parallel.ranks) + "; choose ddp, or ranks 1");
    if (accumulation.rule == "fixed" && accumulation.microBatches < parallel.ranks)
        error(problems, "accumulation.micro_batches", std::to_string(parallel.ranks) + " ranks share the micro-batches of an update, and there " +
              (accumulation.microBatches == 1 ? "is 1" : "are " + std::to_string(accumulation.microBatches)) + "; give at least " + std::to_string(parallel.ranks));
    if (accumulation.rule == "ramp" && accumulation.rampFrom > accumulation.microBatches)
        error(problems, "accumulation.ramp_from", "A ramp grows: ramp_from is " + std::to_string(accumulation.rampFrom) + " and micro_batches only " + std::to_string(accumulation.microBatches));
    const bool isPower = (parallel.ranks & (parallel.ranks - 1)) == 0;
    if (parallel.reduction == "tree" && !isPower)
        error(problems, "parallel.reduction", "The reduction tree needs 1, 2, 4, 8 … ranks, not " + std::to_string(parallel.ranks));
    if (parallel.reduction == "tree" && parallel.reduceAt == "micro_step")
        error(problems, "parallel.reduce_at", "The reduction tree sums once an update; choose reduce_at window");
    const auto unit = parallel.checkReplicas.unit;
    if (unit != Interval::Unit::Updates && unit != Interval::Unit::Never)
        error(problems, "parallel.check_replicas", "Ranks compare their state every so many updates; for example 100 updates, or never");
    int exponent = 0;
    if (std::frexp(config.precision.initialScale, &exponent) != 0.5)
        error(problems, "precision.initial_scale", "The loss scale must be a power of two, for example 65536");
}

void checkRest(const RunConfig& config, Problems& problems) {
    const auto& device = config.parallel.device;
    if (device != "auto" && device != "cpu" && device != "cuda" && !device.starts_with("GPU-"))
        error(problems, "parallel.device", "Device must be auto, cpu, cuda or UUIDs of GPUs (GPU-… with commas between), not \"" + device.substr(0, 60) + "\"");
    if (config.telemetry.logEvery.unit == Interval::Unit::Never)
        error(problems, "telemetry.log_every", "A run that records nothing cannot be watched; for example 100 updates");
}

void checkBoth(const RunConfig& config, Problems& problems) {
    const auto unit = config.telemetry.devicesEvery.unit;
    if (unit != Interval::Unit::Seconds && unit != Interval::Unit::Never)
        error(problems, "telemetry.devices_every", "Devices are recorded by time; for example 2 s, or never");
    const auto& name = config.run.name;
    if (name.size() > 100) error(problems, "run.name", "The name is longer than 100 bytes; shorten it and keep the rest in the note");
}

}  // namespace

std::vector<Problem> validate(const RunConfig& config) {
    Problems problems;
    checkFields(config, problems);
    checkBoth(config, problems);
    if (isCommand(config)) {
        if (const auto command = splitCommand(config.command.line); !command) problems.push_back({command.error().key, Severity::Error, command.error().sentence});
        return problems;
    }
    checkLength(config, problems);
    checkSchedule(config, problems);
    checkData(config, problems);
    checkTask(config, problems);
    checkLanguage(config, problems);
    checkEvaluation(config, problems);
    checkGuard(config, problems);
    checkPlugins(config, problems);
    checkStrategies(config, problems);
    checkRest(config, problems);
    return problems;
}

}  // namespace lathe::config
