// The configuration of a run: one plain struct a section, defaults in place. Every member is named once more in
// describe() (describe.h), which is where its YAML key, help, unit, range and choices stand; everything else
// (schema, YAML, validation, form, --set, reference) is derived from that.
// Thread: plain values.
#pragma once

#include "base/interval.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lathe::config {

struct RunSection {
    std::string name;                                ///< empty: made from preset and changed keys
    std::int64_t seed = 42;
    std::optional<std::int64_t> epochs = 10;         ///< passes over the data; none: only max_updates ends the run
    std::optional<std::int64_t> maxUpdates;          ///< applied updates; whichever of the two comes first ends the run
    bool keepAwake = true;                           ///< the machine does not go to sleep while the run is up
    std::int64_t restartsPerHour = 3;                ///< after a crash of a worker, from the last good checkpoint; 0: never
    std::string note;
};

struct DataSection {
    std::string format = "auto";                     ///< auto | image_folder | csv | idx | text
    std::string train;                               ///< folder of class folders, CSV file, IDX images or text file; relative to the file it stands in
    std::string trainLabels;                         ///< IDX label file
    std::string eval;                                ///< empty: eval_fraction of train is held out
    std::string evalLabels;
    double evalFraction = 0.2;                       ///< seeded random part of train, of a text its end; [0, 0.9]
    std::int64_t splitSeed = 0;                      ///< of that choice; not the run's seed, so that runs compare on one split
    std::vector<std::string> features;               ///< CSV columns; empty: all but target and weight
    std::vector<std::string> target;                 ///< CSV column(s)
    std::string weight;                              ///< CSV column of sample weights, optional
    std::string separator = "auto";                  ///< CSV: auto (by the header line) | comma | semicolon | tab
    bool standardize = false;                        ///< CSV features to mean 0, deviation 1 of the training part
    std::int64_t context = 128;                      ///< text: bytes in a row, which are as far as a model looks back
    std::string documents = "file";                  ///< text: file | blank_line | line; what one document is, none of which sees another
    std::int64_t batchSize = 32;                     ///< samples (of a text: rows) in a micro-batch
    bool shuffle = true;
    bool dropLast = false;                           ///< leave out what does not fill the last micro-batch of an epoch
    std::int64_t loaderThreads = 2;                  ///< 0: load in the training thread
    std::optional<std::int64_t> imageSize;           ///< square side after decoding; none: as stored (all images alike)
    std::string channels = "auto";                   ///< auto | gray | rgb
    std::string resize = "crop";                     ///< crop (short side, then centre) | stretch
    std::string normalize = "unit";                  ///< pixels: unit (v / 255) | imagenet (then ImageNet's mean and deviation)
    bool augmentFlip = false;                        ///< random horizontal flip
    std::int64_t augmentShift = 0;                   ///< random shift up to so many pixels (zero padding, then crop)
};

struct ModelSection {
    std::string name = "mlp";                        ///< linear | mlp | convnet | resnet18 | 34 | 50 | 101 | 152 | gpt
    std::vector<std::int64_t> hidden = {64, 64};     ///< mlp: widths of hidden layers
    std::vector<std::int64_t> filters = {16, 32};    ///< convnet: filters of each stage
    double dropout = 0.0;                            ///< [0, 0.95]
    bool batchNorm = false;                          ///< convnet: BatchNorm after each convolution
    std::string stem = "standard";                   ///< resnet: standard (7x7, stride 2, pool) | small (3x3, stride 1)
    std::int64_t width = 64;                         ///< resnet: channels of the first stage; gpt: of every layer
    std::int64_t layers = 4;                         ///< gpt
    std::int64_t heads = 4;                          ///< gpt: of attention; width / heads is even
    std::string norm = "rmsnorm";                    ///< gpt: rmsnorm | layernorm
    std::string feedForward = "swiglu";              ///< gpt: swiglu | gelu
    bool tieEmbeddings = true;                       ///< gpt: bytes are read and foretold by one table
    std::string weights;                             ///< safetensors file with initial weights
};

struct TaskSection {
    std::string name = "classification";             ///< classification | regression | language
    std::optional<std::int64_t> numClasses;          ///< none: found in the data
    double labelSmoothing = 0.0;                     ///< [0, 0.9]
    std::string loss = "mse";                        ///< regression: mse | mae | huber
};

