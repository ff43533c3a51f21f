// needs: lathe_engine
// Parts that a training step is made of, in processor time of one thread, against PyTorch's in the same run: dropout (forward and backward)
// against LibTorch's; shuffled batches from memory against a DataLoader without workers, where a Python with torch is
// given; and the time to go to batch 1,000,000 of a long epoch. Rounds are interleaved, figures are medians. Prints JSON
// lines. Usage: bench_parts [python with torch] [rounds]
#include "../core/engine/made_dataset.h"
#include "bench_line.h"
#include "engine/data/loader.h"
#include "engine/model/dropout.h"
#include "engine/session/environment.h"

#include <ATen/Parallel.h>

#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>

using namespace lathe;
using namespace lathe::engine;

namespace {

constexpr std::int64_t kRows = 20'000, kFeatures = 20, kBatch = 256;
constexpr std::int64_t kSeekBatch = 16, kSeekTo = 1'000'000;

/// Of this thread.
double microsOf(const std::function<void()>& work) {
    const double start = bench::threadMicros();
    work();
    return bench::threadMicros() - start;
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

/// Microseconds a batch over some epochs.
double batchMicros(Loader& loader) {
    constexpr std::int64_t kEpochs = 5, kBatches = kEpochs * ((kRows + kBatch - 1) / kBatch);
    loader.seek(Epoch(0), PlanEntry(0));
    std::int64_t seen = 0;
    const double micros = microsOf([&] {
        for (std::int64_t i = 0; i < kBatches; ++i) seen += loader.next()->count();
    });
    if (seen != kEpochs * kRows) std::abort();
    return micros / static_cast<double>(kBatches);
}

double seekMillis(Loader& loader) {
    loader.seek(Epoch(0), PlanEntry(0));
    return microsOf([&] {
               loader.seek(Epoch(0), PlanEntry(kSeekTo * kSeekBatch));
               if (loader.next()->count() != kSeekBatch) std::abort();
           }) * 1e-3;
}

/// Time of ours and of the peer, a round each.
struct Times {
    std::vector<double> ours, peer;

    /// `bySpeed`: how many times as fast, not which part of the time.
    void report(const char* what, const char* peerName, const char* metric, const char* unit, bool bySpeed = false) const {
        bench::line("parts", what, "lathe", metric, bench::median(ours), unit);
        if (peer.empty()) return;
        std::vector<double> ratios;
        for (std::size_t i = 0; i < peer.size(); ++i) ratios.push_back(bySpeed ? peer[i] / ours[i] : ours[i] / peer[i]);
        bench::line("parts", what, peerName, metric, bench::median(peer), unit);
        bench::line("parts", what, bySpeed ? std::string(peerName) + " / lathe" : "lathe / " + std::string(peerName), "ratio", bench::median(ratios), "");
    }
};

}  // namespace

int main(int argc, char** argv) {
    const std::string python = argc > 1 ? argv[1] : "";
    const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
    at::set_num_threads(1);
    keepFreedMemory();
    const auto memory = loaderOf(kRows, kFeatures, kBatch, true), longEpoch = loaderOf((kSeekTo + 10) * kSeekBatch, 2, kSeekBatch, false);
    Times forward, both, batches, seeks;
    for (int round = 0; round < rounds; ++round) {
        const DropoutKey key = dropoutKey({1, round, 0, 0, 0, 0});
        for (const bool backward : {false, true}) {
            Times& times = backward ? both : forward;
            times.ours.push_back(dropoutNanos(backward, [&](const at::Tensor& input) { return dropout(input, 0.1, key); }));
            times.peer.push_back(dropoutNanos(backward, [](const at::Tensor& input) { return at::dropout(input, 0.1, true); }));
        }
        batches.ours.push_back(batchMicros(*memory));
        seeks.ours.push_back(seekMillis(*longEpoch));
        if (python.empty()) continue;
        if (const auto peer = bench::numbersOf(python + " " LATHE_SOURCE_DIR "/tests/bench/data_pytorch.py")) batches.peer.push_back(peer->front());
    }
    forward.report("dropout 1024 x 256, forward", "libtorch", "time", "ns an element");
    both.report("dropout 1024 x 256, forward and backward", "libtorch", "time", "ns an element");
    batches.report("shuffled batches of 256 x 20", "dataloader(0)", "batch", "us", true);
    seeks.report("seek to batch 1,000,000", "", "until it is in hand", "ms");
}
