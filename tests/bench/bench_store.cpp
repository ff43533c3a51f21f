// Points into run.sqlite and back, against the layout most trackers use: one row per sample, 1,000 rows a transaction,
// write-ahead log, synchronous NORMAL. Prints JSON lines. Usage: bench_store [folder on the disk to measure]
#include "bench_line.h"
#include "base/file_system.h"
#include "live/frame.h"
#include "store/history.h"
#include "store/run_store.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <random>
#include <sqlite3.h>
#include <string>

using namespace lathe;
using namespace lathe::store;
namespace stdfs = std::filesystem;

namespace {

constexpr int kSeries = 6;
constexpr int kRows = 300'000;
constexpr int kRowsPerFlush = 20'000;

struct Sample {
    live::PointsFrame frame;
    std::vector<std::byte> payload;
};

void check(bool ok, const std::string& what) {
    if (ok) return;
    std::fprintf(stderr, "bench_store: %s\n", what.c_str());
    std::exit(1);
}
template <typename T>
T take(Result<T> result) {
    check(result.ok(), result.ok() ? "" : result.error().text());
    return std::move(result).value();
}
void take(Result<void> result) { check(result.ok(), result.ok() ? "" : result.error().text()); }

double seconds(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Bytes this process handed to write calls so far.
std::uint64_t writtenBytes() {
    std::ifstream io("/proc/self/io");
    std::string key;
    std::uint64_t value = 0;
    while (io >> key >> value)
        if (key == "wchar:") return value;
    return 0;
}

void print(const std::string& name, const std::string& peer, const std::string& metric, double value, const char* unit) {
    bench::line("store", name, peer, metric, value, unit);
}
void compare(const std::string& name, const std::string& metric, double ours, double peers, const char* unit, bool higherIsBetter,
             const std::string& peer = "row-per-sample") {
    print(name, "lathe", metric, ours, unit);
    print(name, peer, metric, peers, unit);
    print(name, "ratio", metric, higherIsBetter ? ours / peers : peers / ours, "times better");
}

/// Noisy losses as a float32 trainer reports them (kept as exact doubles), a warm-up and cosine rate in double,
/// times with jitter.
std::vector<Sample> trainingRows(int rows) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> noise(0, 1);
    std::vector<Sample> samples(static_cast<std::size_t>(rows));
    std::int64_t active = 0, wall = 1'764'000'000'000'000'000;
    for (int i = 0; i < rows; ++i) {
        const std::int64_t took = 37'000'000 + static_cast<std::int64_t>(noise(random) * 900'000);
        active += took;
        wall += took + static_cast<std::int64_t>(noise(random) * 400);
        live::PointsFrame& frame = samples[static_cast<std::size_t>(i)].frame;
        frame = {1, i + 1, i + 1, active, wall, {}};
        const double fall = std::exp(-i / 60'000.0);
        const auto real = [&](double value) { return static_cast<double>(static_cast<float>(value)); };
        frame.items = {{1, real(2.3 * fall + 0.2 + 0.05 * noise(random))},
                       {2, 3e-4 * 0.5 * (1 + std::cos(3.14159265358979 * i / rows))},
                       {3, real(1.0 + 0.3 * std::fabs(noise(random)))},
                       {4, real(32e9 / static_cast<double>(took))},
                       {5, real(0.9 - 0.7 * fall + 0.01 * noise(random))},
                       {6, real(0.1 * fall + 0.002 * noise(random))}};
        live::encode(frame, samples[static_cast<std::size_t>(i)].payload);
    }
    return samples;
}

void declare(RunWriter& writer, int series, std::uint64_t& sequence) {
    std::vector<std::byte> payload;
    for (int i = 1; i <= series; ++i) {
        live::encode(live::SeriesFrame{static_cast<std::uint16_t>(i), "train/series" + std::to_string(i), ""}, payload);
        writer.take(0, 1, ++sequence, live::FrameType::Series, payload);
    }
}

SessionRow firstSession() {
    SessionRow row;
    row.number = 1;
    row.verb = "start";
    return row;
}

/// One row per sample.
class Peer {
public:
    explicit Peer(const stdfs::path& file) {
        check(sqlite3_open(file.c_str(), &m_db) == SQLITE_OK, "cannot open the peer's database");
        run("PRAGMA page_size=8192; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
            "CREATE TABLE IF NOT EXISTS samples(series INTEGER, session INTEGER, attempt INTEGER, step INTEGER, active_ns INTEGER, wall_ns INTEGER,"
            " value REAL, PRIMARY KEY(series, session, attempt)) WITHOUT ROWID;");
        sqlite3_prepare_v2(m_db, "INSERT INTO samples VALUES(?,?,?,?,?,?,?)", -1, &m_insert, nullptr);
    }
    ~Peer() {
        sqlite3_finalize(m_insert);
        sqlite3_close(m_db);
    }
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    void run(const char* sql) { check(sqlite3_exec(m_db, sql, nullptr, nullptr, nullptr) == SQLITE_OK, sqlite3_errmsg(m_db)); }
    void put(const live::PointsFrame& frame) {
        for (const auto& item : frame.items) {
            if (m_open == 0) run("BEGIN");
            sqlite3_bind_int64(m_insert, 1, item.series);
            sqlite3_bind_int64(m_insert, 2, frame.session);
            sqlite3_bind_int64(m_insert, 3, frame.attempt);
            sqlite3_bind_int64(m_insert, 4, frame.step);
            sqlite3_bind_int64(m_insert, 5, frame.activeNs);
            sqlite3_bind_int64(m_insert, 6, frame.wallNs);
            sqlite3_bind_double(m_insert, 7, item.value);
            check(sqlite3_step(m_insert) == SQLITE_DONE, sqlite3_errmsg(m_db));
            sqlite3_reset(m_insert);
            if (++m_open == 1000) commit();
        }
    }
    void commit() {
        if (m_open > 0) run("COMMIT");
        m_open = 0;
    }
    std::size_t read(int series) {
        sqlite3_stmt* query = nullptr;
        sqlite3_prepare_v2(m_db, "SELECT session, attempt, step, active_ns, wall_ns, value FROM samples WHERE series=? ORDER BY session, attempt", -1, &query, nullptr);
        sqlite3_bind_int(query, 1, series);
        std::vector<Point> points;
        while (sqlite3_step(query) == SQLITE_ROW)
            points.push_back({sqlite3_column_int(query, 0), sqlite3_column_int64(query, 1), sqlite3_column_int64(query, 2),
                              sqlite3_column_int64(query, 3), sqlite3_column_int64(query, 4), sqlite3_column_double(query, 5)});
        sqlite3_finalize(query);
        return points.size();
    }
    std::size_t overview(int series, int rows, int buckets) {
        sqlite3_stmt* query = nullptr;
        sqlite3_prepare_v2(m_db, "SELECT min(step), max(step), min(value), max(value), count(*) FROM samples WHERE series=? GROUP BY attempt/?", -1, &query, nullptr);
        sqlite3_bind_int(query, 1, series);
        sqlite3_bind_int(query, 2, rows / buckets);
        std::size_t count = 0;
        while (sqlite3_step(query) == SQLITE_ROW) ++count;
        sqlite3_finalize(query);
        return count;
    }
    void summaries() {
        run("SELECT series, count(*), min(value), max(value), max(attempt) FROM samples GROUP BY series");
    }

private:
    sqlite3* m_db = nullptr;
    sqlite3_stmt* m_insert = nullptr;
    int m_open = 0;
};

void bulk(const stdfs::path& folder) {
    const auto samples = trainingRows(kRows);
    const double points = double(kRows) * kSeries;
    const stdfs::path ours = folder / "ours.sqlite", theirs = folder / "theirs.sqlite";
    const double ourTime = seconds([&] {
        auto writer = take(RunWriter::open(ours));
        take(writer->beginSession(firstSession()));
        std::uint64_t sequence = 0;
        declare(*writer, kSeries, sequence);
        for (int i = 0; i < kRows; ++i) {
            writer->take(0, 1, ++sequence, live::FrameType::Points, samples[static_cast<std::size_t>(i)].payload);
            if (i % kRowsPerFlush == kRowsPerFlush - 1) take(writer->flush());
        }
        take(writer->endSession(firstSession()));
    });
    {
        Peer peer(theirs);
        const double peerTime = seconds([&] {
            for (const Sample& sample : samples) peer.put(sample.frame);
            peer.commit();
        });
        compare("record 6 series", "points per second", points / ourTime, points / peerTime, "1/s", true);
    }
    compare("record 6 series", "file bytes per point", double(stdfs::file_size(ours)) / points, double(stdfs::file_size(theirs)) / points, "bytes", false);

    Peer peer(theirs);
    const auto reader = take(RunReader::open(ours));
    check(take(reader->points("train/series1", RunReader::Line::All)).size() == std::size_t(kRows) && peer.read(1) == std::size_t(kRows), "points are missing");
    compare("read one series", "seconds", seconds([&] { take(reader->points("train/series3", RunReader::Line::All)); }), seconds([&] { peer.read(3); }), "s", false);
    compare("overview of 800 buckets", "seconds", seconds([&] { take(reader->overview("train/series4", RunReader::Line::All, 800)); }),
            seconds([&] { peer.overview(4, kRows, 800); }), "s", false);
    compare("summaries", "seconds", seconds([&] { take(reader->series()); }), seconds([&] { peer.summaries(); }), "s", false);
    print("verify", "lathe", "seconds", seconds([&] { take(reader->verify()); }), "s");
}

/// 100 series at 10 points a second each, one flush (transaction) a second, ten minutes; time itself is not waited for.
void trickle(const stdfs::path& folder, const std::string& name, bool oneFrame) {
    constexpr int kMany = 100, kPerSecond = 10, kSeconds = 600;
    std::mt19937_64 random(2);
    std::normal_distribution<double> noise(0, 1);
    auto writer = take(RunWriter::open(folder / (name + "-ours.sqlite")));
    Peer peer(folder / (name + "-theirs.sqlite"));
    take(writer->beginSession(firstSession()));
    std::uint64_t sequence = 0, ours = 0, theirs = 0;
    declare(*writer, kMany, sequence);
    double ourTime = 0, slowest = 0, peerTime = 0;
    std::vector<std::byte> payload;
    for (int second = 0; second < kSeconds; ++second) {
        std::vector<live::PointsFrame> frames;
        for (int tick = 0; tick < kPerSecond; ++tick) {
            const std::int64_t attempt = second * kPerSecond + tick + 1;
            const std::int64_t active = attempt * 100'000'000 + static_cast<std::int64_t>(noise(random) * 50'000);
            live::PointsFrame frame{1, attempt, attempt, active, 1'764'000'000'000'000'000 + active + static_cast<std::int64_t>(noise(random) * 400), {}};
            for (int series = 1; series <= kMany; ++series)
                frame.items.push_back({static_cast<std::uint16_t>(series), static_cast<double>(static_cast<float>(1 + noise(random)))});
            if (oneFrame) frames.push_back(frame);
            else
                for (const auto& item : frame.items) frames.push_back({1, frame.attempt, frame.step, frame.activeNs, frame.wallNs, {item}});
        }
        std::uint64_t before = writtenBytes();
        const double took = seconds([&] {
            for (const auto& frame : frames) {
                live::encode(frame, payload);
                writer->take(0, 1, ++sequence, live::FrameType::Points, payload);
            }
            take(writer->flush());
        });
        ourTime += took;
        slowest = std::max(slowest, took);
        ours += writtenBytes() - before;
        before = writtenBytes();
        peerTime += seconds([&] {
            for (const auto& frame : frames) peer.put(frame);
            peer.commit();
        });
        theirs += writtenBytes() - before;
    }
    std::uint64_t before = writtenBytes();
    take(writer->endSession(firstSession()));
    ours += writtenBytes() - before;
    before = writtenBytes();
    peer.run("PRAGMA wal_checkpoint(TRUNCATE)");
    theirs += writtenBytes() - before;
    const double points = double(kMany) * kPerSecond * kSeconds;
    compare(name, "written bytes per point", double(ours) / points, double(theirs) / points, "bytes", false);
    compare(name, "file bytes per point", double(stdfs::file_size(folder / (name + "-ours.sqlite"))) / points,
            double(stdfs::file_size(folder / (name + "-theirs.sqlite"))) / points, "bytes", false);
    compare(name, "mean seconds of a flush", ourTime / kSeconds, peerTime / kSeconds, "s", false);
    print(name, "lathe", "slowest flush", slowest, "s");
}

/// A window that starts in a workspace of 10,000 runs, against reading every summary file.
void history(const stdfs::path& folder) {
    constexpr int kRuns = 10'000;
    for (int i = 0; i < kRuns; ++i) {
        const stdfs::path run = folder / "runs" / ("run" + std::to_string(i));
        stdfs::create_directories(run);
        std::ofstream(run / "summary.json") << std::string(1500, 'x');
        std::ofstream(run / "user.json") << std::string(200, 'y');
        stdfs::last_write_time(run / "summary.json", stdfs::file_time_type::clock::now() - std::chrono::hours(1));
        stdfs::last_write_time(run / "user.json", stdfs::file_time_type::clock::now() - std::chrono::hours(1));
    }
    print("10000 runs", "lathe", "seconds to build the index", seconds([&] { take(History::open(folder)->refresh()); }), "s");
    const double peer = seconds([&] {
        std::size_t bytes = 0;
        for (const auto& run : stdfs::directory_iterator(folder / "runs"))
            for (const char* name : {"summary.json", "user.json"}) bytes += take(readFile(run.path() / name, 1 << 20)).size();
        check(bytes == std::size_t{kRuns} * 1700, "summaries are missing");
    });
    compare("10000 runs", "seconds to list", seconds([&] {
        const auto index = History::open(folder);
        check(take(index->rows()).size() == kRuns, "rows are missing");
    }), peer, "s", false, "read every file");
    compare("10000 runs", "seconds to list and look for changes", seconds([&] {
        const auto index = History::open(folder);
        take(index->refresh());
        check(take(index->rows()).size() == kRuns, "rows are missing");
    }), peer, "s", false, "read every file");
}

}  // namespace

int main(int argc, char** argv) {
    std::string pattern = (stdfs::path(argc > 1 ? argv[1] : "/var/tmp") / "lathe-bench-XXXXXX").string();
    check(::mkdtemp(pattern.data()) != nullptr, "cannot make a folder in " + pattern);
    const stdfs::path folder = pattern;
    bulk(folder);
    trickle(folder, "100 series in one frame", true);
    trickle(folder, "100 series in frames of their own", false);
    history(folder);
    stdfs::remove_all(folder);
    return 0;
}
