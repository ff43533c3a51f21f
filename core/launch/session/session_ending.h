// The end of a session: what is left in the rings is taken in, how it ended is judged, whether the run goes on by itself is
// decided, and all of it is written down, in this order: nobody sees a run as ended that goes on, or before its record says how.
// Thread: that of the session.
#pragma once

#include "base/exit_code.h"
#include "launch/session/published_checkpoints.h"
#include "launch/session/restart.h"
#include "launch/session/running.h"
#include "launch/session/session_judge.h"
#include "launch/session/session_recorder.h"
#include "launch/session/session_wishes.h"

#include <functional>
#include <optional>
#include <vector>

namespace lathe::launch {

class SessionEnding {
public:
    /// All of them outlive this object.
    struct Session {
        const rundir::RunFolder& run;
        int number = 0;
        const config::RunConfig& config;
        rundir::SessionRecord& record;         ///< becomes the exit record
        rundir::Summary& summary;
        SessionRecorder& recorder;
    };
    /// Of a session that has come so far that something could run, started or not.
    struct Parts {
        PublishedCheckpoints& checkpoints;
        Running& running;
        SessionWishes& wishes;
        bool isGone = false;                   ///< what ran has ended; else it is ended here
        bool isRemoved = false;                ///< the run folder is no more
    };
    struct Calls {
        std::function<void()> hearSignals;     ///< so that who is in a hurry is heard once more
        std::function<void()> show;            ///< there is something to see: the end is written, or somebody waits
    };
    /// `crashes`: of the run before, under this supervisor.
    SessionEnding(const Session& session, const std::optional<Parts>& parts, Calls calls, std::vector<Crash> crashes)
        : m_session(session), m_parts(parts), m_calls(std::move(calls)), m_crashes(std::move(crashes)) {}

    /// `problem`: why it could not be brought up, or nothing.
    ExitCode close(const Error* problem);
    /// After close(): where the run goes on by itself; nothing where it has ended.
    const std::optional<Next>& next() const { return m_next; }
    const std::vector<Crash>& crashes() const { return m_crashes; }

private:
    bool isProgram() const { return m_parts && m_parts->running.isProgram(); }
    GoneSession gone() const;
    std::optional<ExitStatus> exit() const { return m_parts ? exitOf(gone()) : std::nullopt; }
    void endWhatRuns();
    void takeIn();
    void takeTheRest(ProgramFrames& frames);
    void record();
    void tellMemory(SessionEnd& end);
    void goOn(SessionEnd& end);
    void restoreBest();
    std::string missing() const;
    ExitCode codeOf(const SessionEnd& end, const Error* problem) const;
    void write(const SessionEnd& end, ExitCode code);
    void fillRecord(const SessionEnd& end, ExitCode code);
    void tellUser();

    const Session m_session;
    const std::optional<Parts> m_parts;
    const Calls m_calls;
    std::optional<Next> m_next;
    std::vector<Crash> m_crashes;
};

}  // namespace lathe::launch