struct OptimizerSection {
    std::string name = "adamw";                      ///< adamw | adam | sgd | lion
    double learningRate = 3e-4;
    double weightDecay = 1e-4;
    std::string decayOn = "weights";                 ///< weights (tensors of two or more dimensions) | all
    double beta1 = 0.9;                              ///< adamw, adam, lion
    std::optional<double> beta2;                     ///< none: 0.999, lion 0.99
    double epsilon = 1e-8;                           ///< adamw, adam
    double momentum = 0.9;                           ///< sgd
    double dampening = 0;                            ///< sgd
    bool nesterov = false;                           ///< sgd
    double layerDecay = 1.0;                         ///< rate of a block: so much less for each one after it
    std::vector<std::string> groups;                 ///< "head.* lr_factor=10 weight_decay=0", see param_rules.h
    std::vector<std::string> freeze;                 ///< patterns of parameters that are not trained
    std::optional<double> maxGradNorm = 1.0;         ///< global norm; none: no clipping by norm
    std::optional<double> maxGradValue;              ///< of each element; none: no clipping by value
    bool ema = false;                                ///< keeps a running mean of the weights, engine/train/weight_average.h
    double emaDecay = 0.999;
    bool emaWarmup = true;                           ///< min(decay, (1 + n) / (10 + n)) after n updates
};

/// Which keys a kind uses is said in describe(); what they do, in plan/schedule.h.
struct ScheduleSection {
    std::string name = "cosine";                     ///< constant | linear | cosine | polynomial | step | exponential | one_cycle | wsd | plateau
    std::int64_t warmupUpdates = 0;
    double finalFactor = 0.0;                        ///< rate at the end, or the lowest one, as a part of the peak, [0, 1]
    std::optional<std::int64_t> totalUpdates;        ///< length of the curve; none: the planned length of the run
    std::int64_t cycles = 1;                         ///< cosine: falls so many times within the length
    double cycleGrowth = 1.0;                        ///< cosine: each fall takes so many times as long as the one before, >= 1
    double power = 2.0;                              ///< polynomial
    double decayFactor = 0.1;                        ///< step, exponential: after each decay_updates; plateau: at each cut
    std::int64_t decayUpdates = 1000;                ///< step, exponential
    double risePart = 0.3;                           ///< one_cycle: part of the curve that rises, [0, 1]
    double startFactor = 0.04;                       ///< one_cycle: rate at its beginning
    double decayPart = 0.2;                          ///< wsd: part of the curve that falls, [0, 1]
    std::string decayShape = "linear";               ///< wsd: linear | cosine | sqrt
    std::int64_t patience = 10;                      ///< plateau: evaluations without a better one that are still borne
    std::int64_t cooldown = 0;                       ///< plateau: evaluations after a cut that do not count
};

struct AccumulationSection {
    std::string rule = "fixed";                      ///< fixed | ramp | weight
    std::int64_t microBatches = 1;                   ///< fixed: micro-batches in an update, on all ranks together; ramp: at its end
    std::int64_t rampFrom = 1;                       ///< ramp: at its beginning
    std::int64_t rampUpdates = 100;                  ///< ramp: updates from one to the other
    double weight = 256;                             ///< weight: an update closes once it holds this much (samples, or what they weigh)
};

struct PrecisionSection {
    std::string mode = "fp32";                       ///< auto | fp32 | bf16 | fp16 | fp64
    double initialScale = 65536;                     ///< fp16: of the loss, a power of two
    std::int64_t scaleGrowthUpdates = 2000;          ///< fp16: updates without an overflow until it doubles
    std::int64_t maxSkippedInARow = 50;              ///< then the run ends as diverged
};

struct ParallelSection {
    std::string device = "auto";                     ///< auto | cpu | cuda | GPU-<uuid>[,GPU-<uuid>…]
    std::string strategy = "auto";                   ///< auto | single | ddp; auto: ddp from two ranks on
    std::int64_t ranks = 1;                          ///< processes that train together
    std::string reduction = "ring";                  ///< ring | tree: order in which gradients are summed
    std::string reduceAt = "window";                 ///< window | micro_step: when ranks sum them
    Interval checkReplicas{Interval::Unit::Updates, 100};  ///< ranks compare all of their state; updates or never
    std::int64_t waitSeconds = 300;                  ///< how long ranks wait for one that does not get on
    std::optional<std::int64_t> threads;             ///< of one process; none: physical cores, shared out among the ranks
    std::string determinism = "exact";               ///< exact | fast: whether a resume must continue bit for bit
};

