// One live session as its supervisor sees it: brings its parts up in order, turns them until what it runs is gone, and ends it.
//   Running               what it runs: workers, a command, a script
//   SessionRecorder       what it tells, made durable
//   SessionWishes         what is asked of it, and a stop driven to its end
//   PublishedCheckpoints  what becomes of its checkpoints
//   LiveSummary, session_view.h   what others see of it
//   SharedDevices, DeviceTelemetry   what it computes on
//   SessionEnding         its end
// The parts do not know the session; what they need of each other they are given.
// Thread: one.
#pragma once

#include "config/sections.h"
#include "launch/process/signal_feed.h"
#include "launch/session/device_telemetry.h"
#include "launch/session/live_summary.h"
#include "launch/session/published_checkpoints.h"
#include "launch/session/running.h"
#include "launch/session/session_recorder.h"
#include "launch/session/session_view.h"
#include "launch/session/session_wishes.h"
#include "launch/session/shared_devices.h"
#include "launch/session/sleep_inhibitor.h"
#include "launch/session/supervisor.h"
#include "live/control_socket.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lathe::launch {

class Session {
public:
    explicit Session(const SupervisorOptions& options);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    const rundir::RunFolder& run() const { return m_run; }
    /// Everything up to what runs and the socket that answers.
    Result<void> open();
    /// One turn of the loop after waiting up to `milliseconds` for something to do. False: what it runs is gone.
    bool turn(int milliseconds);
    /// Takes in what is left and writes down how it ended: exit record, history, summary; live.json goes last.
    ExitCode close(const Error* problem);
    /// After close(): where the run goes on by itself; nothing where it has ended.
    const std::optional<Next>& next() const { return m_next; }
    const std::vector<Crash>& crashes() const { return m_crashes; }

private:
    Result<void> readPlan();
    Result<void> openParts();
    void shareDevices();
    Result<void> announce();
    void tellBeginning();
    void wait(int milliseconds);
    void hearSignals();
    live::Reply answer(const live::Request& request);
    void look();
    void lookAround();
    void noticeRemoval();
    void warn(const std::vector<std::string>& sentences);
    void writeSummary();
    void show();
    SessionView view() const;
    std::string token() const { return m_summary.id + "-" + std::to_string(m_options.session); }
    int world() const { return static_cast<int>(m_config.parallel.ranks); }

    const SupervisorOptions m_options;
    const rundir::RunFolder m_run;          ///< held open: moving or renaming it does not matter
    rundir::SessionRecord m_record;
    rundir::Summary m_summary;              ///< of the run
    config::RunConfig m_config;
    std::int64_t m_startStep = 0;
    SessionRecorder m_recorder;
    LiveSummary m_liveSummary;
    std::unique_ptr<live::ControlServer> m_server;
    std::optional<SignalFeed> m_signals;    ///< that mean a stop
    SleepInhibitor m_awake;
    // Made together, once there is memory; what it runs is started then.
    std::optional<PublishedCheckpoints> m_checkpoints;
    std::optional<DeviceTelemetry> m_deviceTelemetry;
    std::unique_ptr<Running> m_running;
    std::optional<SessionWishes> m_wishes;
    SharedDevices m_sharedDevices;

    bool m_gone = false;                    ///< what ran has ended, all of it
    bool m_removed = false;                 ///< the run folder is no more
    std::int64_t m_shownNs = 0;
    std::optional<Next> m_next;
    std::vector<Crash> m_crashes;           ///< of the run under this supervisor
};

}  // namespace lathe::launch
