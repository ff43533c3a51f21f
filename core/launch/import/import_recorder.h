// Records a run that another program trains: its sessions, points and events into the run folder, and, while it is
// followed, shared memory and socket like any run that is up. Knows nothing of where the values come from.
// Thread: one.
#pragma once

#include "launch/run/frame_book.h"
#include "live/control_socket.h"
#include "live/segment.h"
#include "rundir/run_folder.h"
#include "store/run_store.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace lathe::launch {

class ImportRecorder {
public:
    /// Requires: the caller holds the run's lock. Nothing of the run changes before begin() or takeUp(). After an error of
    /// begin(), takeUp() or end(), or one of flush() that is not Busy, only fail() may follow.
    static Result<std::unique_ptr<ImportRecorder>> open(const rundir::RunFolder& run);
    ~ImportRecorder();

    const rundir::RunFolder& run() const { return m_run; }
    /// What the last recording left under this name, stored with its points.
    const std::optional<std::string>& state() const { return m_state; }
    int session() const { return m_record.number; }  ///< 0: none yet
    /// The session that the state speaks of: one that was planned after it and has no point is made anew.
    Result<void> goBackTo(int session);

    /// The first session, or a new one after it; the one before ends as interrupted, with `state` as it stands then. `keeps`:
    /// up to which attempt of it the line goes on.
    Result<void> begin(std::int64_t keeps, std::int64_t step, std::int64_t startedNs, const std::string& whyBeforeEnded, const std::string& state);
    /// The newest session began as if it went back, and did not: of the one before it everything up to this attempt counts.
    Result<void> keepBefore(std::int64_t attempt);
    /// The newest session gets more points.
    Result<void> takeUp();
    /// Shared memory, socket and live.json: the run is up from here on, until end().
    Result<void> goLive();
    bool isLive() const { return m_server != nullptr; }

    /// `series` is a number of the caller's; its name counts at its first point in a session.
    void point(int session, std::uint16_t series, const std::string& name, std::int64_t attempt, std::int64_t step, std::int64_t wallNs, double value);
    void event(std::int64_t step, std::int64_t wallNs, const std::string& kind, const std::string& text, const std::string& json = {});
    /// Session and attempt are filled in here. A large content and pictures go to blobs/ at once.
    Result<void> record(live::RecordFrame record);
    /// A small fact by name, stored with the next flush.
    void fact(const std::string& name, const std::string& value) { m_writer->stageFact(name, value); }
    /// Everything until now becomes durable, together with `state`.
    Result<void> flush(const std::string& state);
    std::size_t pendingBytes() const { return m_writer ? m_writer->pendingBytes() : 0; }

    /// Beats, answers, summary: a few times a second while live.
    void serve();
    bool stopAsked() const { return m_stopAsked; }
    int pollFd() const { return m_server ? m_server->pollFd() : -1; }

    /// The last flush, the exit record, the summary; live.json goes last.
    Result<void> end(rundir::State state, const std::string& why, const std::string& finalState);
    /// After an error: what is not durable is given up, and the session ends as failed as far as the disk allows.
    void fail(const std::string& why);
    /// Instead of that, where nothing was ever kept: the run is gone.
    void removeRun();

private:
    explicit ImportRecorder(rundir::RunFolder run) : m_run(std::move(run)) { m_record.number = 0; }
    /// What is known of a session, by its number.
    struct Known {
        std::int64_t startedNs = 0;
        std::optional<std::uint64_t> sequence;   ///< last one of its frames
        std::vector<bool> declared;              ///< its series, by number
    };

    Result<void> openBook();
    Result<void> closeSession(rundir::State state, const std::string& why);
    void tellHistory();
    void leaveLive();
    void put(int session, live::FrameType type);
    live::Reply answer(const live::Request& request);
    void writeSummary();
    std::string token() const;

    rundir::RunFolder m_run;
    rundir::SessionRecord m_record;
    rundir::Summary m_summary;
    std::int64_t m_firstStep = 0;
    std::optional<std::string> m_state;
    std::unique_ptr<store::RunWriter> m_writer;
    std::unique_ptr<FrameBook> m_book;
    std::unique_ptr<live::Segment> m_segment;
    std::unique_ptr<live::ControlServer> m_server;
    live::Control m_control;
    live::Frame m_frame;                                        ///< reused
    live::PointsFrame m_row;                                    ///< reused
    std::unordered_map<int, Known> m_sessions;
    std::int64_t m_openRows = 0, m_summaryNs = 0;
    bool m_stopAsked = false;
};

}  // namespace lathe::launch
