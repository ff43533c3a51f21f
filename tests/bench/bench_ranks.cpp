// needs: lathe_engine
// Processor time of a step of two ranks over Gloo on the small MLP: our whole loop (agreement, exact normalisation, norm,
// clipping) against PyTorch's DistributedDataParallel. One thread a rank; all threads of the busier process count. Rounds
// are interleaved, figures are medians. Prints JSON lines. Usage: bench_ranks [python with torch] [rounds]
#include "bench_line.h"
#include "engine/parallel/data_parallel.h"
#include "engine/train/trainer.h"

#include <ATen/Parallel.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace lathe;
using namespace lathe::engine;

namespace {

constexpr int kSteps = 600, kWarmUp = 50, kBatch = 32, kFeatures = 32;

class ReadyWindows final : public WindowSource {
public:
    ReadyWindows() {
        for (int i = 0; i < 32; ++i) {
            Batch batch;
            batch.input = at::sin(at::arange(kBatch * kFeatures, at::kFloat) * (0.37f + 0.01f * static_cast<float>(i))).view({kBatch, kFeatures});
            batch.target = (at::arange(kBatch, at::kLong) * 7 + i) % 10;
            batch.ids.resize(kBatch);
            m_batches.push_back(std::move(batch));
        }
    }
    Result<void> load(const plan::Window&, const plan::Sharing::Share& share, std::vector<Batch>& out) override {
        if (m_next == kWarmUp) started = bench::processMicros();
        out.assign(share.count(), m_batches[static_cast<std::size_t>(m_next++) % m_batches.size()]);
        return {};
    }
    double started = 0;

private:
    std::vector<Batch> m_batches;
    int m_next = 0;
};

/// Microseconds a step of one rank, written to `answer`.
void runRank(int rank, const std::string& meeting, const std::string& answer) {
    at::set_num_threads(1);
    config::ParallelSection section;
    section.ranks = 2;
    const auto parallel = makeParallel(section, {.rank = rank, .world = 2, .rendezvous = meeting}).value();
    const auto model = makeModel({}, {.features = kFeatures, .outputs = 10}, 1, at::kFloat, at::kCPU).value();
    config::OptimizerSection recipe;
    recipe.weightDecay = 0.01;
    const auto table = ParamTable::make(*model, recipe).value();
    FlatStorage storage(*table);
    const auto optimizer = Optimizer::make(recipe, storage, table->groups()).value();
    dataset::Info info;
    info.classNames.assign(10, "c");
    info.classCounts.assign(10, 1);
    const auto task = makeTask(config::RunConfig{}, info).value();
    BestValue best = BestValue::make({}, task->metricInfo()).value();
    ReadyWindows windows;
    const plan::OrderShape order({.samples = 1'000'000, .batchSize = kBatch, .accumulation = plan::fixedWindows(2)});
    const auto precision = makePrecision({}).value();
    Progress progress;
    Curve curve = Curve::constant(1e-3);
    ActiveTime time(Clock::system());
    TrainerParts parts{.task = task.get(), .model = model.get(), .storage = &storage, .optimizer = optimizer.get(), .parallel = parallel.get(),
                       .precision = precision.get(), .order = &order, .windows = &windows, .curve = &curve, .best = &best, .progress = &progress, .time = &time};
    TrainerSettings settings;
    settings.maxUpdates = kSteps + kWarmUp;
    settings.maxGradNorm = 1.0;
    const Ending ending = Trainer(parts, settings).run();
    if (ending.state != rundir::State::Completed) {
        std::fprintf(stderr, "rank %d: %s\n", rank, ending.why.c_str());
        return;
    }
    const double micros = (bench::processMicros() - windows.started) / kSteps;
    if (std::FILE* file = std::fopen(answer.c_str(), "w")) {
        std::fprintf(file, "%f", micros);
        std::fclose(file);
    }
}

std::optional<double> numberIn(const std::string& file) {
    double value = 0;
    std::FILE* from = std::fopen(file.c_str(), "r");
    const bool read = from && std::fscanf(from, "%lf", &value) == 1;
    if (from) std::fclose(from);
    return read ? std::optional<double>(value) : std::nullopt;
}

double ourRound(const std::filesystem::path& folder, int round) {
    const std::string meeting = folder / ("meet" + std::to_string(round));
    for (int rank = 0; rank < 2; ++rank) {
        if (::fork() != 0) continue;
        runRank(rank, meeting, folder / ("rank" + std::to_string(rank)));
        std::fflush(nullptr);
        ::_exit(0);
    }
    while (::wait(nullptr) > 0) {}
    return std::max(numberIn(folder / "rank0").value_or(1e300), numberIn(folder / "rank1").value_or(1e300));
}

void emit(const char* peer, const char* metric, double value, const char* unit) { bench::line("ranks", "mlp_small, 2 ranks", peer, metric, value, unit); }

}  // namespace

int main(int argc, char** argv) {
    const std::string python = argc > 1 ? argv[1] : "";
    const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
    const auto folder = std::filesystem::temp_directory_path() / ("lathe-bench-ranks-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    std::vector<double> ours, peers, ratios;
    for (int round = 0; round < rounds; ++round) {
        ours.push_back(ourRound(folder, round));
        if (python.empty()) continue;
        const auto peer = bench::numbersOf(python + " " LATHE_SOURCE_DIR "/tests/bench/ranks_pytorch.py " + std::to_string(kSteps));
        if (!peer) continue;
        peers.push_back(peer->front());
        ratios.push_back(ours.back() / peer->front());
    }
    emit("lathe", "processor time of a step", bench::median(ours), "us");
    if (!peers.empty()) {
        emit("pytorch ddp", "processor time of a step", bench::median(peers), "us");
        emit("lathe / pytorch ddp", "ratio", bench::median(ratios), "");
    }
    std::filesystem::remove_all(folder);
}
