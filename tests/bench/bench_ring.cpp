// Cost of one row of four values into the shared-memory ring, encoding and time stamp included, against a synchronous
// text log of the same values (spdlog). Prints JSON lines.
#include "bench_line.h"
#include "base/clock.h"
#include "live/segment.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <unistd.h>
#include <vector>

using namespace lathe;

namespace {

constexpr int kRows = 200'000;
constexpr int kRounds = 7;

template <typename Row>
double nanosecondsPerRow(const Row& row) {
    const std::int64_t start = Clock::system().monotonicNs();
    for (int i = 0; i < kRows; ++i) row(i);
    return double(Clock::system().monotonicNs() - start) / kRows;
}

}  // namespace

int main() {
    auto segment = std::move(live::Segment::create({}, "bench")).value();
    std::vector<std::byte> bytes;
    live::PointsFrame frame{1, 0, 0, 0, 0, {{0, 1.0}, {1, 1e-3}, {2, 0.5}, {3, 1e5}}};
    const std::filesystem::path file = std::filesystem::temp_directory_path() / ("lathe-bench-" + std::to_string(::getpid()) + ".log");
    std::vector<double> ring, log;
    {
        spdlog::logger logger("bench", std::make_shared<spdlog::sinks::basic_file_sink_st>(file.string()));
        for (int round = 0; round < kRounds; ++round) {
            ring.push_back(nanosecondsPerRow([&](int i) {
                frame.attempt = frame.step = i;
                frame.wallNs = Clock::system().wallNs();
                frame.items[0].value = 1.0 / (i + 1);
                live::encode(frame, bytes);
                static_cast<void>(segment->write(0, live::FrameType::Points, bytes));
            }));
            log.push_back(nanosecondsPerRow([&](int i) { logger.info("{} {} {} {} {}", i, 1.0 / (i + 1), 1e-3, 0.5, 1e5); }));
        }
    }
    std::filesystem::remove(file);
    const double ours = bench::median(ring), peer = bench::median(log);
    bench::line("ring", "row_of_4", "lathe", "write", ours, "ns");
    bench::line("ring", "row_of_4", "spdlog", "write", peer, "ns");
    bench::line("ring", "row_of_4", "lathe / spdlog", "ratio", ours / peer, "");
}
