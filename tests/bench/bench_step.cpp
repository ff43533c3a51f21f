// needs: lathe_engine
// Time of a training step: our loop with all that a run has (telemetry into shared memory, heartbeat, steering, digests,
// guard, verdict, groups of parameters) against the bare loop of the same parts, and against PyTorch's loop with its fused
// optimizer where a Python with torch is given; where it has Lightning too, what our loop adds to the bare one against what
// Lightning's Trainer adds to PyTorch's loop. One thread, its processor time. The bare loop makes a step between every two
// steps of ours, so that both meet the same machine; rounds of the others are interleaved. Figures are medians. Prints JSON
// lines. Usage: bench_step [python with torch] [rounds] [cases that begin so] [python with lightning]
#include "bench_line.h"
#include "engine/session/environment.h"
#include "engine/session/resume.h"
#include "engine/session/steering.h"
#include "engine/session/telemetry.h"
#include "engine/train/trainer.h"

#include <ATen/Parallel.h>

#include <cstdlib>
#include <string>

using namespace lathe;
using namespace lathe::engine;

namespace {

constexpr int kBatches = 32;

struct Case {
    std::string name;
    config::ModelSection model;
    ModelShape shape;
    std::int64_t batch = 32;
    int steps = 2000;
};

std::vector<Case> cases() {
    std::vector<Case> all(5);
    all[0] = {"mlp_small", {}, {.features = 32, .outputs = 10}, 32, 2000};
    all[1] = {"mlp_784", {}, {.features = 784, .outputs = 10}, 128, 60};
    all[1].model.hidden = {512, 512};
    all[2] = {"conv_28", {}, {.features = 784, .channels = 1, .height = 28, .width = 28, .outputs = 10}, 64, 60};
    all[2].model.name = "convnet";
    all[2].model.filters = {8, 16};
    all[3] = {"gpt_64", {}, {.features = 64, .outputs = 256, .context = 64}, 16, 60};
    all[3].model.name = "gpt";
    all[3].model.layers = 2;
    all[4] = all[3];
    all[4].name = "gpt_64_gelu";
    all[4].model.norm = "layernorm";
    all[4].model.feedForward = "gelu";
    return all;
}

config::OptimizerSection recipe() {
    config::OptimizerSection section;
    section.learningRate = 1e-3;
    section.weightDecay = 0.01;
    section.maxGradNorm = 1.0;
    return section;
}

Batch batchOf(const Case& c, int number) {
    Batch batch;
    batch.ids.resize(static_cast<std::size_t>(c.batch));
    if (const std::int64_t context = c.shape.context; context > 0) {   // bytes that follow each other by a rule; one document a row
        const at::Tensor bytes = (at::arange(c.batch * (context + 1), at::kLong).view({c.batch, context + 1}) * 7 + number).remainder(256);
        batch.input = at::stack({bytes.narrow(1, 0, context), at::zeros({c.batch, context}, at::kLong)}, 1);
        batch.target = bytes.narrow(1, 1, context).contiguous();
        batch.weight = at::full({c.batch}, static_cast<double>(context), at::kDouble);
        return batch;
    }
    std::vector<std::int64_t> shape{c.batch, c.shape.features};
    if (c.shape.channels > 0) shape = {c.batch, c.shape.channels, c.shape.height, c.shape.width};
    batch.input = at::sin(at::arange(c.batch * c.shape.features, at::kFloat) * (0.37f + 0.01f * static_cast<float>(number))).view(shape);
    batch.target = (at::arange(c.batch, at::kLong) * 7 + number) % 10;
    return batch;
}

std::unique_ptr<Task> taskOf(const Case& c) {
    config::RunConfig config;
    dataset::Info info;
    info.classNames.assign(10, "c");
    info.classCounts.assign(10, 1);
    info.context = c.shape.context;
    if (info.context > 0) config.task.name = "language";
    return makeTask(config, info).value();
}

/// A model with its optimizer, freshly made: both loops train the same thing.
struct Parts {
    explicit Parts(const Case& c)
        : model(makeModel(c.model, c.shape, 1, at::kFloat, at::kCPU).value()), table(ParamTable::make(*model, recipe()).value()), storage(*table),
          optimizer(Optimizer::make(recipe(), storage, table->groups()).value()), parallel(makeSingleProcess()), task(taskOf(c)) {
        for (int i = 0; i < kBatches; ++i) batches.push_back(batchOf(c, i));
    }
    std::unique_ptr<Model> model;
    std::unique_ptr<ParamTable> table;
    FlatStorage storage;
    std::unique_ptr<Optimizer> optimizer;
    std::unique_ptr<Parallel> parallel;
    std::unique_ptr<Task> task;
    std::vector<Batch> batches;
};

/// What every training step has to do, as one would write it by hand.
class BareLoop {
public:
    explicit BareLoop(const Case& c) : m_parts(c) {}

