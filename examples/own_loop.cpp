// A training loop of your own that uses only Lathe's order of the data, its checkpoints and its telemetry: y = w x + b.
//   lathe-trainer run -- own_loop FOLDER [UPDATES]
// shows its curve live; started again with the same folder it goes on from its newest checkpoint, bit for bit.
#include "base/file_system.h"
#include "engine/checkpoint/checkpoint_reader.h"
#include "engine/checkpoint/checkpoint_writer.h"
#include "plan/order.h"
#include "rundir/checkpoint_manifest.h"

#include <lathe.h>

#include <cstdio>

using namespace lathe;
using namespace lathe::engine;

/// Everything that decides how training goes on must be registered.
class Line final : public Stateful {
public:
    std::string stateName() const override { return "line"; }
    std::vector<StateTensor> stateTensors() const override { return {{"w", "parameter", w}, {"b", "parameter", b}}; }
    at::Tensor w = at::zeros({1}), b = at::zeros({1});
};

static int complain(const Error& error) { return std::fprintf(stderr, "%s\n", error.text().c_str()), 1; }

static std::string newestIn(const std::filesystem::path& folder) {
    std::string newest;
    for (const auto& info : rundir::listCheckpoints(folder))
        if (info.problem.empty()) newest = info.folder;
    return newest;
}

/// One update over a window of micro-batches; the loss over the whole of it.
static double update(Line& line, const plan::Window& window, const std::vector<std::int64_t>& order) {
    const double rate = 0.5, samples = static_cast<double>(window.samples());
    at::Tensor gradW = at::zeros({1}), gradB = at::zeros({1});
    double loss = 0;
    for (const plan::Window::Range& range : window.microBatches) {
        const at::Tensor x = at::tensor(at::ArrayRef(order).slice(static_cast<std::size_t>(range.begin), static_cast<std::size_t>(range.end - range.begin)), at::kFloat) / 256;
        const at::Tensor error = line.w * x + line.b - (3 * x + 0.5);
        loss += error.square().sum().item<double>();
        gradW += 2 * (error * x).sum();
        gradB += 2 * error.sum();
    }
    line.w -= rate / samples * gradW;
    line.b -= rate / samples * gradB;
    return loss / samples;
}

int main(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "own_loop FOLDER [UPDATES]\n"), 2;
    const std::filesystem::path folder = std::filesystem::absolute(argv[1]);
    const std::int64_t updates = argc > 2 ? std::atoll(argv[2]) : 200;
    if (const auto made = makeFolders(FileSystem::real(), folder); !made) return complain(made.error());

    const plan::OrderShape shape{.samples = 256, .batchSize = 16, .accumulation = plan::fixedWindows(2)};
    Line line;
    Progress progress;
    TrainState state;
    state.add(line);
    state.add(progress);
    const std::string newest = newestIn(folder);
    if (!newest.empty()) {
        if (const auto loaded = loadCheckpoint(folder / newest, state); !loaded) return complain(loaded.error());
    }
    CheckpointWriter writer(FileSystem::real(), {.folder = folder, .runId = "own-loop", .configHash = {}, .layout = {}, .previous = newest}, state, {}, {});

    lathe_run* run = lathe_init("own loop");
    lathe_total(run, updates);
    Counters& at = progress.counters;
    double loss = 0;
    while (at.globalStep.value() < updates && !lathe_should_stop(run)) {
        const plan::Window window = plan::windowAt(shape, at.epoch, at.planEntry, at.updateAttempts);
        loss = update(line, window, plan::epochOrder(shape.samples, 42, at.epoch, true));
        at.globalStep = at.globalStep.next();
        at.updateAttempts = at.updateAttempts.next();
        at.epoch = window.nextEpoch;
        at.planEntry = window.nextEntry;
        lathe_log(run, at.globalStep.value(), "loss", loss);
    }
    const auto saved = writer.save({.progress = progress, .metrics = {}, .isBest = false, .probe = {}, .reason = "end"});
    lathe_finish(run, saved ? 0 : 1, "");
    if (!saved) return complain(saved.error());
    std::printf("update %ld: loss %.17g, w %.9g, b %.9g\n", at.globalStep.value(), loss, line.w.item<double>(), line.b.item<double>());
}
