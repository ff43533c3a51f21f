// The one header of plug-ins: a shared library of your own, NAME.so in your plug-in folder, that adds hooks, learning-rate
// curves, metrics, models, tasks and strategies (accumulation, parallel, precision). A configuration uses it by name, with settings under that name:
//   plugins:
//     NAME: {every: 100}
// What it adds stands in the configuration as NAME/thing (model.name, task.name, schedule.name, accumulation.rule,
// parallel.strategy, precision.mode, evaluation.best_metric); its hooks and metrics are there as soon as it is used. The run's record keeps its version and the
// digest of its file.
//
//   #include "engine/plugin/plugin.h"
//   class Stopper final : public lathe::engine::Hook { … };
//   LATHE_PLUGIN("stopper", "1.0", registry) {
//       const double limit = registry.number("limit", 10);
//       registry.addHook([limit] { return std::make_unique<Stopper>(limit); });
//   }
//
// Models, tasks, metrics, number formats and parallel strategies compute with LibTorch: define LATHE_PLUGIN_TORCH before this header (CMake's
// lathe_add_plugin(NAME sources… TORCH) does) and their classes come with it. Without it nothing of LibTorch is included.
//
// How one is compiled and where it goes: `lathe-trainer plugins --help`, README, LathePlugin.cmake beside this file.
// A plug-in is built with the headers of the very Lathe that loads it: it says which in a stamp, which is read before any
// of its code runs. Exceptions may leave its functions: one in LATHE_PLUGIN or in a maker ends the start with its text, one
// in a hook is reported and training goes on, unless the hook is required(). Plug-ins stay loaded until the process ends.
// Thread: everything is called on the training thread.
#pragma once

#include "engine/plugin/stamp.h"
#include "engine/train/hooks.h"
#include "plan/accumulation.h"
#include "plan/schedule.h"

#ifdef LATHE_PLUGIN_TORCH
#include "engine/model/layers.h"
#include "engine/parallel/data_parallel.h"
#include "engine/parallel/group_parallel.h"
#include "engine/task/task.h"
#include "engine/train/precision.h"
#endif

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

namespace c10 {
struct Device;
}
namespace lathe::dataset {
struct Info;
}

namespace lathe::engine {

class MetricPool;
class Model;
class Parallel;
class Precision;
class Task;
class WeightSource;
struct ModelShape;
struct RankPlace;

/// What a plug-in is given while it is loaded. What it adds under a name that it has used already, or under one that is
/// not made of a–z, 0–9, _ and -, throws.
class PluginRegistry {
public:
    virtual ~PluginRegistry() = default;

    /// Its settings in the configuration; the fallback where one is not set. A value that cannot be read or lies outside
    /// throws, naming the setting. A setting that nobody has asked for when LATHE_PLUGIN returns is an error.
    virtual std::string text(std::string_view key, std::string_view fallback) = 0;
    virtual double number(std::string_view key, double fallback, double minimum = -std::numeric_limits<double>::infinity(),
                          double maximum = std::numeric_limits<double>::infinity()) = 0;
    virtual std::int64_t integer(std::string_view key, std::int64_t fallback, std::int64_t minimum = std::numeric_limits<std::int64_t>::min(),
                                 std::int64_t maximum = std::numeric_limits<std::int64_t>::max()) = 0;
    virtual bool flag(std::string_view key, bool fallback) = 0;

    /// Hooks are made in the order they are added in, after ours.
    virtual void addHook(std::function<std::unique_ptr<Hook>()> make) = 0;
    /// schedule.name: NAME/`name`. Part of the peak rate for the update after `applied` applied ones, in [0, 1]; warm-up is
    /// its own affair. A function of these alone, so that nothing has to be kept.
    virtual void addSchedule(const std::string& name, std::function<double(const config::ScheduleSection& schedule, GlobalStep applied)> factor) = 0;
    /// Evaluated beside the task's own, as the series eval/NAME/`name`.
    virtual void addMetric(const std::string& name, bool higherIsBetter, std::function<std::unique_ptr<MetricPool>()> make) = 0;
    /// model.name: NAME/`name`.
    virtual void addModel(const std::string& name,
                          std::function<Result<std::unique_ptr<Model>>(const config::ModelSection&, const ModelShape&, const WeightSource&)> make) = 0;
    /// task.name: NAME/`name`.
    virtual void addTask(const std::string& name, std::function<Result<std::unique_ptr<Task>>(const config::RunConfig&, const dataset::Info&)> make) = 0;
    /// accumulation.rule: NAME/`name`. A rule that has not closed the first window of a run when its epoch ends
    /// (OpenWindow::endsEpoch) is refused; later on the end of an epoch closes windows too. `words`, here and below: what `explain` says of it, as a part of a sentence.
    virtual void addAccumulation(const std::string& name, const std::string& words,
                                 std::function<Result<std::shared_ptr<plan::Accumulation>>(const config::AccumulationSection&)> make) = 0;
    /// parallel.strategy: NAME/`name`. GroupParallel has all but the sum; a strategy may also have another one made by
    /// makeParallel() and pass on what it leaves as it is. Where it does not give every rank the same bits, the comparison of
    /// ranks (parallel.check_replicas) ends the run.
    virtual void addParallel(const std::string& name, const std::string& words,
                             std::function<Result<std::unique_ptr<Parallel>>(const config::ParallelSection&, const RankPlace&)> make) = 0;
    /// precision.mode: NAME/`name`. Weights stay in fp32, as data come; castType() says what a forward pass computes in.
    virtual void addPrecision(const std::string& name, const std::string& words,
                              std::function<Result<std::unique_ptr<Precision>>(const config::PrecisionSection&, c10::Device)> make) = 0;
};

}  // namespace lathe::engine

/// Once in each plug-in, followed by the body of a function that adds things to REGISTRY. NAME: that of the file.
#define LATHE_PLUGIN(NAME, VERSION, REGISTRY)                                                                            \
    extern "C" {                                                                                                         \
    extern const lathe::engine::PluginStamp lathe_plugin_stamp;                                                          \
    __attribute__((used, visibility("default"))) constinit const lathe::engine::PluginStamp lathe_plugin_stamp =         \
        lathe::engine::pluginStamp(NAME, VERSION);                                                                       \
    __attribute__((visibility("default"))) void lathe_plugin_register(lathe::engine::PluginRegistry& REGISTRY);          \
    }                                                                                                                    \
    void lathe_plugin_register(lathe::engine::PluginRegistry& REGISTRY)