struct EvaluationSection {
    Interval every{Interval::Unit::Epochs, 1};
    std::optional<std::int64_t> batchSize;           ///< none: as in training
    std::optional<std::int64_t> maxBatches;          ///< of one evaluation, from the beginning of the data; none: all
    std::vector<std::string> metrics;                ///< beside loss and the one that says what is best; empty: the task's usual ones
    std::string bestMetric = "auto";                 ///< auto: accuracy or loss, by task
    std::string bestDirection = "auto";              ///< auto | min | max; auto only where the metric is known
    std::optional<std::int64_t> patience;            ///< evaluations without a better one before the run ends
    double minDelta = 0.0;                           ///< what counts as better
    std::string weights = "trained";                 ///< trained | ema: what is evaluated, and exported unless asked otherwise
    bool restoreBest = false;                        ///< at the end, however the run ends, export/ holds the best weights
    std::int64_t sampleBytes = 200;                  ///< language: of the text that is written at each evaluation; 0: none
    std::string samplePrompt;                        ///< language: what that text goes on from; empty: a line end
    double sampleTemperature = 0.8;                  ///< language: 0 takes the likeliest byte each time
};

/// What is done by itself when training goes wrong.
struct GuardSection {
    std::string onNotFinite = "skip";                ///< skip | pause | roll_back | stop: loss or gradient is not finite
    std::string onLossSpike = "go_on";               ///< go_on | skip | pause | roll_back | stop
    double spikeScore = 8;                           ///< robust deviations above the median that make a spike
    std::string onGradientExplosion = "go_on";       ///< go_on | skip | pause | roll_back | stop
    double explosionFactor = 20;                     ///< times the median gradient norm
    std::int64_t window = 100;                       ///< applied updates that both are judged by, [8, 1000]
    std::string onOutOfMemory = "stop";              ///< stop | halve: memory runs out in an update
    std::string onHang = "restart";                  ///< restart | stop | wait: a rank does not get on, after parallel.wait_seconds
    std::string onWorse = "go_on";                   ///< go_on | pause | roll_back | stop: an evaluation is worse than the best one
    double worseBy = 0;                              ///< by more than this
    std::int64_t worseInARow = 1;                    ///< so many evaluations one after the other
    double rateFactor = 0.5;                         ///< of the learning rate at each roll-back, (0, 1)
    std::int64_t maxRollBacks = 3;                   ///< of a run by itself
};

struct CheckpointSection {
    Interval every{Interval::Unit::Seconds, 600};
    std::int64_t keepLast = 3;                       ///< newest ones kept, >= 1
    std::int64_t keepBest = 1;                       ///< best ones kept, >= 0
    std::optional<std::int64_t> keepEvery;           ///< those of every so many updates are kept, >= 1
};

struct TelemetrySection {
    Interval logEvery{Interval::Unit::Updates, 1};
    Interval devicesEvery{Interval::Unit::Seconds, 2};
    Interval normsEvery;                             ///< gradient norm of each group of parameters
    Interval histogramsEvery;                        ///< of gradients and weights, by parameter
    std::string tensorboard;                         ///< event files beside the record: a folder, or "true" for the run's own; empty: none
};

struct PluginsSection {
    std::vector<std::string> use;                    ///< plug-ins and their settings, as plugin_list.h reads them
};

/// A person's own program instead of Lathe's training: with a line, the other sections mean nothing but for what is said
/// to belong to both (Belongs in schema.h).
struct CommandSection {
    std::string line;                                ///< program and arguments, command_text.h says how it is read; empty: Lathe trains
    std::string folder;                              ///< working folder; empty: where the run is started from
};

/// Everything that decides what a run does. Sections stand in this order everywhere (YAML, form, reference).
struct RunConfig {
    RunSection run;
    DataSection data;
    ModelSection model;
    TaskSection task;
    OptimizerSection optimizer;
    ScheduleSection schedule;
    AccumulationSection accumulation;
    PrecisionSection precision;
    ParallelSection parallel;
    EvaluationSection evaluation;
    GuardSection guard;
    CheckpointSection checkpoint;
    TelemetrySection telemetry;
    PluginsSection plugins;
    CommandSection command;
};

}  // namespace lathe::config
