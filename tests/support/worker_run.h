// A run folder and real lathe-worker processes in it, with the supervisor's part of the contract reduced to what a test
// needs: shared memory, lifeline, recording in memory. Start, wait, look at rows and events.
#pragma once

#include "base/exit_code.h"
#include "config/config.h"
#include "live/segment.h"
#include "live/spill.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/run_folder.h"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace lathe::tests {

struct RecordedRow {
    std::int64_t attempt = 0, step = 0;
    std::map<std::string, double> values;   ///< by series name
};

class WorkerRun {
public:
    /// A new run in a fresh workspace below `workspace`.
    WorkerRun(const std::filesystem::path& workspace, const config::RunConfig& config);
    /// A further run with the first session loading a checkpoint of another run, linked in as session 0.
    WorkerRun(const std::filesystem::path& workspace, const config::RunConfig& config, const WorkerRun& from, const std::string& checkpoint,
              bool weightsOnly);
    ~WorkerRun();
    WorkerRun(const WorkerRun&) = delete;
    WorkerRun& operator=(const WorkerRun&) = delete;

    /// Starts a session. `checkpoint`: folder to load, empty: fresh.
    void start(const config::RunConfig& config, const std::string& checkpoint = {}, bool weightsOnly = false);
    /// Takes in frames until the worker has ended; false after `seconds`.
    bool wait(int seconds = 60);
    /// Takes in what is there. Requires: started.
    void record();
    void control(const live::Control& control);
    void closeLifeline();
    void signal(int number);
    /// Address space of workers started from now on.
    void limitMemory(std::uint64_t bytes) { m_memoryLimit = bytes; }
    /// As a recorder that has stopped: frames are taken in but not reported as recorded.
    void stopReporting() { m_reports = false; }

    bool running();
    int exitCode() const { return m_exitCode; }   ///< negative: the signal
    int session() const { return m_session; }
    std::vector<RecordedRow> rows() const;        ///< of this session, in order
    std::vector<live::EventFrame> events(const std::string& kind) const;
    std::optional<live::Heartbeat> heartbeat() const { return m_segment->heartbeat(0); }
    live::Control currentControl() const { return m_segment->control(); }
    std::vector<rundir::CheckpointInfo> checkpoints() const { return rundir::listCheckpoints(folder.checkpoints()); }
    std::string newestCheckpoint() const;

    rundir::RunFolder folder{""};

private:
    void makeFolder(const std::filesystem::path& workspace, const config::RunConfig& config);

    int m_session = 0, m_pid = 0, m_exitCode = -1000, m_lifeline = -1;
    bool m_reports = true;
    std::uint64_t m_memoryLimit = 0;
    std::unique_ptr<live::Segment> m_segment;
    std::unique_ptr<live::RingFeed> m_feed;
    std::vector<live::Frame> m_frames;
};

/// A short configuration on the digits sample that trains in a second.
config::RunConfig digitsConfig();

}  // namespace lathe::tests
