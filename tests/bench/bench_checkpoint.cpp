// needs: lathe_engine
// Checkpoints of about 200 MB: how long training stands still beside one copy of the same bytes, how long until they are
// durable beside a plain write and fsync, how much training slows down meanwhile, and opening and loading beside torch.load
// and safetensors where a Python with both is given. Rounds are interleaved, medians are compared. Prints JSON lines.
// Usage: bench_checkpoint [python with torch and safetensors] [rounds] [folder on the disk to measure]
#include "base/descriptor.h"
#include "base/file_system.h"
#include "engine/checkpoint/checkpoint_reader.h"
#include "engine/checkpoint/checkpoint_writer.h"
#include "engine/train/model_state.h"
#include "engine/train/trainer.h"
#include "rundir/run_folder.h"
#include "rundir/safetensors_header.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

using namespace lathe;
using namespace lathe::engine;

namespace {

namespace stdfs = std::filesystem;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void tell(const char* metric, double value, const char* unit, const char* peer = "") {
    std::printf("{\"bench\": \"checkpoint\", \"case\": \"200 MB\", \"peer\": \"%s\", \"metric\": \"%s\", \"value\": %.4g, \"unit\": \"%s\"}\n", peer, metric, value, unit);
    std::fflush(stdout);
}

[[noreturn]] void fail(const Error& error) {
    std::fprintf(stderr, "%s\n", error.text().c_str());
    std::exit(1);
}

config::OptimizerSection recipe() {
    config::OptimizerSection section;
    section.learningRate = 1e-4;
    return section;
}

config::ModelSection fiveLayers() {
    config::ModelSection section;
    section.hidden = {2000, 2000, 2000, 2000, 2000};
    return section;
}

/// A model of 17.6 million parameters with AdamW: 211 MB of state.
struct Parts {
    Parts() : model(makeModel(fiveLayers(), {.features = 784, .outputs = 10}, 1, at::kFloat, at::kCPU).value()), table(*model), storage(table),
              optimizer(Optimizer::make(recipe(), storage).value()), modelState(*model, table) {
        state.add(modelState);
        state.add(*optimizer);
        state.add(progress);
        optimizer->step(1e-4);
    }
    /// Another state, so that nothing can be linked.
    void move() {
        const at::NoGradGuard noGrad;
        for (const StateTensor& item : state.tensors()) item.tensor.add_(1e-6);
        progress.counters.globalStep = progress.counters.globalStep.next();
        progress.counters.updateAttempts = progress.counters.updateAttempts.next();
    }
    std::uint64_t bytes() const {
        std::uint64_t all = 0;
        for (const StateTensor& item : state.tensors()) all += item.tensor.nbytes();
        return all;
    }
    std::unique_ptr<Model> model;
    ParamTable table;
    FlatStorage storage;
    std::unique_ptr<Optimizer> optimizer;
    ModelState modelState;
    Progress progress;
    TrainState state;
};

double plainWrite(const stdfs::path& file, const at::Tensor& bytes) {
    const double start = now();
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const auto* data = static_cast<const std::byte*>(bytes.const_data_ptr());
    for (std::size_t at = 0; at < bytes.nbytes();) {
        const ssize_t done = ::write(fd, data + at, std::min<std::size_t>(bytes.nbytes() - at, 1u << 20));
        if (done <= 0) std::abort();
        at += static_cast<std::size_t>(done);
    }
    if (::fsync(fd) != 0) std::abort();
    ::close(fd);
    const double seconds = now() - start;
    stdfs::remove(file);
    return seconds;
}

void clear(const stdfs::path& folder, const std::string& butFor) {
    for (const auto& entry : stdfs::directory_iterator(folder))
        if (entry.path().filename() != butFor) stdfs::remove_all(entry.path());
}

/// Returns the folder name of a checkpoint that is left.
std::string stallAndDurability(const stdfs::path& folder, int rounds) {
    Parts parts;
    CheckpointWriter writer(FileSystem::real(), {.folder = folder, .runId = "bench", .configHash = {}, .layout = "single", .previous = {}}, parts.state, {}, {});
    if (!writer.waitsBecause().empty()) std::fprintf(stderr, "%s\n", writer.waitsBecause().c_str());
    const auto size = static_cast<std::int64_t>(parts.bytes());
    const at::Tensor source = at::ones({size}, at::kByte), ready = at::zeros({size}, at::kByte);
    std::vector<double> copies, stalls, durable, plain;
    for (int round = 0; round < rounds + 1; ++round) {
        parts.move();
        double start = now();
        std::memcpy(ready.mutable_data_ptr(), source.const_data_ptr(), source.nbytes());
        copies.push_back(now() - start);
        start = now();
        writer.begin({.progress = parts.progress, .metrics = {}, .isBest = false, .probe = {}, .reason = "interval"});
        stalls.push_back(now() - start);
        const auto saved = writer.finish();
        if (!saved) fail(saved.error());
        durable.push_back(now() - start);
        clear(folder, writer.newest());
        plain.push_back(plainWrite(folder / "plain", source));
        if (round == 0) for (auto* times : {&copies, &stalls, &durable, &plain}) times->clear();  // warming up
    }
    tell("bytes", static_cast<double>(size), "B");
    tell("copy", median(copies), "s", "memcpy");
    tell("stall", median(stalls), "s");
    tell("stall_ratio", median(stalls) / median(copies), "of one copy", "memcpy");
    tell("plain_write", median(plain), "s", "write + fsync");
    tell("durable", median(durable), "s");
    tell("durable_ratio", median(durable) / median(plain), "of a plain write", "write + fsync");
    return writer.newest();
}

/// Steps with their wall time: which began and ended while a checkpoint was being written, and which saw none.
class Steps final : public WindowSource, public Hook {
public:
    explicit Steps(const CheckpointWriter& writer) : m_writer(writer) {
        m_batch.ids.resize(16);
        m_batch.input = at::sin(at::arange(16 * 784, at::kFloat) * 0.37f).view({16, 784});
        m_batch.target = at::arange(16, at::kLong) % 10;
    }
    Result<void> load(const plan::Window&, const plan::Sharing::Share&, std::vector<Batch>& out) override {
        const double at = now();
        const bool writes = m_saving && !m_writer.ended();
        if (m_last > 0 && m_begun) begun.push_back(at - m_last);
        else if (m_last > 0 && m_wrote && writes) writing.push_back(at - m_last);
        else if (m_last > 0 && !m_wrote && !writes) quiet.push_back(at - m_last);
        m_last = at;
        m_wrote = writes;
        m_begun = false;
        out.assign(1, m_batch);
        return {};
    }
    std::string_view hookName() const override { return "steps"; }
    void at(const HookContext& context, Wishes&) override {
        if (context.point == Point::BeforeSave) m_saving = m_begun = true;
        if (context.point != Point::AfterSave) return;
        m_saving = false;
        if (!context.save->error.empty()) std::fprintf(stderr, "%s\n", context.save->error.c_str());
        seconds.push_back(context.save->seconds);
        stalls.push_back(context.save->stallSeconds);
    }
    std::vector<double> quiet, writing, begun, seconds, stalls;

private:
    const CheckpointWriter& m_writer;
    Batch m_batch;
    double m_last = 0;
    bool m_saving = false, m_begun = false, m_wrote = false;
};

void slowDown(const stdfs::path& folder, int threads, int rounds) {
    at::set_num_threads(threads);
    Parts parts;
    CheckpointWriter writer(FileSystem::real(), {.folder = folder, .runId = "bench", .configHash = {}, .layout = "single", .previous = {}}, parts.state, {}, {});
    Steps steps(writer);
    config::RunConfig config;
    dataset::Info info;
    info.classNames.assign(10, "c");
    info.classCounts.assign(10, 1);
    const auto task = makeTask(config, info).value();
    auto best = BestValue::make({}, metricsOf(*task)).value();
    auto curve = Curve::constant(1e-4);
    const auto parallel = makeSingleProcess();
    const auto precision = makePrecision({}).value();
    const plan::OrderShape shape{.samples = 16'000, .batchSize = 16, .accumulation = plan::fixedWindows(1)};
    ActiveTime time{Clock::system()};
    TrainerParts made{.task = task.get(), .model = parts.model.get(), .storage = &parts.storage, .optimizer = parts.optimizer.get(), .parallel = parallel.get(),
                      .precision = precision.get(), .order = &shape, .windows = &steps, .curve = &curve, .best = &best, .progress = &parts.progress,
                      .saver = &writer, .time = &time, .hooks = {&steps}};
    TrainerSettings settings;
    settings.maxUpdates = 40 * rounds;   // some begin and end while a checkpoint is written, the others see none
    settings.saveEvery = {Interval::Unit::Updates, 8};
    settings.probes = false;
    const Ending ending = Trainer(made, settings).run();
    if (ending.state != rundir::State::Completed) std::fprintf(stderr, "%s\n", ending.why.c_str());
    clear(folder, {});
    const double slower = median(steps.writing) / median(steps.quiet);
    const std::string name = std::to_string(threads) + (threads == 1 ? " thread" : " threads");
    tell("step", median(steps.quiet), "s", name.c_str());
    tell("steps_while_writing", static_cast<double>(steps.writing.size()), "", name.c_str());
    tell("slow_down_while_writing", slower, "", name.c_str());
    const double lost = median(steps.stalls) + (slower - 1) * median(steps.seconds);
    tell("slow_down_saving_every_minute", 1 + lost / 60, "", name.c_str());
}

double firstTensor(const stdfs::path& checkpoint) {
    const double start = now();
    const auto manifest = rundir::readCheckpoint(checkpoint);
    if (!manifest) fail(manifest.error());
    const auto& piece = manifest->tensors.front().pieces.front();
    const auto fd = rundir::openBelow(checkpoint, piece.file);
    if (!fd) fail(fd.error());
    const Descriptor file(*fd);
    const auto header = rundir::readSafetensorsHeader(*fd, piece.file);
    if (!header) fail(header.error());
    const at::Tensor tensor = at::empty(piece.shape, at::kFloat);
    const auto read = readAt(*fd, header->tensors.at(piece.key).begin, {static_cast<std::byte*>(tensor.mutable_data_ptr()), tensor.nbytes()}, piece.file);
    if (!read) fail(read.error());
    if (tensor.sum().item<float>() == 0.12345f) std::printf("\n");
    return now() - start;
}

double verifiedLoad(const stdfs::path& checkpoint, TrainState& state) {
    const double start = now();
    const auto loaded = loadCheckpoint(checkpoint, state);
    if (!loaded) fail(loaded.error());
    return now() - start;
}

/// checkpoint_torch.py: asked for one round at a time, so that its rounds and ours take turns.
class Peer {
public:
    Peer(const char* python, const stdfs::path& checkpoint) {
        if (!*python) return;
        const stdfs::path fifo = checkpoint.parent_path() / "rounds";
        const std::string command = std::string(python) + " " + LATHE_SOURCE_DIR + "/tests/bench/checkpoint_torch.py " + checkpoint.string() + " < " + fifo.string();
        if (::mkfifo(fifo.c_str(), 0600) != 0 || !(m_answers = ::popen(command.c_str(), "r")) || !(m_asks = std::fopen(fifo.c_str(), "w"))) std::perror("python");
        char word[16] = {};
        if (!m_asks || std::fscanf(m_answers, "%15s", word) != 1) std::fprintf(stderr, "no answer of %s\n", command.c_str()), std::exit(1);
    }
    ~Peer() {
        if (m_asks) std::fclose(m_asks);
        if (m_answers) ::pclose(m_answers);
    }
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;
    void round() {
        double torchLoad = 0, safetensors = 0;
        if (!m_asks) return;
        std::fputs("\n", m_asks), std::fflush(m_asks);
        if (std::fscanf(m_answers, "%lf %lf", &torchLoad, &safetensors) != 2) std::exit(1);
        torchLoads.push_back(torchLoad);
        safetensorsLoads.push_back(safetensors);
    }
    std::vector<double> torchLoads, safetensorsLoads;

private:
    FILE* m_answers = nullptr;
    FILE* m_asks = nullptr;
};

void opening(const stdfs::path& checkpoint, const char* python, int rounds) {
    at::set_num_threads(1);
    std::vector<double> first, loads;
    Parts parts;
    Peer peer(python, checkpoint);
    for (int round = 0; round < rounds; ++round) {
        peer.round();
        first.push_back(firstTensor(checkpoint));
        loads.push_back(verifiedLoad(checkpoint, parts.state));
    }
    tell("first_tensor", median(first), "s");
    tell("verified_load", median(loads), "s");
    if (!*python) return;
    tell("torch_load", median(peer.torchLoads), "s", "torch.load");
    tell("safetensors_load", median(peer.safetensorsLoads), "s", "safetensors");
    tell("first_tensor_ratio", median(first) / median(peer.torchLoads), "of torch.load", "torch.load");
    tell("verified_load_ratio", median(loads) / median(peer.safetensorsLoads), "of safetensors' load", "safetensors");
}

}  // namespace

int main(int argc, char** argv) {
    const char* python = argc > 1 ? argv[1] : "";
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
    std::string place = (stdfs::path(argc > 3 ? argv[3] : "/var/tmp") / "lathe-bench-XXXXXX").string();
    if (!::mkdtemp(place.data())) return std::perror("mkdtemp"), 1;
    const stdfs::path folder(place);
    const std::string left = stallAndDurability(folder, rounds);
    opening(folder / left, python, rounds);
    for (const int threads : {1, 2}) slowDown(folder, threads, rounds);
    stdfs::remove_all(folder);
    return 0;
}
