// A session of a run with real parts, whose processes are played by the test: it writes their rings and beats, says how they
// ended, and sees what was asked of them.
#pragma once

#include "config/config.h"
#include "fixture_run.h"
#include "launch/session/published_checkpoints.h"
#include "launch/session/running.h"
#include "launch/session/session_recorder.h"
#include "launch/session/session_wishes.h"
#include "rundir/checkpoint_manifest.h"

#include <QTemporaryDir>
#include <QtTest/QTest>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lathe::test {

class PlayedRunning : public launch::Running {
public:
    using Running::Running;
    Result<void> start() override { return {}; }
    std::vector<rundir::ProcessIdentity> identities() const override { return {}; }
    std::vector<int> pollFds() const override { return {}; }
    bool turn(std::int64_t) override { return false; }
    void signal(int number, std::int64_t) override { signals.push_back(number); }
    void hold(bool isHeld, std::int64_t) override { held.push_back(isHeld); }
    std::optional<launch::ExitStatus> end(int rank) const override { return ends.contains(rank) ? std::optional(ends.at(rank)) : std::nullopt; }
    void look(const Standing&, std::int64_t) override {}
    launch::ProgramFrames* frames() const override { return listener.get(); }
    int decidingRank(const launch::FrameBook&, bool) const override { return deciding; }
    std::string endedFor(int) const override { return ended; }
    void setPhase(live::Phase phase) { m_beat.phase = phase; }

    std::vector<int> signals;
    std::vector<bool> held;
    std::map<int, launch::ExitStatus> ends;
    std::unique_ptr<launch::ProgramFrames> listener;
    int deciding = 0;
    std::string ended;
};

class SessionBench {
public:
    explicit SessionBench(launch::Running::Kind kind = launch::Running::Kind::Training, int ranks = 1) : run(m_folder.path().toStdString(), "one", {}) {
        config = config::load("digits-mlp")->config;
        run.beginSession(1);
        record = *rundir::readSession(run.folder(), 1);
        recorder = std::make_unique<launch::SessionRecorder>(run.folder(), 1, record, summary);
        if (!recorder->begin().ok() || !recorder->openMemory(ranks, "bench").ok()) qFatal("recorder");
        running = std::make_unique<PlayedRunning>(kind, launch::Running::Order{run.folder(), config, summary, 1, "bench", recorder->memory(), {}});
        if (running->isProgram()) running->listener = std::move(*launch::ProgramFrames::listen(run.folder(), summary, recorder->memory(), 0, 1));
        checkpoints.emplace(launch::PublishedCheckpoints::Session{run.folder(), config, record, recorder->book(), recorder->writer()},
                            launch::PublishedCheckpoints::Safe{}, [](const std::string&) {});
        wishes.emplace(run.folder(), *recorder, *running, *checkpoints);
    }
    /// An event of a rank, taken in.
    void event(const std::string& kind, const std::string& text, const std::string& json = "{}", int rank = 0) {
        std::vector<std::byte> payload;
        live::encode(live::EventFrame{1, 1, 1, 1, kind, text, json}, payload);
        if (!recorder->memory().write(rank, live::FrameType::Event, payload).ok()) qFatal("ring");
        recorder->drain(false);
    }
    /// Points of update `step`, taken in.
    void step(std::int64_t step) {
        std::vector<std::byte> payload;
        live::encode(live::SeriesFrame{1, "train/loss", ""}, payload);
        if (!recorder->memory().write(0, live::FrameType::Series, payload).ok()) qFatal("ring");
        live::encode(live::PointsFrame{1, step, step, step * 1000, 1, {{1, 0.5}}}, payload);
        if (!recorder->memory().write(0, live::FrameType::Points, payload).ok()) qFatal("ring");
        recorder->drain(false);
    }
    /// A checkpoint, published and told.
    void save(std::int64_t step) {
        run.checkpoint(1, step);
        event("checkpoint", "Saved", "{\"folder\": \"" + rundir::checkpointName(1, GlobalStep(step)) + "\", \"bytes\": 1}");
        checkpoints->look(0);
    }
    /// "kind: text" of what the session itself has told so far.
    std::vector<std::string> told() const {
        std::vector<std::string> out;
        for (const live::Frame& frame : recorder->memory().reader(recorder->ownRing()).read().frames)
            if (const auto event = live::decodeEvent(frame.payload); frame.type == live::FrameType::Event) out.push_back(event->kind + ": " + event->text);
        return out;
    }
    live::Control control() const { return recorder->memory().control(); }

private:
    QTemporaryDir m_folder;

public:
    tests::FixtureRun run;
    config::RunConfig config;
    rundir::SessionRecord record;
    rundir::Summary summary;
    std::unique_ptr<launch::SessionRecorder> recorder;
    std::unique_ptr<PlayedRunning> running;
    std::optional<launch::PublishedCheckpoints> checkpoints;
    std::optional<launch::SessionWishes> wishes;
};

}  // namespace lathe::test
