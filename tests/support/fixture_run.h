// Run folders as a trainer leaves them, and a running session played by the test: made through core/rundir, core/store and
// core/live, so that whatever reads them reads the real formats.
#pragma once

#include "live/control_socket.h"
#include "live/segment.h"
#include "rundir/run_folder.h"
#include "store/run_store.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace lathe::tests {

using Values = std::vector<std::pair<std::string, double>>;

/// A run in <workspace>/runs, with one session that has neither points nor an end. Failing steps end the test program.
class FixtureRun {
public:
    explicit FixtureRun(const std::filesystem::path& workspace, const std::string& name = "digits-mlp", const std::string& yaml = {});

    const rundir::RunFolder& folder() const { return m_folder; }
    std::string key() const { return m_folder.name(); }
    store::RunWriter& writer();

    /// Plan of a session and its row in run.sqlite.
    void beginSession(int number, const std::string& verb = "start", int parent = 0, std::int64_t parentAttempt = 0);
    /// One row of values, straight into run.sqlite (durable after flush()). Active time is `attempt` times 10 ms.
    void points(std::int64_t attempt, const Values& values);
    void event(const std::string& kind, const std::string& text, std::int64_t attempt, const std::string& json = "{}");
    /// Session and time are filled in; a content larger than a frame holds, and every image, goes to blobs/.
    void record(live::RecordFrame record);
    void flush();
    /// Books the end in run.sqlite and sessions/N.json.
    void endSession(rundir::State state = rundir::State::Completed, const std::string& why = {});
    /// summary.json; the test changes what it cares for.
    void summary(const std::function<void(rundir::Summary&)>& change = {});
    void checkpoint(int session, std::int64_t step, const std::map<std::string, std::string>& metrics = {}, bool best = false);
    void closeWriter() { m_writer.reset(); }

    int session = 0;

private:
    rundir::RunFolder m_folder;
    rundir::RunManifest m_manifest;
    std::unique_ptr<store::RunWriter> m_writer;
    std::map<std::string, std::uint16_t> m_ids;
    std::uint64_t m_sequence = 0;
    std::vector<std::byte> m_buffer;
    void offer(live::FrameType type);
};

/// The living half of a session: lock, live.json, segment and control socket in this process. Rank 0 writes ring 0.
class LiveSession {
public:
    LiveSession(const rundir::RunFolder& folder, int session, std::size_t ringBytes = 1u << 20);
    ~LiveSession();

    live::Segment& segment() { return *m_segment; }
    /// Into the ring only.
    void points(std::int64_t attempt, const Values& values);
    void event(const std::string& kind, const std::string& text, std::int64_t attempt);
    void beat(live::Phase phase, std::int64_t done = 0, std::int64_t total = 0, std::int64_t attempt = 0);
    /// What a recorder does: takes the ring's frames so far into run.sqlite.
    void record(store::RunWriter& writer);
    /// Requests that came over the socket, in order, but for those that only ask how it stands.
    std::vector<live::Verb> requests() const;
    void setReply(const std::string& text, bool ok);
    /// What it answers to whoever asks how it stands: a JSON object.
    void setStatus(const std::string& json);
    /// Leaves as a supervisor that was killed does: what it ran lives on, with its segment.
    void loseSupervisor();

private:
    rundir::RunFolder m_folder;
    int m_session;
    std::optional<rundir::RunLock> m_lock, m_workersLock;
    std::unique_ptr<live::Segment> m_segment;
    std::optional<live::RingReader> m_recorder;
    std::unique_ptr<live::ControlServer> m_server;
    std::map<std::string, std::uint16_t> m_ids;
    std::vector<std::byte> m_buffer;
    mutable std::mutex m_mutex;
    std::vector<live::Verb> m_requests;
    std::string m_replyText = "done";
    std::string m_status;
    bool m_replyOk = true;
    std::atomic<bool> m_stop{false};
    std::thread m_thread;
};

}  // namespace lathe::tests
