// A small run to be broken, and the question that is asked after every fault: does all of it open, verify and hold together?
#pragma once

#include "base/file_system.h"
#include "config/config.h"
#include "fixture_run.h"
#include "launch/run/run_settings.h"
#include "live/segment.h"
#include "live/spill.h"
#include "rundir/checkpoint_manifest.h"
#include "store/history.h"
#include "store/run_store.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace lathe::test {

inline config::RunConfig smallConfig() {
    config::RunConfig config = config::load("digits-mlp")->config;
    config.run.name = "small";
    config.run.epochs.reset();
    config.run.maxUpdates = 1000;
    config.schedule.warmupUpdates = 0;
    return config;
}

constexpr int kRecordedRows = 5000;   ///< of endedRun(): one closed chunk and more

/// A run with one session of kRecordedRows updates that was stopped, and checkpoints at 10, 20 … 50.
inline rundir::RunFolder endedRun(const std::filesystem::path& workspace, bool ended = true) {
    tests::FixtureRun run(workspace, "small", config::toYaml(smallConfig()));
    run.beginSession(1);
    if (!replaceFile(FileSystem::real(), run.folder().sessionYaml(1), config::toYaml(smallConfig())).ok()) std::abort();
    for (int i = 1; i <= kRecordedRows; ++i) run.points(i, {{"train/loss", 1.0 / i}, {"train/lr", 1e-3}});
    for (const int step : {10, 20, 30, 40, 50}) run.checkpoint(1, step, {{"eval/accuracy", "0.5"}});
    run.flush();
    run.summary([](rundir::Summary& summary) { summary.state = rundir::State::Stopped; });
    if (ended) run.endSession(rundir::State::Stopped, "asked");
    run.closeWriter();
    return run.folder();
}

constexpr int kSpilledRows = 20;

/// Updates first … last that the worker of a session put aside because nobody recorded them any more: with frames behind those
/// that are recorded, and `after` more. Gives how many those are now.
inline std::uint64_t spillRows(const rundir::RunFolder& run, int first, int last, std::uint64_t after = 0, int session = 1, int ring = 0) {
    live::Segment::Shape shape{ring + 1, 1u << 16};
    const std::uint64_t recorded = (*store::RunReader::open(run.database()))->recordedSequence(ring, session);
    if (ring == 0) shape.lastSequence = recorded + after;
    const auto segment = std::move(live::Segment::create(shape, "t")).value();
    std::vector<std::byte> buffer;
    live::encode(live::SeriesFrame{1, "train/loss", ""}, buffer);
    static_cast<void>(segment->write(ring, live::FrameType::Series, buffer));
    for (int i = first; i <= last; ++i) {
        live::encode(live::PointsFrame{session, i, i, i * 1000, 1'700'000'000'000'000'000 + i, {{1, 1.0 / i}}}, buffer);
        static_cast<void>(segment->write(ring, live::FrameType::Points, buffer));
    }
    live::Spiller spiller(*segment, ring, run.spill(), session);
    if (!spiller.flushAll().ok()) std::abort();
    return segment->lastSequence(ring) - recorded;
}

inline rundir::RunFolder onlyRun(const std::filesystem::path& workspace) {
    const auto runs = rundir::listRuns(workspace);
    return runs.empty() ? rundir::RunFolder("/nowhere") : runs.front();
}

/// For the end of a piece of work: its exit code, with the reason told.
inline int told(const Result<void>& result) {
    if (!result.ok()) std::fprintf(stderr, "%s\n", result.error().text().c_str());
    return result.ok() ? 0 : 3;
}

/// What of a run cannot be used, or empty.
inline std::string problemOf(const rundir::RunFolder& run) {
    if (const auto manifest = rundir::readManifest(run); !manifest.ok()) return manifest.error().text();
    if (const auto summary = rundir::readSummaryOrMake(run); !summary.ok()) return summary.error().text();
    if (const auto user = rundir::readUser(run); !user.ok()) return user.error().text();
    for (int session = 1; session <= rundir::newestSession(run); ++session) {
        if (const auto record = rundir::readSession(run, session); !record.ok()) return record.error().text();
        if (const auto config = launch::configOf(run, session); !config.ok()) return config.error().text();
    }
    if (std::filesystem::exists(run.database())) {
        const auto reader = store::RunReader::open(run.database());
        if (!reader.ok()) return reader.error().text();
        if (const auto verified = (*reader)->verify(); !verified.ok()) return verified.error().text();
    }
    for (const auto& info : rundir::listCheckpoints(run.checkpoints())) {
        if (info.folder.starts_with('.')) continue;
        const auto verified = rundir::verifyCheckpoint(run.checkpoints() / info.folder);
        if (!verified.ok()) return verified.error().text();
        if (!verified->ok()) return info.folder + ": " + verified->badFiles.front().text();
    }
    return {};
}

/// Points of a series over all branches, 0 where there is none of that name; -1 where they cannot be read or are not 1, 2, 3 …
inline int rowsOf(const rundir::RunFolder& run, const char* series = "train/loss") {
    const auto reader = store::RunReader::open(run.database());
    const auto points = reader.ok() ? (*reader)->points(series, store::RunReader::Line::All) : Result<std::vector<store::Point>>(reader.error());
    if (!points.ok()) return points.error().code == ErrorCode::NotFound ? 0 : -1;
    for (std::size_t i = 0; i < points->size(); ++i)
        if ((*points)[i].attempt != static_cast<std::int64_t>(i) + 1) return -1;
    return static_cast<int>(points->size());
}

/// Files that an operation which is over must not leave, or empty. (A write-ahead log may stay: it is read and written where it lies.)
inline std::string leftIn(const std::filesystem::path& folder) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        const bool isLeft = name.find(".tmp-") != std::string::npos || name.starts_with(".new-") || name.starts_with(".s") || name.starts_with(".old-")
                            || name.ends_with("-journal") || name.ends_with(".damaged-1");
        if (isLeft) return entry.path().lexically_relative(folder).string();
    }
    return {};
}

}  // namespace lathe::test
