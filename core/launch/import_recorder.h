// Records a run that another program trains: its sessions, points and events into the run folder, and, while it is
// followed, shared memory and socket like any run that is up. Knows nothing of where the values come from.
// Thread: one.
#pragma once

#include "launch/frame_book.h"
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
    /// Requires: the caller holds the run's lock. Nothing of the run changes before begin() or takeUp().
    static Result<std::unique_ptr<ImportRecorder>> open(const rundir::RunFolder& run);
    ~ImportRecorder();

    const rundir::RunFolder& run() const { return m_run; }
    /// What the last recording left under this name, stored with its points.
    const std::optional<std::string>& state() const { return m_state; }
    int session() const { return m_record.number; }  ///< 0: none yet

    /// A new session; the one before it ends as interrupted. `keeps`: up to which attempt of it the line goes on.
    Result<void> begin(std::int64_t keeps, std::int64_t step, std::int64_t startedNs, const std::string& whyBeforeEnded);
    /// The newest session gets more points.
    Result<void> takeUp();
    /// Shared memory, socket and live.json: the run is up from here on, until end().
    Result<void> goLive();
    bool isLive() const { return m_server != nullptr; }

    /// `series` is a number of the caller's; its name and unit count at its first point in a session.
    void point(int session, std::uint16_t series, const std::string& name, std::int64_t attempt, std::int64_t step, std::int64_t wallNs, double value);
    void event(std::int64_t step, std::int64_t wallNs, const std::string& kind, const std::string& text, const std::string& json = {});
    void text(std::int64_t step, std::int64_t wallNs, const std::string& name, const std::string& content);
    /// A small fact by name, stored with the next flush.
    void fact(const std::string& name, const std::string& value) { m_writer->stageFact(name, value); }
    /// Everything until now becomes durable, together with `state`.
    Result<void> flush(const std::string& state);
    std::size_t pendingBytes() const { return m_writer ? m_writer->pendingBytes() : 0; }
    std::int64_t points() const { return m_points; }  ///< taken by this object

    /// Beats, answers, summary: a few times a second while live.
    void serve();
    bool stopAsked() const { return m_stopAsked; }
    int pollFd() const { return m_server ? m_server->pollFd() : -1; }

    /// The last flush, the exit record, the summary; live.json goes last.
    Result<void> end(rundir::State state, const std::string& why, const std::string& finalState);

private:
    explicit ImportRecorder(rundir::RunFolder run) : m_run(std::move(run)) { m_record.number = 0; }
    Result<void> openBook();
    Result<void> closeSession(rundir::State state, const std::string& why);
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
    std::unordered_map<int, std::uint64_t> m_sequences;         ///< last one of each session
    std::unordered_map<int, std::vector<bool>> m_declared;      ///< series of each session, by number
    std::int64_t m_points = 0, m_openRows = 0, m_summaryNs = 0;
    bool m_stopAsked = false;
};

}  // namespace lathe::launch
