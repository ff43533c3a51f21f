// What each member of a section is, said once: YAML key, label, help, unit, range, choices, level, when it matters,
// when a change takes effect, an example. Schema, YAML, validation, form, --set and reference derive from this.
//
// `visitor(&Section::member, "key", "Label", "Help.", {facts})`; a member that is not named here fails the build.
#pragma once

#include "config/member_count.h"
#include "config/schema.h"
#include "config/sections.h"

#include <cstddef>
#include <limits>

namespace lathe::config {

struct Facts {
    double minimum = -std::numeric_limits<double>::infinity();
    double maximum = std::numeric_limits<double>::infinity();
    bool above = false;             ///< the minimum itself is not allowed
    const char* unit = "";
    const char* choices = "";       ///< "a|b|c" makes a text a choice
    const char* none = "";          ///< what an unset optional means
    const char* example = "";       ///< empty: the default value serves as the example
    const char* visibleIf = "";     ///< "section.key=value|value"
    const char* shortName = "";     ///< in run names: "lr"
    bool isPath = false;
    bool open = false;              ///< a choice that things of plug-ins add to: "plug-in/name"
    bool multiline = false;
    Level level = Level::Basic;
    Applies applies = Applies::Start;
    Belongs belongs = Belongs::Training;
};

inline constexpr double kMany = 1e15;  ///< no real run counts further, and every such integer is exact as a double
inline constexpr const char* kIfCsv = "data.format=auto|csv";
inline constexpr const char* kIfImages = "data.format=auto|image_folder|idx";
inline constexpr const char* kIfIdx = "data.format=auto|idx";
inline constexpr const char* kIfText = "data.format=auto|text";
inline constexpr const char* kIfGpt = "model.name=gpt";
inline constexpr const char* kIfLanguage = "task.name=language";
inline constexpr const char* kIfResnet = "model.name=resnet18|resnet34|resnet50|resnet101|resnet152";
inline constexpr const char* kIfClassification = "task.name=classification";
inline constexpr const char* kIfSgd = "optimizer.name=sgd";
inline constexpr const char* kIfAdam = "optimizer.name=adamw|adam";
inline constexpr const char* kIfBetas = "optimizer.name=adamw|adam|lion";

template <typename Section>
struct Of {};

template <typename V>
constexpr void describe(V& v, Of<RunSection>) {
    using S = RunSection;
    v(&S::name, "name", "Name", "What the run is called; empty makes a name from the preset and the changed settings.",
      {.example = "first try", .applies = Applies::Resume, .belongs = Belongs::Both});
    v(&S::seed, "seed", "Seed", "Start of all random numbers: initial weights, order of the samples, dropout, augmentation.",
      {.minimum = 0, .maximum = kMany, .shortName = "seed"});
    v(&S::epochs, "epochs", "Epochs", "Passes over the training data; the run ends with this or with max_updates, whichever comes first.",
      {.minimum = 1, .maximum = 1e9, .unit = "epochs", .none = "no limit", .example = "10", .shortName = "ep", .applies = Applies::Resume});
    v(&S::maxUpdates, "max_updates", "Most updates", "Applied optimizer updates after which the run ends.",
      {.minimum = 1, .maximum = kMany, .unit = "updates", .none = "no limit", .example = "1000", .shortName = "upd", .applies = Applies::Resume});
    v(&S::keepAwake, "keep_awake", "Keep awake", "Keep the machine from going to sleep by itself while the run is up.", {.level = Level::Advanced, .applies = Applies::Resume, .belongs = Belongs::Both});
    v(&S::restartsPerHour, "restarts_per_hour", "Restarts an hour", "How often in an hour a run goes on by itself after a worker crashed: from its last good checkpoint, or from the start where there was none yet; 0 never. "
      "A crash that is worth a restart is rare: more of them have a cause that a restart does not cure. The same crash at the same update is never tried again.",
      {.minimum = 0, .maximum = 3600, .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::note, "note", "Note", "Anything worth remembering about this run.", {.example = "with the cleaned labels", .multiline = true, .level = Level::Advanced, .applies = Applies::Resume, .belongs = Belongs::Both});
}

template <typename V>
constexpr void describeDataSource(V& v) {
    using S = DataSection;
    v(&S::format, "format", "Format", "How the data is stored; auto decides by what lies at the path.",
      {.choices = "auto|image_folder|csv|idx|text"});
    v(&S::train, "train", "Training data", "Folder of class folders with JPEG or PNG images, a CSV file, an IDX image file, or a text file.",
      {.example = "data/flowers", .isPath = true, .applies = Applies::Resume});
    v(&S::trainLabels, "train_labels", "Training labels", "IDX label file that belongs to the training images.",
      {.example = "train-labels-idx1-ubyte", .visibleIf = kIfIdx, .isPath = true, .applies = Applies::Resume});
    v(&S::eval, "eval", "Evaluation data", "Data to evaluate on, in the same form; empty holds out a part of the training data.",
      {.example = "data/flowers-eval", .isPath = true, .applies = Applies::Resume});
    v(&S::evalLabels, "eval_labels", "Evaluation labels", "IDX label file that belongs to the evaluation images.",
      {.example = "t10k-labels-idx1-ubyte", .visibleIf = kIfIdx, .isPath = true, .applies = Applies::Resume});
    v(&S::evalFraction, "eval_fraction", "Held-out part", "Random part of the training data (of a text its end) kept for evaluation when no evaluation data is given.",
      {.minimum = 0, .maximum = 0.9});
    v(&S::splitSeed, "split_seed", "Split seed", "Chooses the held-out samples; apart from the run's seed, so that runs compare on one split.",
      {.minimum = 0, .maximum = kMany, .level = Level::Advanced});
    v(&S::features, "features", "Feature columns", "CSV columns to learn from; empty takes all but target and weight.",
      {.example = "age, height", .visibleIf = kIfCsv});
    v(&S::target, "target", "Target columns", "CSV column to predict; a regression may have several.",
      {.example = "price", .visibleIf = kIfCsv});
    v(&S::weight, "weight", "Weight column", "CSV column with the weight of each sample; empty weighs all alike.",
      {.example = "weight", .visibleIf = kIfCsv, .level = Level::Advanced});
    v(&S::separator, "separator", "Separator", "What stands between the cells of a CSV file; auto looks at its line of column names.",
      {.choices = "auto|comma|semicolon|tab", .visibleIf = kIfCsv, .level = Level::Advanced});
    v(&S::standardize, "standardize", "Standardize features", "Scales CSV features to mean 0 and deviation 1 over the training part.",
      {.visibleIf = kIfCsv, .shortName = "std"});
}

template <typename V>
constexpr void describe(V& v, Of<DataSection>) {
    using S = DataSection;
    describeDataSource(v);
    v(&S::context, "context", "Context", "Bytes in a row of text: as far as a model looks back.",
      {.minimum = 2, .maximum = 65536, .unit = "bytes", .visibleIf = kIfText, .shortName = "ctx"});
    v(&S::documents, "documents", "Documents", "What is one document of a text: the whole file, what stands between empty lines, or each line. None is learned from another.",
      {.choices = "file|blank_line|line", .visibleIf = kIfText, .shortName = "docs"});
    v(&S::batchSize, "batch_size", "Batch size", "Samples in a micro-batch; of a text, rows.",
      {.minimum = 1, .maximum = 1e6, .unit = "samples", .shortName = "bs"});
    v(&S::shuffle, "shuffle", "Shuffle", "Draws a new order for each epoch; off keeps the order of the file.", {.shortName = "shuffle"});
    v(&S::dropLast, "drop_last", "Drop the last batch", "Leaves out the samples that do not fill the last micro-batch of an epoch.",
      {.level = Level::Advanced});
    v(&S::loaderThreads, "loader_threads", "Loader threads", "Threads that prepare samples; 0 prepares them in the training thread.",
      {.minimum = 0, .maximum = 256, .unit = "threads", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::imageSize, "image_size", "Image size", "Side of the square that every image is brought to.",
      {.minimum = 1, .maximum = 8192, .unit = "pixels", .none = "as stored", .example = "64", .visibleIf = kIfImages, .shortName = "px"});
    v(&S::channels, "channels", "Channels", "Colour or gray; auto keeps what the images are.",
      {.choices = "auto|gray|rgb", .visibleIf = kIfImages});
    v(&S::resize, "resize", "Resize by", "crop scales the short side and cuts the centre; stretch scales both sides.",
      {.choices = "crop|stretch", .visibleIf = kIfImages, .level = Level::Advanced});
    v(&S::normalize, "normalize", "Normalize", "unit divides pixels by 255; imagenet then applies the mean and deviation of ImageNet.",
      {.choices = "unit|imagenet", .visibleIf = kIfImages, .level = Level::Advanced});
    v(&S::augmentFlip, "augment_flip", "Random flip", "Mirrors half of the training images left to right.",
      {.visibleIf = kIfImages, .shortName = "flip"});
    v(&S::augmentShift, "augment_shift", "Random shift", "Shifts training images by up to so many pixels in each direction.",
      {.minimum = 0, .maximum = 1024, .unit = "pixels", .visibleIf = kIfImages, .shortName = "shift"});
}

template <typename V>
constexpr void describe(V& v, Of<ModelSection>) {
    using S = ModelSection;
    v(&S::name, "name", "Model", "The network to train.",
      {.choices = "linear|mlp|convnet|resnet18|resnet34|resnet50|resnet101|resnet152|gpt", .open = true});
    v(&S::hidden, "hidden", "Hidden layers", "Width of each hidden layer.",
      {.minimum = 1, .maximum = 1e6, .visibleIf = "model.name=mlp", .shortName = "h"});
    v(&S::filters, "filters", "Filters", "Filters of each convolution stage; a stage halves images of 4 pixels or more.",
      {.minimum = 1, .maximum = 65536, .visibleIf = "model.name=convnet", .shortName = "f"});
    v(&S::dropout, "dropout", "Dropout", "Part of the activations that is dropped while training.",
      {.minimum = 0, .maximum = 0.95, .example = "0.1", .visibleIf = "model.name=mlp|convnet|gpt", .shortName = "do"});
    v(&S::batchNorm, "batch_norm", "Batch normalization", "Normalizes after each convolution.",
      {.visibleIf = "model.name=convnet", .shortName = "bn"});
    v(&S::stem, "stem", "Stem", "standard halves the image twice before the first stage; small keeps its size, for images under about 64 pixels.",
      {.choices = "standard|small", .visibleIf = kIfResnet});
    v(&S::width, "width", "Width", "Channels of the first stage of a ResNet (64 is the published model), of every layer of a GPT.",
      {.minimum = 1, .maximum = 4096, .unit = "channels", .visibleIf = "model.name=resnet18|resnet34|resnet50|resnet101|resnet152|gpt", .shortName = "w"});
    v(&S::layers, "layers", "Layers", "Layers of attention and feed-forward network.",
      {.minimum = 1, .maximum = 1000, .unit = "layers", .visibleIf = kIfGpt, .shortName = "l"});
    v(&S::heads, "heads", "Heads", "Heads of attention; each has width / heads channels, an even number.",
      {.minimum = 1, .maximum = 1024, .unit = "heads", .visibleIf = kIfGpt, .shortName = "heads"});
    v(&S::norm, "norm", "Norm", "What stands before attention and feed-forward network.",
      {.choices = "rmsnorm|layernorm", .visibleIf = kIfGpt, .level = Level::Advanced});
    v(&S::feedForward, "feed_forward", "Feed-forward", "swiglu gates 8/3 of the width, gelu has 4 times the width.",
      {.choices = "swiglu|gelu", .visibleIf = kIfGpt, .level = Level::Advanced});
    v(&S::tieEmbeddings, "tie_embeddings", "Tie embeddings", "Reads and foretells bytes by the same table of weights.",
      {.visibleIf = kIfGpt, .level = Level::Advanced});
    v(&S::weights, "weights", "Initial weights", "Safetensors file to start from; empty starts from random weights.",
      {.example = "resnet18.safetensors", .isPath = true});
}

template <typename V>
constexpr void describe(V& v, Of<TaskSection>) {
    using S = TaskSection;
    v(&S::name, "name", "Task", "classification predicts one of several classes, regression predicts numbers, language foretells the next byte of a text.",
      {.choices = "classification|regression|language", .open = true});
    v(&S::numClasses, "num_classes", "Classes", "Number of classes the model tells apart.",
      {.minimum = 2, .maximum = 1e6, .unit = "classes", .none = "as found in the data", .example = "10", .visibleIf = kIfClassification});
    v(&S::labelSmoothing, "label_smoothing", "Label smoothing", "Part of the target that is spread over all classes.",
      {.minimum = 0, .maximum = 0.9, .example = "0.1", .visibleIf = kIfClassification, .shortName = "ls"});
    v(&S::loss, "loss", "Loss", "mse squares the error, mae takes its size, huber squares small errors only.",
      {.choices = "mse|mae|huber", .visibleIf = "task.name=regression"});
}

template <typename V>
constexpr void describeParamGroups(V& v) {
    using S = OptimizerSection;
    v(&S::layerDecay, "layer_decay", "Layer-wise rates", "The rate of each block of the model is so much less than that of the block after it; 1 treats all alike.",
      {.minimum = 0, .maximum = 1, .above = true, .example = "0.75", .shortName = "ld", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::groups, "groups", "Groups", "Parameters whose names fit a pattern (* any text, ? one character) with an lr_factor on the learning rate or a weight_decay of their own; the first pattern that fits counts.",
      {.example = "head.* lr_factor=10, *.embedding.* weight_decay=0", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::freeze, "freeze", "Freeze", "Patterns of parameters that stay as they are: no gradient, no optimizer state.",
      {.example = "layer1.*, layer2.*", .level = Level::Advanced});
}

template <typename V>
constexpr void describe(V& v, Of<OptimizerSection>) {
    using S = OptimizerSection;
    v(&S::name, "name", "Optimizer", "The rule that turns gradients into changes of the weights.", {.choices = "adamw|adam|sgd|lion"});
    v(&S::learningRate, "learning_rate", "Learning rate", "Size of a step at the peak of the schedule.",
      {.minimum = 0, .maximum = 1000, .above = true, .shortName = "lr", .applies = Applies::Resume});
    v(&S::weightDecay, "weight_decay", "Weight decay", "Pulls weights towards zero; apart from the gradient in adamw and lion, as a part of it in adam and sgd.",
      {.minimum = 0, .maximum = 100, .shortName = "wd", .applies = Applies::Resume});
    v(&S::decayOn, "decay_on", "Decay on", "weights leaves out biases and the scales of norms (tensors of fewer than two dimensions); all takes every parameter.",
      {.choices = "weights|all", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::beta1, "beta1", "Beta 1", "Memory of the mean gradient.",
      {.minimum = 0, .maximum = 0.999999, .visibleIf = kIfBetas, .shortName = "b1", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::beta2, "beta2", "Beta 2", "Memory of the squared gradient; in lion, of the mean gradient between steps.",
      {.minimum = 0, .maximum = 0.9999999, .none = "0.999, lion 0.99", .example = "0.95", .visibleIf = kIfBetas, .shortName = "b2", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::epsilon, "epsilon", "Epsilon", "Keeps the division by the root of the squared gradient finite.",
      {.minimum = 0, .maximum = 1, .above = true, .visibleIf = kIfAdam, .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::momentum, "momentum", "Momentum", "Memory of earlier steps.",
      {.minimum = 0, .maximum = 0.999999, .visibleIf = kIfSgd, .shortName = "mom", .applies = Applies::Resume});
    v(&S::dampening, "dampening", "Dampening", "Part of the new gradient that the momentum leaves out.",
      {.minimum = 0, .maximum = 1, .visibleIf = kIfSgd, .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::nesterov, "nesterov", "Nesterov momentum", "Looks ahead along the momentum before it steps.",
      {.visibleIf = kIfSgd, .level = Level::Advanced, .applies = Applies::Resume});
    describeParamGroups(v);
    v(&S::maxGradNorm, "max_grad_norm", "Gradient clipping", "Largest norm of the whole gradient; a larger one is scaled down to it.",
      {.minimum = 0, .maximum = 1e9, .above = true, .none = "no clipping", .example = "1", .shortName = "clip", .applies = Applies::Resume});
    v(&S::maxGradValue, "max_grad_value", "Clipping by value", "Largest size of each single number of the gradient; in place of clipping by the norm.",
      {.minimum = 0, .maximum = 1e9, .above = true, .none = "no clipping by value", .example = "0.5", .shortName = "clipv", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::ema, "ema", "Mean of the weights", "Keeps a running mean (EMA) of the weights beside those that are trained; evaluation.weights says whether it is evaluated.",
      {.shortName = "ema", .level = Level::Advanced});
    v(&S::emaDecay, "ema_decay", "Mean keeps", "Part of the mean that each update keeps.",
      {.minimum = 0, .maximum = 1, .example = "0.999", .visibleIf = "optimizer.ema=true", .shortName = "emad", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::emaWarmup, "ema_warmup", "Mean warms up", "Keeps less at first, (1 + n) / (10 + n) after n updates, so that the first weights are soon forgotten.",
      {.visibleIf = "optimizer.ema=true", .level = Level::Advanced, .applies = Applies::Resume});
}

template <typename V>
constexpr void describe(V& v, Of<ScheduleSection>) {
    using S = ScheduleSection;
    v(&S::name, "name", "Schedule", "Course of the learning rate after warm-up.",
      {.choices = "constant|linear|cosine|polynomial|step|exponential|one_cycle|wsd|plateau", .open = true, .applies = Applies::Resume});
    v(&S::warmupUpdates, "warmup_updates", "Warm-up", "Updates over which the rate rises to the beginning of the curve.",
      {.minimum = 0, .maximum = kMany, .unit = "updates", .shortName = "warm", .applies = Applies::Resume});
    v(&S::finalFactor, "final_factor", "Final factor", "Rate at the end as a part of the peak; step, exponential and plateau never go below it.",
      {.minimum = 0, .maximum = 1, .example = "0.1", .visibleIf = "schedule.name=linear|cosine|polynomial|step|exponential|one_cycle|wsd|plateau", .applies = Applies::Resume});
    v(&S::totalUpdates, "total_updates", "Length", "Updates that the curve spans.",
      {.minimum = 1, .maximum = kMany, .unit = "updates", .none = "the planned length of the run", .example = "1000",
       .visibleIf = "schedule.name=linear|cosine|polynomial|one_cycle|wsd", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::cycles, "cycles", "Falls", "How many times the rate falls over the length; it starts again from the peak in between.",
      {.minimum = 1, .maximum = 1000, .visibleIf = "schedule.name=cosine", .shortName = "cyc", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::cycleGrowth, "cycle_growth", "Growth of falls", "Each fall takes so many times as long as the one before.",
      {.minimum = 1, .maximum = 10, .example = "2", .visibleIf = "schedule.name=cosine", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::power, "power", "Power", "1 falls in a straight line; larger ones fall early.",
      {.minimum = 0, .maximum = 100, .above = true, .visibleIf = "schedule.name=polynomial", .shortName = "pow", .applies = Applies::Resume});
    v(&S::decayFactor, "decay_factor", "Decay factor", "What the rate is multiplied by after each decay_updates (step, exponential), or when evaluations get no better (plateau).",
      {.minimum = 0, .maximum = 1, .above = true, .visibleIf = "schedule.name=step|exponential|plateau", .shortName = "decay", .applies = Applies::Resume});
    v(&S::decayUpdates, "decay_updates", "Decay after", "Updates in which the decay factor takes effect once: at their end (step), or bit by bit (exponential).",
      {.minimum = 1, .maximum = kMany, .unit = "updates", .visibleIf = "schedule.name=step|exponential", .applies = Applies::Resume});
    v(&S::risePart, "rise_part", "Rising part", "Part of the curve in which the rate rises to its peak.",
      {.minimum = 0, .maximum = 1, .visibleIf = "schedule.name=one_cycle", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::startFactor, "start_factor", "Start factor", "Rate at the beginning of the curve as a part of the peak.",
      {.minimum = 0, .maximum = 1, .above = true, .visibleIf = "schedule.name=one_cycle", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::decayPart, "decay_part", "Falling part", "Part of the curve, at its end, in which the rate falls.",
      {.minimum = 0, .maximum = 1, .visibleIf = "schedule.name=wsd", .shortName = "dp", .applies = Applies::Resume});
    v(&S::decayShape, "decay_shape", "Falls as", "linear falls in a straight line, cosine slowly at both ends, sqrt fast at first.",
      {.choices = "linear|cosine|sqrt", .visibleIf = "schedule.name=wsd", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::patience, "patience", "Bears", "Evaluations without a better one that are borne; the next one cuts the rate. What is better is said by evaluation.best_metric and evaluation.min_delta.",
      {.minimum = 0, .maximum = 1e9, .unit = "evaluations", .visibleIf = "schedule.name=plateau", .applies = Applies::Resume});
    v(&S::cooldown, "cooldown", "Rests", "Evaluations after a cut that are not counted.",
      {.minimum = 0, .maximum = 1e9, .unit = "evaluations", .visibleIf = "schedule.name=plateau", .level = Level::Advanced, .applies = Applies::Resume});
}

template <typename V>
constexpr void describe(V& v, Of<AccumulationSection>) {
    using S = AccumulationSection;
    v(&S::rule, "rule", "Accumulate by", "fixed takes the same number of micro-batches each time; ramp lets it grow; weight closes an update once it holds enough.",
      {.choices = "fixed|ramp|weight", .open = true, .level = Level::Advanced});
    v(&S::microBatches, "micro_batches", "Accumulation", "Micro-batches whose gradients make one update; several ranks share them.",
      {.minimum = 1, .maximum = 1e6, .unit = "micro-batches", .visibleIf = "accumulation.rule=fixed|ramp", .shortName = "acc"});
    v(&S::rampFrom, "ramp_from", "Ramp from", "Micro-batches of the first update of a ramp.",
      {.minimum = 1, .maximum = 1e6, .unit = "micro-batches", .visibleIf = "accumulation.rule=ramp", .level = Level::Advanced});
    v(&S::rampUpdates, "ramp_updates", "Ramp over", "Updates over which the number of micro-batches grows to its end.",
      {.minimum = 1, .maximum = kMany, .unit = "updates", .visibleIf = "accumulation.rule=ramp", .level = Level::Advanced});
    v(&S::weight, "weight", "Weight of an update", "An update closes with the micro-batch that brings it to this weight: samples, or the sum of their weights or tokens.",
      {.minimum = 0, .maximum = 1e12, .above = true, .visibleIf = "accumulation.rule=weight", .level = Level::Advanced});
}

template <typename V>
constexpr void describe(V& v, Of<PrecisionSection>) {
    using S = PrecisionSection;
    v(&S::mode, "mode", "Precision", "Number format of the arithmetic; bf16 and fp16 keep weights and gradients in fp32, auto takes what the device is fast in, fp64 is for checking numbers.",
      {.choices = "auto|fp32|bf16|fp16|fp64", .open = true, .level = Level::Advanced});
    v(&S::initialScale, "initial_scale", "Loss scale", "What the loss is multiplied by at first in fp16, so that small gradients do not vanish; a power of two.",
      {.minimum = 1, .maximum = 16777216, .visibleIf = "precision.mode=auto|fp16", .level = Level::Advanced});
    v(&S::scaleGrowthUpdates, "scale_growth_updates", "Scale grows after", "Updates without an overflow until the loss scale doubles.",
      {.minimum = 1, .maximum = 1e9, .unit = "updates", .visibleIf = "precision.mode=auto|fp16", .level = Level::Advanced});
    v(&S::maxSkippedInARow, "max_skipped_in_a_row", "Skips before giving up", "Updates skipped in a row, because loss or gradient is not finite or by the guard, before the run ends as diverged. Windows without weight do not count.",
      {.minimum = 1, .maximum = 1e6, .unit = "updates", .level = Level::Advanced, .applies = Applies::Resume});
}

template <typename V>
constexpr void describe(V& v, Of<ParallelSection>) {
    using S = ParallelSection;
    v(&S::device, "device", "Device", "auto takes a usable GPU where there is one, else the CPU; or cpu, cuda, or UUIDs of GPUs with commas between: ranks take the first of them.",
      {.applies = Applies::Resume, .belongs = Belongs::Both});
    v(&S::strategy, "strategy", "Strategy", "single is one process; ddp gives every rank the whole model and a share of each update; auto is ddp from two ranks on.",
      {.choices = "auto|single|ddp", .open = true, .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::ranks, "ranks", "Ranks", "Processes that train together; they share the micro-batches of each update.",
      {.minimum = 1, .maximum = 128, .unit = "ranks", .shortName = "ranks", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::reduction, "reduction", "Sum gradients by", "ring is fastest; tree gives the same bits for 1, 2, 4 … ranks.",
      {.choices = "ring|tree", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::reduceAt, "reduce_at", "Sum gradients at", "window sums over ranks once an update, while gradients are still being computed; micro_step after each micro-batch.",
      {.choices = "window|micro_step", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::checkReplicas, "check_replicas", "Compare ranks every", "How often ranks compare all of their state, which must be equal bit for bit.",
      {.level = Level::Advanced, .applies = Applies::Resume});
    v(&S::waitSeconds, "wait_seconds", "Wait for a rank", "How long the others wait for a rank that does not get on before the run is ended.",
      {.minimum = 1, .maximum = 86400, .unit = "s", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::threads, "threads", "Threads", "CPU threads for arithmetic of one rank.",
      {.minimum = 1, .maximum = 1024, .unit = "threads", .none = "one a physical core, shared out among the ranks", .example = "2", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::determinism, "determinism", "Determinism",
      "exact gives the same bits on equal terms and proves it at each resume; a save costs one more window, and GPUs keep to operators of fixed order. "
      "fast lets a GPU try out what is quickest and proves nothing; on the CPU an update takes the same time either way (within 1 %).",
      {.choices = "exact|fast", .level = Level::Advanced, .applies = Applies::Resume});
}

template <typename V>
constexpr void describe(V& v, Of<EvaluationSection>) {
    using S = EvaluationSection;
    v(&S::every, "every", "Evaluate every", "How often the model is evaluated; the end of the run always is. In a run of one epoch, each epoch means 20 times.", {.applies = Applies::Resume});
    v(&S::batchSize, "batch_size", "Batch size", "Samples in an evaluation batch.",
      {.minimum = 1, .maximum = 1e6, .unit = "samples", .none = "as in training", .example = "256", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::metrics, "metrics", "Metrics", "What an evaluation measures beside the loss; empty takes the usual ones of the task. Classification has top3_accuracy, top5_accuracy, precision, recall and f1 (of the second of two classes; or with _micro, _macro over all) and auc.",
      {.example = "accuracy, f1_macro", .applies = Applies::Resume});
    v(&S::maxBatches, "max_batches", "Most batches", "Ends each evaluation after so many batches, counted over all ranks from the beginning of the data.",
      {.minimum = 1, .maximum = kMany, .unit = "batches", .none = "all", .example = "50", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::bestMetric, "best_metric", "Best by", "Metric that decides which checkpoint is best; auto takes accuracy or loss, by task.",
      {.example = "accuracy", .applies = Applies::Resume});
    v(&S::bestDirection, "best_direction", "Better is", "Whether a smaller or a larger value is better; auto knows the built-in metrics.",
      {.choices = "auto|min|max", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::patience, "patience", "Patience", "Evaluations without a better one before the run ends early.",
      {.minimum = 1, .maximum = 1e9, .unit = "evaluations", .none = "never ends early", .example = "5", .applies = Applies::Resume});
    v(&S::minDelta, "min_delta", "Smallest gain", "By how much an evaluation must be better than before for patience to begin anew. Best is whatever is better.",
      {.minimum = 0, .maximum = 1e9, .example = "0.001", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::weights, "weights", "Weights", "Which weights are evaluated, and exported unless asked otherwise: those that are trained, or their running mean.",
      {.choices = "trained|ema", .visibleIf = "optimizer.ema=true", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::restoreBest, "restore_best", "Leave the best weights", "However the run ends, writes the weights of its best evaluation to the run's export folder, ready for use. The run goes on from its newest checkpoint all the same.",
      {.applies = Applies::Resume});
    v(&S::sampleBytes, "sample_bytes", "Sample text", "Length of the text that the model writes at each evaluation, to be read beside the curves.",
      {.minimum = 0, .maximum = 10000, .unit = "bytes", .visibleIf = kIfLanguage, .applies = Applies::Resume});
    v(&S::samplePrompt, "sample_prompt", "Sample prompt", "What that text goes on from; empty begins a line.",
      {.example = "ROMEO:", .visibleIf = kIfLanguage, .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::sampleTemperature, "sample_temperature", "Temperature", "How freely that text is written: 0 takes the likeliest byte each time, 1 draws as the model foretells.",
      {.minimum = 0, .maximum = 10, .visibleIf = kIfLanguage, .level = Level::Advanced, .applies = Applies::Resume});
}

template <typename V>
constexpr void describe(V& v, Of<GuardSection>) {
    using S = GuardSection;
    v(&S::onNotFinite, "on_not_finite", "Not finite", "When loss or gradient is not finite: the update is never applied; then go on, pause, go back to a checkpoint at a lower rate, or stop.",
      {.choices = "skip|pause|roll_back|stop", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::onLossSpike, "on_loss_spike", "Loss spike", "When the loss of an update stands far above those before it; all but go_on leave the update out.",
      {.choices = "go_on|skip|pause|roll_back|stop", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::spikeScore, "spike_score", "Spike from", "How many robust deviations (1.4826 times the median distance from the median) above the median make a spike.",
      {.minimum = 1, .maximum = 1e6, .visibleIf = "guard.on_loss_spike=skip|pause|roll_back|stop", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::onGradientExplosion, "on_gradient_explosion", "Gradient explosion", "When the gradient norm before clipping is many times that of the updates before; all but go_on leave the update out.",
      {.choices = "go_on|skip|pause|roll_back|stop", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::explosionFactor, "explosion_factor", "Explosion from", "How many times the median norm make an explosion.",
      {.minimum = 1, .maximum = 1e9, .above = true, .visibleIf = "guard.on_gradient_explosion=skip|pause|roll_back|stop", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::window, "window", "Judged by", "Applied updates that a spike or an explosion is judged by; nothing is judged before there are so many.",
      {.minimum = 8, .maximum = 1000, .unit = "updates", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::onOutOfMemory, "on_out_of_memory", "Out of memory", "When memory runs out in an update: stop with what would help, or halve the micro-batches for the rest of the run and begin the update again. The samples of an update stay the same; its numbers do but for rounding and BatchNorm, and depend on the room that the machine had.",
      {.choices = "stop|halve", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::onHang, "on_hang", "Hang", "When a rank gives no sign of life or does not get on it is named within seconds, with the stacks of all ranks; after parallel.wait_seconds all ranks are ended and the run goes on from its newest checkpoint (at most run.restarts_per_hour times, and not after a hang at the same update with the same stack), or it ends, or waits for as long as it takes.",
      {.choices = "restart|stop|wait", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::onWorse, "on_worse", "Worse evaluation", "When an evaluation is worse than the best one so far: go on, pause, go back to the last good checkpoint at a lower rate, or stop.",
      {.choices = "go_on|pause|roll_back|stop", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::worseBy, "worse_by", "Worse by", "How far below the best an evaluation may be without counting as worse.",
      {.minimum = 0, .maximum = 1e9, .example = "0.01", .visibleIf = "guard.on_worse=pause|roll_back|stop", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::worseInARow, "worse_in_a_row", "Worse for", "Worse evaluations one after the other before something is done.",
      {.minimum = 1, .maximum = 1e6, .unit = "evaluations", .visibleIf = "guard.on_worse=pause|roll_back|stop", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::rateFactor, "rate_factor", "Rate factor", "What the learning rate is multiplied by each time the run goes back by itself.",
      {.minimum = 0, .maximum = 0.99, .above = true, .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::maxRollBacks, "max_roll_backs", "Most roll-backs", "How often a run goes back by itself before it ends as diverged.",
      {.minimum = 1, .maximum = 1000, .level = Level::Advanced, .applies = Applies::Resume});
}

template <typename V>
constexpr void describe(V& v, Of<CheckpointSection>) {
    using S = CheckpointSection;
    v(&S::every, "every", "Save every", "How often a checkpoint is written; the end of the run and a stop always save.", {.applies = Applies::Resume});
    v(&S::keepLast, "keep_last", "Keep newest", "Newest checkpoints that are kept, of the line that goes on. Of a branch that was left by going back its newest one stays.",
      {.minimum = 1, .maximum = 1e6, .unit = "checkpoints", .applies = Applies::Resume});
    v(&S::keepBest, "keep_best", "Keep best", "Best checkpoints that are kept, also on branches that were left.",
      {.minimum = 0, .maximum = 1e6, .unit = "checkpoints", .applies = Applies::Resume});
    v(&S::keepEvery, "keep_every", "Keep every", "Checkpoints whose step is a multiple of this are kept as well.",
      {.minimum = 1, .maximum = 1e12, .unit = "updates", .none = "none beside the newest and the best", .example = "1000", .level = Level::Advanced, .applies = Applies::Resume});
}

template <typename V>
constexpr void describe(V& v, Of<TelemetrySection>) {
    using S = TelemetrySection;
    v(&S::logEvery, "log_every", "Record every", "How often loss, rate, gradient norm and speed are recorded.",
      {.level = Level::Advanced, .applies = Applies::Resume});
    v(&S::devicesEvery, "devices_every", "Devices every", "How often use and memory of the devices are recorded.",
      {.level = Level::Advanced, .applies = Applies::Resume, .belongs = Belongs::Both});
    v(&S::normsEvery, "norms_every", "Norms of groups every", "How often the gradient norm of each group of parameters is recorded, before clipping.",
      {.example = "100 updates", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::histogramsEvery, "histograms_every", "Histograms every", "How often histograms of gradients (before clipping) and weights are recorded, one for each parameter.",
      {.example = "500 updates", .level = Level::Advanced, .applies = Applies::Resume});
    v(&S::tensorboard, "tensorboard", "TensorBoard files", "Writes every point to TensorBoard event files as well: true for a folder in the run, or a folder (absolute, or below the workspace) that gets one for each run. Empty: none.",
      {.example = "true", .level = Level::Advanced, .applies = Applies::Resume, .belongs = Belongs::Both});
}

template <typename V>
constexpr void describe(V& v, Of<PluginsSection>) {
    using S = PluginsSection;
    v(&S::use, "use", "Plug-ins", "Libraries of your own that training loads from your plug-in folder, in this order, and their settings (name.key=value); in a file each stands under its name.",
      {.example = "go_back, go_back.worse_by=0.02", .level = Level::Advanced, .applies = Applies::Resume});
}

template <typename V>
constexpr void describe(V& v, Of<CommandSection>) {
    using S = CommandSection;
    v(&S::line, "line", "Command", "Program and arguments of your own script, quoted as for a shell but run without one; empty trains with Lathe.",
      {.example = "python train.py --lr 3e-4", .multiline = true, .belongs = Belongs::Command});
    v(&S::folder, "folder", "Working folder", "Where the command runs; empty takes the folder that the run is started from.",
      {.example = "projects/flowers", .isPath = true, .belongs = Belongs::Command});
}

/// The sections themselves, in their order: visitor(&RunConfig::run, "run", "Run", "Help.").
template <typename V>
constexpr void describeSections(V& v) {
    v(&RunConfig::run, "run", "Run", "Name, length and seed.");
    v(&RunConfig::data, "data", "Data", "What is learned from, and how it is prepared.");
    v(&RunConfig::model, "model", "Model", "The network.");
    v(&RunConfig::task, "task", "Task", "What is learned.");
    v(&RunConfig::optimizer, "optimizer", "Optimizer", "How weights are changed.");
    v(&RunConfig::schedule, "schedule", "Schedule", "Course of the learning rate.");
    v(&RunConfig::accumulation, "accumulation", "Accumulation", "Micro-batches in an update.");
    v(&RunConfig::precision, "precision", "Precision", "Number formats.");
    v(&RunConfig::parallel, "parallel", "Parallel", "Devices and threads.");
    v(&RunConfig::evaluation, "evaluation", "Evaluation", "When the model is measured, and what counts as best.");
    v(&RunConfig::guard, "guard", "Guard", "What is done by itself when training goes wrong.");
    v(&RunConfig::checkpoint, "checkpoint", "Checkpoint", "What is saved and kept.");
    v(&RunConfig::telemetry, "telemetry", "Telemetry", "What is recorded while it runs.");
    v(&RunConfig::plugins, "plugins", "Plug-ins", "Libraries of your own.");
    v(&RunConfig::command, "command", "Command", "Your own program, run and watched in place of Lathe's training.");
}

struct CountFields {
    std::size_t count = 0;
    template <typename S, typename M>
    constexpr void operator()(M S::*, const char*, const char*, const char*, const Facts& = {}) { ++count; }
};

/// Fails the build, naming the section, when a member is not described.
struct CheckComplete {
    std::size_t count = 0;
    template <typename S>
    constexpr void operator()(S RunConfig::*, const char*, const char*, const char*) {
        constexpr std::size_t described = [] {
            CountFields fields;
            describe(fields, Of<S>{});
            return fields.count;
        }();
        static_assert(described == memberCount<S, AnyMember>(), "describe() must name every member of this section once");
        ++count;
    }
};

static_assert([] {
    CheckComplete sections;
    describeSections(sections);
    return sections.count;
}() == memberCount<RunConfig, AnySection>(), "describeSections() must name every section once");

}  // namespace lathe::config
