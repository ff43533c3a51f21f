// One live session as its supervisor sees it: shared memory, worker or command, recorder, socket, summary.
// superviseSession() makes one, turns its loop until what it runs is gone, and closes it.
// Thread: one.
#pragma once

#include "config/sections.h"
#include "launch/command/command_process.h"
#include "launch/process/adopted_process.h"
#include "launch/process/signal_feed.h"
#include "launch/run/frame_book.h"
#include "launch/run/program_frames.h"
#include "launch/session/device_telemetry.h"
#include "launch/session/live_events.h"
#include "launch/session/published_checkpoints.h"
#include "launch/session/shared_devices.h"
#include "launch/session/sleep_inhibitor.h"
#include "launch/session/supervisor.h"
#include "launch/session/time_left.h"
#include "launch/workers/hang_watch.h"
#include "launch/workers/stop_ladder.h"
#include "launch/workers/stopping.h"
#include "launch/workers/worker_group.h"
#include "live/control_socket.h"
#include "live/segment.h"
#include "live/spill.h"
#include "store/run_store.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lathe::launch {

class Session {
public:
    explicit Session(const SupervisorOptions& options);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    const rundir::RunFolder& run() const { return m_run; }
    /// Everything up to the worker that runs and the socket that answers.
    Result<void> open();
    /// One turn of the loop after waiting up to `milliseconds` for something to do. False: the worker is gone.
    bool turn(int milliseconds);
    /// A signal that means "stop": the first one saves, the second leaves at once.
    void signalled(int number);
    /// Takes in what is left and writes down how it ended: exit record, history, summary; live.json goes last.
    ExitCode close(const Error* problem);
    /// After close(): where the run goes on by itself; nothing where it has ended.
    const std::optional<Next>& next() const { return m_next; }
    const std::vector<Crash>& crashes() const { return m_crashes; }

private:
    Result<void> readPlan();
    Result<void> reserveSpace();
    static void giveSpaceBack(const std::filesystem::path& reserve);
    Result<void> openMemory();
    Result<void> openStore();
    Result<void> startWorkers();
    Result<void> startCommand();
    Result<void> adoptProgram();
    Result<void> announce();
    void wait(int milliseconds);
    void hearSignals();
    void drain(bool final);
    void takeTheRest();
    void flush();
    void openEvents();
    void shareDevices();
    void warn(const std::vector<std::string>& sentences);
    void watchHeartbeat();
    void beatForCommand();
    /// A program that is not ours: a command that this session started, or a script that it only records.
    bool isProgram() const { return m_command || m_adopted; }
    ProgramProcess& program() const { return m_command ? static_cast<ProgramProcess&>(*m_command) : *m_adopted; }
    void sampleDevices();
    void lookAtCheckpoints();
    void climb();
    void setWishes();
    void tellEvent(const std::string& kind, const std::string& text, const std::string& json = {});
    void bookFirstStep();
    void writeSummary();
    void capLogs() const;
    void setState(rundir::State state);
    void glance();
    int decidingRank() const;
    std::optional<ExitStatus> endOf(int rank) const;
    void signalAll(int number);
    SessionFacts factsOfEnd() const;
    SessionEnd judge() const;
    void holdForWorker(const std::string& why);
    void goOn(SessionEnd& end);
    void tellGoingBack(const std::string& why);
    void tellRestart(const std::string& why);
    void drainLast();
    void tellMemory(SessionEnd& end);
    void restoreBest();
    void writeExitRecord(const SessionEnd& end, int exitCode);
    void tellUser();
    live::Reply answer(const live::Request& request);
    live::Reply askToStop(bool discard);
    std::string whatAStopWouldLose() const;
    live::Reply askToPause(bool pause);
    live::Reply askToRelease();
    void releaseOnceSaved();
    std::optional<Stopping> stopping() const;
    std::string stoppingText() const;   ///< empty where nothing stops it
    std::string statusJson() const;
    std::string phaseText() const;
    void noticeRemoval();
    HangDoctor::Beats beats() const;
    std::pair<int, double> silence() const;   ///< the rank that was silent for the longest time, and since when, s
    std::string silenceNote() const;

    int world() const { return static_cast<int>(m_config.parallel.ranks); }
    int ownRing() const { return world(); }  ///< the supervisor's ring comes after the ranks'

    const SupervisorOptions m_options;
    const rundir::RunFolder m_run;          ///< held open: moving or renaming it does not matter
    rundir::SessionRecord m_record;
    rundir::Summary m_summary;             ///< of the run
    config::RunConfig m_config;
    std::string m_token;
    std::int64_t m_startStep = 0;

    std::unique_ptr<live::Segment> m_segment;
    std::vector<live::RingFeed> m_feeds;
    live::Control m_control;
    std::unique_ptr<store::RunWriter> m_writer;
    std::unique_ptr<FrameBook> m_book;
    std::optional<LiveEvents> m_events;     ///< telemetry.tensorboard, as long as its file can be written
    std::unique_ptr<live::ControlServer> m_server;
    std::optional<WorkerGroup> m_workers;   ///< of a training
    std::unique_ptr<CommandProcess> m_command;///< or a person's command
    std::unique_ptr<AdoptedProcess> m_adopted;///< or a script that runs already
    std::unique_ptr<ProgramFrames> m_program;///< what it logs
    SleepInhibitor m_awake;
    std::optional<PublishedCheckpoints> m_checkpoints;   ///< from the beginning of the recording on
    SharedDevices m_sharedDevices;
    bool m_gone = false;                    ///< what ran has ended, all of it
    bool m_removed = false;                 ///< the run folder is no more
    int m_lifeline = -1;                    ///< writing end; closing it tells the workers that we are gone
    std::optional<SignalFeed> m_signals;    ///< that mean a stop
    bool m_signalled = false, m_leavesAtOnce = false;  ///< once more while it ends

    std::optional<DeviceTelemetry> m_deviceTelemetry;    ///< once there is memory
    StopLadder m_ladder;
    std::optional<HangWatch> m_hangs;       ///< of a training's workers
    std::optional<int> m_silentAtStop;      ///< rank that was silent when the workers were told to leave at once
    std::int64_t m_stopNumber = 0;          ///< Control::number of the wish to stop
    std::optional<int> m_releaseAfter;      ///< once more than so many saves were made the workers may go
    int m_failedBefore = 0;                 ///< … and failed
    TimeLeft m_timeLeft;
    live::Heartbeat m_beat;                 ///< of rank 0, the newest one
    std::uint64_t m_lost = 0;               ///< frames that nobody has
    std::uint64_t m_oomKillsBefore = 0;
    std::string m_recorderProblem;
    std::optional<std::int64_t> m_bookedFirst;   ///< first step of a program, as run.sqlite has it
    std::string m_pauseWhy;   ///< who paused it last, and why
    std::int64_t m_startedNs = 0;  ///< since when its processes run, monotonic
    std::int64_t m_pausedNs = 0, m_pauseBeganNs = 0;  ///< command: how long it has worked
    std::int64_t m_durableSeen = 0;
    std::int64_t m_summaryNs = 0, m_glanceNs = 0;
    bool m_summaryDue = true;
    RecurringProblem m_summaryFails{"times summary.json could not be written"};
    std::optional<Next> m_next;
    std::vector<Crash> m_crashes;           ///< of the run under this supervisor
};

}  // namespace lathe::launch
