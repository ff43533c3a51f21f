// needs: lathe_engine
// Parts that a training step is made of, one thread, against PyTorch's in the same run: dropout (forward and backward)
// against LibTorch's; shuffled batches from memory against a DataLoader without workers, where a Python with torch is
// given; and the time to go to batch 1,000,000 of a long epoch. Rounds are interleaved, the figure is the smallest. Prints
// JSON lines. Usage: bench_parts [python with torch] [rounds]
#include "../core/engine/made_dataset.h"
#include "engine/data/loader.h"
#include "engine/model/dropout.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <numeric>
#include <optional>
#include <string>

using namespace lathe;
using namespace lathe::engine;

namespace {

constexpr std::int64_t kRows = 20'000, kFeatures = 20, kBatch = 256;
constexpr std::int64_t kSeekBatch = 16, kSeekTo = 1'000'000;

double microsOf(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

std::unique_ptr<Loader> loaderOf(std::int64_t samples, std::int64_t features, std::int64_t batch, bool inMemory) {
    DataPart part;
    part.dataset = std::make_shared<MadeDataset>(samples, features);
    part.ids.resize(static_cast<std::size_t>(samples));
    std::iota(part.ids.begin(), part.ids.end(), 0);
    LoaderSettings settings;
    settings.shape.batchSize = batch;
    settings.seed = 1;
    settings.shuffle = true;
    if (!inMemory) settings.memoryLimitBytes = 0;
    return Loader::open(std::move(part), settings).value();
}

/// Nanoseconds an element, forward and, where asked for, backward.
double dropoutNanos(bool backward, const std::function<at::Tensor(const at::Tensor&)>& drop) {
    constexpr int kTimes = 20;
    const at::Tensor input = at::ones({1024, 256}).requires_grad_(backward), gradient = at::ones({1024, 256});
    const double micros = microsOf([&] {
        for (int i = 0; i < kTimes; ++i) {
            const at::Tensor output = drop(input);
            if (backward) output.backward(gradient);
        }
    });
    return micros * 1e3 / kTimes / static_cast<double>(input.numel());
}

/// Microseconds a batch over an epoch.
double batchMicros(Loader& loader) {
    const std::int64_t batches = (kRows + kBatch - 1) / kBatch;
    loader.seek(Epoch(0), PlanEntry(0));
    std::int64_t seen = 0;
    const double micros = microsOf([&] {
        for (std::int64_t i = 0; i < batches; ++i) seen += loader.next()->count();
    });
    return seen == kRows ? micros / static_cast<double>(batches) : 1e300;
}

double seekMillis(Loader& loader) {
    loader.seek(Epoch(0), PlanEntry(0));
    return microsOf([&] {
               loader.seek(Epoch(0), PlanEntry(kSeekTo * kSeekBatch));
               if (loader.next()->count() != kSeekBatch) std::abort();
           }) * 1e-3;
}

std::optional<double> dataLoaderMicros(const std::string& python) {
    const std::string answer = (std::filesystem::temp_directory_path() / "lathe_data_pytorch.txt").string();
    if (std::system((python + " " LATHE_SOURCE_DIR "/tests/bench/data_pytorch.py > " + answer).c_str()) != 0) return std::nullopt;
    double micros = 0;
    std::FILE* file = std::fopen(answer.c_str(), "r");
    const bool read = file && std::fscanf(file, "%lf", &micros) == 1;
    if (file) std::fclose(file);
    return read ? std::optional<double>(micros) : std::nullopt;
}

void emit(const char* what, const char* peer, const char* metric, double value, const char* unit) {
    std::printf("{\"bench\": \"parts\", \"case\": \"%s\", \"peer\": \"%s\", \"metric\": \"%s\", \"value\": %.4g, \"unit\": \"%s\"}\n", what, peer, metric, value, unit);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string python = argc > 1 ? argv[1] : "";
    const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
    at::set_num_threads(1);
    const auto memory = loaderOf(kRows, kFeatures, kBatch, true), longEpoch = loaderOf((kSeekTo + 10) * kSeekBatch, 2, kSeekBatch, false);
    double ours[2] = {1e300, 1e300}, theirs[2] = {1e300, 1e300}, batch = 1e300, peer = 1e300, seek = 1e300;
    for (int round = 0; round < rounds; ++round) {
        const DropoutKey key = dropoutKey({1, round, 0, 0, 0, 0});
        for (const bool backward : {false, true}) {
            ours[backward] = std::min(ours[backward], dropoutNanos(backward, [&](const at::Tensor& input) { return dropout(input, 0.1, key); }));
            theirs[backward] = std::min(theirs[backward], dropoutNanos(backward, [](const at::Tensor& input) { return at::dropout(input, 0.1, true); }));
        }
        batch = std::min(batch, batchMicros(*memory));
        seek = std::min(seek, seekMillis(*longEpoch));
        if (!python.empty()) peer = std::min(peer, dataLoaderMicros(python).value_or(1e300));
    }
    for (const bool backward : {false, true}) {
        const char* what = backward ? "dropout 1024 x 256, forward and backward" : "dropout 1024 x 256, forward";
        emit(what, "lathe", "time", ours[backward], "ns an element");
        emit(what, "libtorch", "time", theirs[backward], "ns an element");
        emit(what, "lathe / libtorch", "ratio", ours[backward] / theirs[backward], "");
    }
    emit("shuffled batches of 256 x 20", "lathe", "batch", batch, "us");
    if (peer < 1e300) {
        emit("shuffled batches of 256 x 20", "dataloader(0)", "batch", peer, "us");
        emit("shuffled batches of 256 x 20", "dataloader(0) / lathe", "ratio", peer / batch, "");
    }
    emit("seek to batch 1,000,000", "lathe", "until it is in hand", seek, "ms");
}
