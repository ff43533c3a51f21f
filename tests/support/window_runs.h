// Runs for tests of the window.
#pragma once

#include "config/config.h"
#include "fixture_run.h"
#include "window_bench.h"

#include <QString>

#include <cstdint>
#include <memory>
#include <string>

namespace lathe::tests {

inline std::string yamlOf(const char* setting = nullptr) {
    auto loaded = config::load("digits-mlp");
    if (setting != nullptr) config::applySettings(*loaded, {setting});
    return config::toYaml(loaded->config);
}

/// The run as the window calls it.
inline QString keyOf(const FixtureRun& run) { return QString::fromStdString(run.key()); }

/// A run that trained to its end, with two checkpoints.
inline std::unique_ptr<FixtureRun> finishedRun(const WindowBench& bench, const std::string& name, std::int64_t updates = 60, const char* setting = nullptr) {
    auto run = std::make_unique<FixtureRun>(bench.workspace(), name, yamlOf(setting));
    run->beginSession(1);
    for (std::int64_t i = 1; i <= updates; ++i)
        run->points(i, {{"train/loss", 2.0 / double(i)}, {"train/lr", 1e-3}, {"train/grad_norm", 1.0}, {"train/samples_per_second", 1000}});
    run->flush();
    run->checkpoint(1, updates / 2, {{"eval/loss", "0.5"}});
    run->checkpoint(1, updates, {{"eval/loss", "0.4"}}, true);
    run->endSession(rundir::State::Completed, "Finished");
    run->summary([&](rundir::Summary& summary) {
        summary.state = rundir::State::Completed;
        summary.counters.globalStep = GlobalStep(updates);
        summary.plannedUpdates = updates;
    });
    run->closeWriter();
    return run;
}

}  // namespace lathe::tests