    void step() {
        const Batch& batch = m_parts.batches[m_steps++ % m_parts.batches.size()];
        m_parts.storage.clearGradients();
        m_statistics.clear();
        Context context;
        context.training = true;
        context.statistics = &m_statistics;
        const LossTerm term = m_parts.task->loss(m_parts.model->forward(context, batch.input), batch).front();
        if (!m_seed.defined()) {  // batches are of one size
            m_weight = m_parts.task->weightsOf(batch).front();
            m_seed = at::scalar_tensor(1 / m_weight, term.sum.options().requires_grad(false));
        }
        term.sum.backward(m_seed);
        const double norm = m_parts.parallel->globalNorm(m_parts.storage).value;
        if (norm > 1.0) m_parts.storage.scaleGradients(1.0 / (norm + 1e-6));
        m_parts.optimizer->step(1e-3);
        m_shown += term.sum.item<double>() / m_weight + norm;
    }
    double shown() const { return m_shown; }

private:
    Parts m_parts;
    std::vector<StatisticsUpdate> m_statistics;
    at::Tensor m_seed;
    std::size_t m_steps = 0;
    double m_weight = 0, m_shown = 0;
};

/// Processor microseconds of each step.
struct StepTimes {
    std::vector<double> bare, whole;
};

/// Ready batches; where a step of the whole loop ends and the next one begins, the bare loop makes one of its own.
class PairedWindows final : public WindowSource {
public:
    PairedWindows(std::vector<Batch> batches, BareLoop& bare, StepTimes& times) : m_batches(std::move(batches)), m_bare(bare), m_times(times) {}

