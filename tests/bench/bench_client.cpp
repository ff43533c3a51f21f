// What logging one scalar costs a program that is not ours: lathe.py against TensorBoard's SummaryWriter in the same
// interpreter (LATHE_PYTHON, else python3; without TensorBoard against the 92 µs of shared/peers, measured elsewhere), and
// lathe.h; and how long a value takes from the call to the recorder's ring. Prints JSON lines.
#include "base/clock.h"
#include "base/file_system.h"
#include "bench_line.h"
#include "launch/run/program_frames.h"
#include "live/segment.h"

#include "../../resources/c/lathe.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <poll.h>
#include <thread>
#include <vector>

using namespace lathe;

namespace {

constexpr double kRecordedPeer = 92;  // µs, SummaryWriter.add_scalar

void report(const char* name, const char* peer, const char* metric, double value, const char* unit) {
    bench::line("client", name, peer, metric, value, unit);
}

class Recorder {
public:
    explicit Recorder(const std::filesystem::path& folder) : m_run(folder), m_segment(std::move(live::Segment::create({}, "bench")).value()) {
        rundir::Summary summary;
        summary.id = "bench";
        m_frames = std::move(launch::ProgramFrames::listen(m_run, summary, *m_segment, 0, 1)).value();
        for (const auto& [name, value] : m_frames->environment()) ::setenv(name.c_str(), value.c_str(), 1);
        m_thread = std::thread([this] {
            while (!m_ending) {
                pollfd wait{m_frames->pollFd(), POLLIN, 0};
                ::poll(&wait, 1, 20);
                m_frames->poll();
                if (const auto last = m_segment->lastSequence(0); last != m_seen) {
                    m_arrivedNs = Clock::system().monotonicNs();
                    m_seen = last;
                }
                acknowledge();
            }
        });
    }
    ~Recorder() {
        m_ending = true;
        m_thread.join();
    }
    std::uint64_t frames() const { return m_seen; }
    std::int64_t arrivedNs() const { return m_arrivedNs; }

private:
    /// As often as a supervisor makes safe what it has taken.
    void acknowledge() {
        const std::int64_t now = Clock::system().monotonicNs();
        if (!m_frames->wantsFlush() && now - m_acknowledgedNs < 1'000'000'000) return;
        m_frames->acknowledge(m_segment->lastSequence(0));
        m_acknowledgedNs = now;
    }

    rundir::RunFolder m_run;
    std::unique_ptr<live::Segment> m_segment;
    std::unique_ptr<launch::ProgramFrames> m_frames;
    std::atomic<bool> m_ending{false};
    std::atomic<std::uint64_t> m_seen{0};
    std::atomic<std::int64_t> m_arrivedNs{0};
    std::int64_t m_acknowledgedNs = 0;
    std::thread m_thread;
};

void benchPython() {
    const char* python = std::getenv("LATHE_PYTHON");
    const std::string command = std::string(python != nullptr ? python : "python3") + " " LATHE_SOURCE_DIR "/tests/bench/client_scalars.py";
    FILE* said = ::popen(command.c_str(), "r");
    std::string text(4096, '\0');
    text.resize(said != nullptr ? std::fread(text.data(), 1, text.size(), said) : 0);
    if (said != nullptr) ::pclose(said);
    const auto facts = nlohmann::json::parse(text, nullptr, false);
    if (!facts.is_object()) return void(std::fprintf(stderr, "python3 could not run the script\n"));
    const double one = facts.at("one").get<double>();
    report("python_log_of_1", "lathe", "call", one, "us");
    report("python_log_of_1", "lathe", "cpu_with_thread", facts.at("one_cpu").get<double>(), "us");
    report("python_log_of_3", "lathe", "call_per_scalar", facts.at("three").get<double>(), "us");
    report("python_log_of_3", "lathe", "cpu_with_thread_per_scalar", facts.at("three_cpu").get<double>(), "us");
    const bool measured = facts.contains("tensorboard");
    const double peer = measured ? facts.at("tensorboard").get<double>() : kRecordedPeer;
    report("python_log_of_1", measured ? "tensorboard" : "tensorboard, recorded elsewhere", "call", peer, "us");
    report("python_log_of_1", measured ? "tensorboard" : "tensorboard, recorded elsewhere", "ratio", one / peer, "");
}

void benchC(const Recorder& recorder) {
    lathe_run* run = lathe_init("bench");
    constexpr int kCalls = 50'000, kRounds = 7;
    std::vector<double> costs, delays;
    for (int round = 0; round < kRounds; ++round) {
        const std::int64_t began = Clock::system().monotonicNs();
        for (int step = 0; step < kCalls; ++step) lathe_log(run, step, "loss", 0.5);
        costs.push_back(double(Clock::system().monotonicNs() - began) / kCalls);
        while (lathe_missing(run) > 0) lathe_pump_(run, 1);
    }
    for (int i = 0; i < 50; ++i) {
        ::usleep(25'000);
        const auto before = recorder.frames();
        const std::int64_t began = Clock::system().monotonicNs();
        lathe_log(run, i, "loss", 0.5);
        while (recorder.frames() == before) ::usleep(50);
        delays.push_back(double(recorder.arrivedNs() - began) / 1e6);
    }
    std::sort(costs.begin(), costs.end());
    std::sort(delays.begin(), delays.end());
    report("c_log_of_1", "lathe", "call", costs[kRounds / 2], "ns");
    report("c_to_ring", "lathe", "median", delays[delays.size() / 2], "ms");
    report("c_to_ring", "lathe", "longest", delays.back(), "ms");
    lathe_free(run);
}

}  // namespace

int main() {
    const auto folder = std::filesystem::temp_directory_path() / ("lathe-bench-client-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    {
        Recorder recorder(folder);
        benchPython();
        benchC(recorder);
    }
    std::filesystem::remove_all(folder);
}
