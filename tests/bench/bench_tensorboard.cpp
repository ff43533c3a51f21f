// Taking over TensorBoard files: points a second into a run folder, against TensorBoard's own Python reader on the same
// bytes (LATHE_PYTHON or python3, left out where it has no tensorboard), and how long after the flush of another process a
// point is in the followed run: in shared memory and in run.sqlite. Prints JSON lines. Argument: points (default 1,000,000).
#include "base/clock.h"
#include "base/file_system.h"
#include "base/program_paths.h"
#include "bench_line.h"
#include "launch/import/import.h"
#include "live/control_socket.h"
#include "live/segment.h"
#include "store/run_store.h"
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
#include <unistd.h>
#include <vector>

using namespace lathe;
namespace stdfs = std::filesystem;

namespace {

double seconds() { return static_cast<double>(Clock::system().monotonicNs()) * 1e-9; }

void line(const char* what, const char* peer, const char* metric, double value, const char* unit) {
    bench::line("tensorboard", what, peer, metric, value, unit);
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

constexpr int kFollowed = 60;

struct Flushed {
    std::int64_t step = 0, ns = 0;
};

/// Another program that logs: a point and a flush at times that nobody can foresee, and when each flush began.
pid_t startWriter(const stdfs::path& file, int out) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    auto writer = tensorboard::EventWriter::create(FileSystem::real(), file, 1.7e9, std::nullopt);
    unsigned noise = 7;
    for (int step = 0; step <= kFollowed; ++step) {
        writer->scalar(1.7e9 + step, step, "train/loss", 1);
        const Flushed flushed{step, Clock::system().monotonicNs()};
        static_cast<void>(writer->flush());
        if (::write(out, &flushed, sizeof flushed) != sizeof flushed) ::_exit(1);
        noise = noise * 1664525u + 1013904223u;
        ::usleep((step == 0 ? 3'000'000 : 100'000) + (noise >> 16) % 500'000);  // the run comes up meanwhile
    }
    ::_exit(0);
}

/// When each step was there: in shared memory, where a window sees it, and in run.sqlite, where every verb reads it.
struct Seen {
    std::array<std::int64_t, kFollowed + 1> live{}, recorded{};
};

void look(live::RingReader& ring, const rundir::RunFolder& run, Seen& seen) {
    const auto batch = ring.read();
    for (const live::Frame& frame : batch.frames) {
        const auto points = frame.type == live::FrameType::Points ? live::decodePoints(frame.payload) : Result<live::PointsFrame>(live::PointsFrame{{}, {}, -1, {}, {}, {}});
        if (points && points->step >= 0 && points->step <= kFollowed) seen.live[static_cast<std::size_t>(points->step)] = Clock::system().monotonicNs();
    }
    const auto reader = store::RunReader::open(run.database());
    if (!reader) return;
    const auto points = (*reader)->points("train/loss", store::RunReader::Line::All);
    if (!points) return;
    const std::int64_t now = Clock::system().monotonicNs();
    for (const store::Point& point : *points)
        if (point.step <= kFollowed && seen.recorded[static_cast<std::size_t>(point.step)] == 0) seen.recorded[static_cast<std::size_t>(point.step)] = now;
}

void reportDelays(const char* metric, const std::vector<Flushed>& flushes, const std::array<std::int64_t, kFollowed + 1>& seen) {
    std::vector<double> delays;
    for (const Flushed& one : flushes)
        if (one.step > 0) delays.push_back(static_cast<double>(seen[static_cast<std::size_t>(one.step)] - one.ns) * 1e-6);
    std::sort(delays.begin(), delays.end());
    line("follow", "lathe", (std::string("flush_to_") + metric + "_median").c_str(), delays[delays.size() / 2], "ms");
    line("follow", "lathe", (std::string("flush_to_") + metric + "_longest").c_str(), delays.back(), "ms");
}

void followed(const stdfs::path& scratch) {
    const stdfs::path logs = scratch / "live";
    stdfs::create_directories(logs);
    int ends[2] = {};
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    const pid_t writer = startWriter(logs / "events.out.tfevents.1.h", ends[1]);
    ::close(ends[1]);
    std::vector<Flushed> flushes(1);
    if (::read(ends[0], flushes.data(), sizeof(Flushed)) != sizeof(Flushed)) return;  // the first point is in the file
    const std::string trainer = siblingProgram("../bin/lathe-trainer").string(), work = (scratch / "follow").string();
    if (run({trainer, "import", logs.string(), "--follow", "--detach", "--workspace", work}) != 0) return;
    const rundir::RunFolder folder = rundir::listRuns(work).at(0);
    auto client = live::ControlClient::connect(folder.socket());
    auto segment = live::Segment::open(*(*client)->takeSegmentFd(), false);
    live::RingReader ring = (*segment)->reader(0);
    Seen seen;
    const double begin = seconds();
    while (seconds() - begin < 120 && (seen.recorded.back() == 0 || seen.live.back() == 0)) {
        look(ring, folder, seen);
        ::usleep(1000);
    }
    for (Flushed one; ::read(ends[0], &one, sizeof one) == sizeof one;) flushes.push_back(one);
    ::close(ends[0]);
    ::waitpid(writer, nullptr, 0);
    static_cast<void>((*client)->ask(live::Verb::StopAndSave));
    for (int i = 0; i < 1000 && rundir::RunLock::isHeld(folder.lock()); ++i) ::usleep(10'000);
    if (seen.recorded.back() == 0 || seen.live.back() == 0) return void(std::fprintf(stderr, "a flushed point never came\n"));
    reportDelays("live", flushes, seen.live);
    reportDelays("database", flushes, seen.recorded);
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
    std::error_code ignored;
    stdfs::remove_all(scratch, ignored);
}