    Result<void> load(const plan::Window& window, const plan::Sharing::Share&, std::vector<Batch>& out) override {
        const double ended = bench::threadMicros();
        if (m_began > 0) m_times.whole.push_back(ended - m_began);
        m_bare.step();
        m_began = bench::threadMicros();
        m_times.bare.push_back(m_began - ended);
        out.assign(1, m_batches[static_cast<std::size_t>(window.microBatches.front().begin) % m_batches.size()]);
        return {};
    }

private:
    std::vector<Batch> m_batches;
    BareLoop& m_bare;
    StepTimes& m_times;
    double m_began = 0;
};

/// One round of both loops. The last step of the bare one has no partner. Which of the two was made first shows in where its
/// tensors lie, and that in its speed (half a percent), so they take turns.
void pairedLoops(const Case& c, bool bareFirst, StepTimes& times) {
    std::optional<BareLoop> made;
    if (bareFirst) made.emplace(c);
    Parts parts(c);
    if (!bareFirst) made.emplace(c);
    BareLoop& bare = *made;
    PairedWindows windows(parts.batches, bare, times);
    const auto segment = live::Segment::create({2, 4u << 20}, "bench").value();
    Pulse pulse(*segment, 0, -1);
    FrameWriter frames(*segment, 0, 1);
    ActiveTime time(Clock::system());
    BestValue best = BestValue::make({}, parts.task->metricInfo()).value();
    Telemetry telemetry(frames, pulse, time, best, {Interval::Unit::Updates, 1}, true, parts.table->groups());
    DigestKeeper digests(frames);
    Steering steering(*segment, pulse, frames);
    TrajectoryGuard guard({});
    Progress progress;
    Curve curve = Curve::constant(1e-3);
    const plan::OrderShape order({.samples = 1'000'000, .batchSize = 1, .accumulation = plan::fixedWindows(1)});
    const auto precision = makePrecision({}).value();
    TrainerParts trainer{.task = parts.task.get(), .model = parts.model.get(), .storage = &parts.storage, .optimizer = parts.optimizer.get(),
                         .parallel = parts.parallel.get(), .precision = precision.get(), .order = &order, .windows = &windows, .curve = &curve, .best = &best,
                         .progress = &progress, .time = &time, .hooks = {&telemetry, &digests, &steering}, .guard = &guard};
    TrainerSettings settings;
    settings.maxUpdates = c.steps + 1;
    settings.maxGradNorm = 1.0;
    Trainer(trainer, settings).run();
    segment->setRecorderBytes(0, segment->writtenBytes(0));
    if (bare.shown() == 0) std::puts("");
}

/// Medians of all rounds; microseconds.
struct Figures {
    double bare = 0, whole = 0, added = 0;
    std::vector<double> ofPyTorch;        ///< a round: whole / PyTorch
    std::vector<double> pyTorch, lightning, lightningLogs;   ///< the last two: what it adds to PyTorch's loop
};

std::string pythonCommand(const std::string& python, const char* script, const Case& c) {
    return python + " " LATHE_SOURCE_DIR "/tests/bench/" + script + " " + c.name + " " + std::to_string(c.steps);
}

Figures measure(const Case& c, int rounds, const std::string& python, const std::string& lightningPython) {
    Figures figures;
    StepTimes all;
    for (int round = 0; round < rounds; ++round) {
        StepTimes times;
        pairedLoops(c, round % 2 == 1, times);
        times.bare.resize(times.whole.size());
        if (!python.empty()) {
            if (const auto peer = bench::numbersOf(pythonCommand(python, "step_pytorch.py", c))) {
                figures.pyTorch.push_back(peer->front());
                figures.ofPyTorch.push_back(bench::median(times.whole) / peer->front());
            }
        }
        if (!lightningPython.empty()) {
            if (const auto peer = bench::numbersOf(pythonCommand(lightningPython, "step_lightning.py", c)); peer && peer->size() == 2) {
                figures.lightning.push_back(peer->front());
                figures.lightningLogs.push_back(peer->back());
            }
        }
        all.bare.insert(all.bare.end(), times.bare.begin(), times.bare.end());
        all.whole.insert(all.whole.end(), times.whole.begin(), times.whole.end());
    }
    figures.bare = bench::median(all.bare);
    figures.whole = bench::median(all.whole);
    std::vector<double> added;
    for (std::size_t i = 0; i < all.whole.size(); ++i) added.push_back(all.whole[i] - all.bare[i]);
    figures.added = bench::median(added);
    return figures;
}

void report(const Case& c, const Figures& figures) {
    const auto emit = [&](const char* peer, const char* metric, double value, const char* unit) { bench::line("step", c.name, peer, metric, value, unit); };
    emit("bare loop", "step", figures.bare, "us");
    emit("everything on", "step", figures.whole, "us");
    emit("everything on - bare loop", "added to a step", figures.added, "us");
    emit("everything on / bare loop", "ratio", 1 + figures.added / figures.bare, "");
    if (!figures.pyTorch.empty()) {
        emit("pytorch fused", "step", bench::median(figures.pyTorch), "us");
        emit("everything on / pytorch fused", "ratio", bench::median(figures.ofPyTorch), "");
    }
    if (!figures.lightning.empty()) {
        const double silent = bench::median(figures.lightning), logs = bench::median(figures.lightningLogs);
        emit("lightning without a logger", "added to a step", silent, "us");
        emit("lightning that logs each step", "added to a step", logs, "us");
        emit("everything on / lightning without a logger", "ratio of what is added", figures.added / silent, "");
        emit("everything on / lightning that logs each step", "ratio of what is added", figures.added / logs, "");
    }
}

}  // namespace

int main(int argc, char** argv) {
    const auto argument = [&](int i) { return argc > i ? std::string(argv[i]) : std::string(); };
    const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 6;
    at::set_num_threads(1);
    keepFreedMemory();
    for (const Case& c : cases())
        if (c.name.starts_with(argument(3))) report(c, measure(c, rounds, argument(1), argument(4)));
}
