// needs: lathe_engine
// Time of a training step: our loop with everything on (telemetry into shared memory, heartbeat, steering, verdict)
// against the bare loop of the same parts, and against PyTorch's loop with its fused optimizer where a Python with torch
// is given. One thread; processor time of that thread, so that other work on the machine adds little; rounds are
// interleaved, and the figure is the smallest tenth-percentile of all. Prints JSON lines. Usage: bench_step [python with torch] [rounds] [cases that begin so]
#include "engine/session/steering.h"
#include "engine/session/telemetry.h"
#include "engine/train/trainer.h"
#include "live/spill.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <ctime>
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

/// Processor microseconds of each step, stamped where the next one begins.
class StepTimes {
public:
    void stamp() {
        timespec now{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        const double micros = static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
        if (m_last > 0) m_micros.push_back(micros - m_last);
        m_last = micros;
    }
    double tenthPercentile() {
        std::sort(m_micros.begin(), m_micros.end());
        return m_micros.at(m_micros.size() / 10);
    }

private:
    std::vector<double> m_micros;
    double m_last = 0;
};

class ReadyWindows final : public WindowSource {
public:
    ReadyWindows(std::vector<Batch> batches, StepTimes& times) : m_batches(std::move(batches)), m_times(times) {}
    Result<void> load(const plan::Window& window, const plan::Sharing::Share&, std::vector<Batch>& out) override {
        m_times.stamp();
        out.assign(1, m_batches[static_cast<std::size_t>(window.microBatches.front().begin) % m_batches.size()]);
        return {};
    }

private:
    std::vector<Batch> m_batches;
    StepTimes& m_times;
};

/// A model with its optimizer, freshly made: both loops train the same thing.
struct Parts {
    explicit Parts(const Case& c)
        : model(makeModel(c.model, c.shape, 1, at::kFloat, at::kCPU).value()), table(*model), storage(table),
          optimizer(Optimizer::make(recipe(), storage).value()), parallel(makeSingleProcess()) {
        config::RunConfig config;
        dataset::Info info;
        info.classNames.assign(10, "c");
        info.classCounts.assign(10, 1);
        info.context = c.shape.context;
        if (info.context > 0) config.task.name = "language";
        task = makeTask(config, info).value();
        for (int i = 0; i < kBatches; ++i) {
            Batch batch;
            batch.ids.resize(static_cast<std::size_t>(c.batch));
            if (info.context > 0) {   // bytes that follow each other by a rule; one document a row
                const at::Tensor bytes = (at::arange(c.batch * (info.context + 1), at::kLong).view({c.batch, info.context + 1}) * 7 + i).remainder(256);
                batch.input = at::stack({bytes.narrow(1, 0, info.context), at::zeros({c.batch, info.context}, at::kLong)}, 1);
                batch.target = bytes.narrow(1, 1, info.context).contiguous();
                batch.weight = at::full({c.batch}, static_cast<double>(info.context), at::kDouble);
                batches.push_back(std::move(batch));
                continue;
            }
            const std::vector<std::int64_t> shape =
                c.shape.channels ? std::vector<std::int64_t>{c.batch, c.shape.channels, c.shape.height, c.shape.width} : std::vector<std::int64_t>{c.batch, c.shape.features};
            batch.input = at::sin(at::arange(c.batch * c.shape.features, at::kFloat) * (0.37f + 0.01f * static_cast<float>(i))).view(shape);
            batch.target = (at::arange(c.batch, at::kLong) * 7 + i) % 10;
            batches.push_back(std::move(batch));
        }
    }
    std::unique_ptr<Model> model;
    ParamTable table;
    FlatStorage storage;
    std::unique_ptr<Optimizer> optimizer;
    std::unique_ptr<Parallel> parallel;
    std::unique_ptr<Task> task;
    std::vector<Batch> batches;
};

double bareLoop(const Case& c) {
    Parts parts(c);
    StepTimes times;
    std::vector<StatisticsUpdate> statistics;
    double shown = 0;
    for (int step = 0; step < c.steps; ++step) {
        times.stamp();
        const Batch& batch = parts.batches[static_cast<std::size_t>(step) % parts.batches.size()];
        parts.storage.clearGradients();
        Context context;
        context.training = true;
        context.statistics = &statistics;
        const LossTerm term = parts.task->loss(parts.model->forward(context, batch.input), batch).front();
        const at::Tensor loss = term.sum / term.weight;
        loss.backward();
        const double norm = parts.parallel->globalNorm(parts.storage).value;
        if (norm > 1.0) parts.storage.scaleGradients(1.0 / (norm + 1e-6));
        parts.optimizer->step(1e-3);
        shown += loss.item<double>() + norm;
    }
    times.stamp();
    if (shown == 0) std::puts("");
    return times.tenthPercentile();
}

double wholeLoop(const Case& c) {
    Parts parts(c);
    StepTimes times;
    ReadyWindows windows(parts.batches, times);
    const auto segment = live::Segment::create({2, 4u << 20}, "bench").value();
    Pulse pulse(*segment, 0, -1);
    FrameWriter frames(*segment, 0, 1);
    const live::Spiller spiller(*segment, 0, std::filesystem::temp_directory_path(), 999);
    ActiveTime time(Clock::system());
    BestValue best = BestValue::make({}, parts.task->metricInfo()).value();
    Telemetry telemetry(frames, pulse, time, best, {Interval::Unit::Updates, 1});
    Steering steering(*segment, pulse, frames);
    Progress progress;
    Curve curve = Curve::constant(1e-3);
    const PlannedAccumulation accumulation({.samples = 1'000'000, .batchSize = 1, .microBatches = 1});
    const auto precision = makePrecision({}).value();
    TrainerParts trainer{.task = parts.task.get(), .phases = {{Phase{}, parts.model.get(), &parts.storage, parts.optimizer.get()}},
                         .parallel = parts.parallel.get(), .precision = precision.get(), .accumulation = &accumulation, .windows = &windows, .curve = &curve, .best = &best,
                         .progress = &progress, .time = &time, .hooks = {&telemetry, &steering}};
    TrainerSettings settings;
    settings.maxUpdates = c.steps;
    settings.maxGradNorm = 1.0;
    Trainer(trainer, settings).run();
    segment->setRecorderBytes(0, segment->writtenBytes(0));
    return times.tenthPercentile();
}

/// One round of step_pytorch.py, or nothing where it cannot run.
std::optional<double> pythonLoop(const std::string& python, const Case& c) {
    const std::string script = LATHE_SOURCE_DIR "/tests/bench/step_pytorch.py";
    const std::string answer = (std::filesystem::temp_directory_path() / "lathe_step_pytorch.txt").string();
    const std::string command = python + " " + script + " " + c.name + " " + std::to_string(c.steps) + " > " + answer;
    if (std::system(command.c_str()) != 0) return std::nullopt;
    double micros = 0;
    std::FILE* file = std::fopen(answer.c_str(), "r");
    const bool read = file && std::fscanf(file, "%lf", &micros) == 1;
    if (file) std::fclose(file);
    return read ? std::optional<double>(micros) : std::nullopt;
}

void emit(const std::string& name, const char* peer, const char* metric, double value, const char* unit) {
    std::printf("{\"bench\": \"step\", \"case\": \"%s\", \"peer\": \"%s\", \"metric\": \"%s\", \"value\": %.4g, \"unit\": \"%s\"}\n", name.c_str(), peer, metric, value, unit);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string python = argc > 1 ? argv[1] : "";
    const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
    at::set_num_threads(1);
    const std::string only = argc > 3 ? argv[3] : "";
    for (const Case& c : cases()) {
        if (!only.empty() && !c.name.starts_with(only)) continue;
        double bare = 1e300, whole = 1e300, peer = 1e300;
        for (int round = 0; round < rounds; ++round) {
            bare = std::min(bare, bareLoop(c));
            whole = std::min(whole, wholeLoop(c));
            if (!python.empty()) peer = std::min(peer, pythonLoop(python, c).value_or(1e300));
        }
        emit(c.name, "bare loop", "step", bare, "us");
        emit(c.name, "everything on", "step", whole, "us");
        emit(c.name, "everything on / bare loop", "ratio", whole / bare, "");
        if (peer < 1e300) {
            emit(c.name, "pytorch fused", "step", peer, "us");
            emit(c.name, "everything on / pytorch fused", "ratio", whole / peer, "");
        }
        std::fflush(stdout);
    }
}
