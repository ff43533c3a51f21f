// Taking over TensorBoard files: points a second into a run folder, against TensorBoard's own Python reader on the same
// bytes (LATHE_PYTHON or python3, left out where it has no tensorboard), and how long after a writer's flush a followed
// point is in shared memory. Prints JSON lines. Argument: points (default 1,000,000).
#include "base/clock.h"
#include "base/file_system.h"
#include "base/program_paths.h"
#include "launch/import.h"
#include "live/control_socket.h"
#include "tensorboard/event.h"
#include "tensorboard/event_writer.h"
#include "tensorboard/record_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace lathe;
namespace stdfs = std::filesystem;

namespace {

double seconds() { return static_cast<double>(Clock::system().monotonicNs()) * 1e-9; }

void line(const char* what, const char* peer, const char* metric, double value, const char* unit) {
    std::printf(R"({"bench":"tensorboard","case":"%s","peer":"%s","metric":"%s","value":%.6g,"unit":"%s"})" "\n", what, peer, metric, value, unit);
    std::fflush(stdout);
}

/// Two curves, as a training program logs them: a record each.
void writeLog(const stdfs::path& file, int points) {
    stdfs::create_directories(file.parent_path());
    auto writer = tensorboard::EventWriter::create(FileSystem::real(), file, 1.7e9, std::nullopt);
    unsigned noise = 1;
    for (int i = 0; i < points; ++i) {
        noise = noise * 1664525u + 1013904223u;
        const double wall = 1.7e9 + i * 0.0371 + (noise >> 20) * 1e-6;
        if (i % 2 == 0) writer->scalar(wall, i / 2, "train/loss", 2.0 / (1 + i * 1e-4) + (noise >> 8) * 1e-9);
        else writer->scalar(wall, i / 2, "train/lr", 1e-3 * std::cos(i * 1e-6));
    }
    static_cast<void>(writer->flush());
}

double parseSeconds(const stdfs::path& file) {
    const double start = seconds();
    auto reader = tensorboard::RecordReader::open(file, 0);
    tensorboard::Event event;
    double sum = 0;
    static_cast<void>(reader->read(UINT64_MAX, [&](std::span<const std::byte> payload) {
        if (tensorboard::parseEvent(payload, event) && !event.values.empty()) sum += event.values[0].number;
    }));
    return seconds() - start + (sum == 0.5 ? 1e9 : 0);
}

/// Runs a program with its output thrown away; its exit code.
int run(const std::vector<std::string>& words) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
        const int null = ::open("/dev/null", O_WRONLY);
        ::dup2(null, 1), ::dup2(null, 2);
        ::execvp(arguments[0], arguments.data());
        ::_exit(127);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Seconds a million points of TensorBoard's Python reader takes; 0 where it is not installed.
double peerSeconds(const stdfs::path& folder, int points) {
    const char* chosen = std::getenv("LATHE_PYTHON");
    const std::string python = chosen != nullptr ? chosen : "python3";
    const std::string import = "from tensorboard.backend.event_processing import event_accumulator as e\n";
    if (run({python, "-c", import}) != 0) return 0;
    const double start = seconds();
    run({python, "-c", import});
    const double startUp = seconds() - start, begin = seconds();
    run({python, "-c", import + "a = e.EventAccumulator('" + folder.string() + "', size_guidance={'scalars': 0}); a.Reload()\n"
                                "n = sum(len(a.Scalars(t)) for t in a.Tags()['scalars'])\nassert n == " + std::to_string(points)});
    return (seconds() - begin - startUp) * 1e6 / points;
}

void followed(const stdfs::path& scratch) {
    const stdfs::path logs = scratch / "live", file = logs / "events.out.tfevents.1.h";
    stdfs::create_directories(logs);
    auto writer = tensorboard::EventWriter::create(FileSystem::real(), file, 1.7e9, std::nullopt);
    writer->scalar(1.7e9, 0, "train/loss", 1);
    static_cast<void>(writer->flush());
    const std::string trainer = siblingProgram("../bin/lathe-trainer").string(), work = (scratch / "follow").string();
    if (run({trainer, "import", logs.string(), "--follow", "--detach", "--workspace", work}) != 0) return;
    const auto runs = rundir::listRuns(work);
    auto client = live::ControlClient::connect(runs.at(0).socket());
    auto segment = live::Segment::open(*(*client)->takeSegmentFd(), false);
    std::vector<double> latencies;
    for (int step = 1; step <= 40; ++step) {
        const std::uint64_t before = (*segment)->lastSequence(0);
        writer->scalar(1.7e9 + step, step, "train/loss", 1);
        static_cast<void>(writer->flush());
        const double start = seconds();
        while ((*segment)->lastSequence(0) == before && seconds() - start < 10) std::this_thread::sleep_for(std::chrono::microseconds(100));
        latencies.push_back((seconds() - start) * 1e3);
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    static_cast<void>((*client)->ask(live::Verb::StopAndSave));
    std::sort(latencies.begin(), latencies.end());
    line("follow", "lathe", "flush_to_memory_median", latencies[latencies.size() / 2], "ms");
    line("follow", "lathe", "flush_to_memory_worst", latencies.back(), "ms");
}

}  // namespace

int main(int argc, char** argv) {
    const int points = argc > 1 ? std::atoi(argv[1]) : 1'000'000;
    std::string pattern = (stdfs::temp_directory_path() / "lathe-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) return 1;
    const stdfs::path scratch = pattern;
    writeLog(scratch / "logs/events.out.tfevents.1.h", points);
    line("parse", "lathe", "rate", points / parseSeconds(scratch / "logs/events.out.tfevents.1.h"), "points/s");
    std::vector<double> rates;
    for (int round = 0; round < 3; ++round) {
        launch::ImportOptions options;
        options.workspace = scratch / ("work" + std::to_string(round));
        options.folder = scratch / "logs";
        const double start = seconds();
        const auto report = launch::importFolder(options);
        rates.push_back(points / (seconds() - start));
        if (!report || report->runs.size() != 1 || report->runs[0].count.points != points) return 1;
    }
    std::sort(rates.begin(), rates.end());
    line("import", "lathe", "rate", rates[1], "points/s");
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    line("import", "lathe", "peak_memory", static_cast<double>(usage.ru_maxrss) / 1024, "MiB");
    const int part = std::min(points, 100'000);
    writeLog(scratch / "part/events.out.tfevents.1.h", part);
    if (const double peer = peerSeconds(scratch / "part", part); peer > 0) {
        line("import", "tensorboard", "seconds_per_million", peer, "s");
        line("import", "tensorboard", "ratio", 1e6 / rates[1] / peer, "");
    }
    followed(scratch);
    stdfs::remove_all(scratch);
}
