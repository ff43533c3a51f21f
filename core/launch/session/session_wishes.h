// What is wished of a session, by people, by signals and by itself: to save, to pause, to let its memory go, to stop. It is told
// to what runs, and a stop is driven to its end.
// Thread: that of the session.
#pragma once

#include "launch/session/published_checkpoints.h"
#include "launch/session/running.h"
#include "launch/session/session_recorder.h"
#include "launch/workers/stop_ladder.h"
#include "launch/workers/stopping.h"
#include "live/control_socket.h"
#include "live/segment.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace lathe::launch {

class SessionWishes {
public:
    /// All of them outlive this object; `recorder` has its memory. Shows the ranks that nothing is wished for.
    SessionWishes(const rundir::RunFolder& run, SessionRecorder& recorder, Running& running, const PublishedCheckpoints& checkpoints);

    /// Does what is asked for, or says why not. Requires: neither Attach nor Status, which wish for nothing.
    live::Reply answer(live::Verb verb);
    /// A signal that means a stop: the first one saves, the second leaves at once.
    void signalled(int number);
    /// … where what ran has ended: the second one hurries what is left to do.
    void signalledAtEnd() { m_leavesAtOnce = std::exchange(m_isSignalled, true) || isStopping(); }
    /// A pause that the worker has made by itself ends as one that a person asked for. False: it is stopping, and nothing holds it.
    bool pauseByItself(const std::string& why);
    /// Where nothing that is trained from here on could be kept.
    void discard();
    /// To be called many times a second. `isGone`: what ran has ended, so that there is nobody left to end.
    void turn(bool isGone);

    bool isStopping() const { return m_ladder.stage() != StopLadder::Stage::None; }
    /// Its memory is to be let go once it is saved, or was.
    bool isReleased() const { return m_releaseAfter.has_value(); }
    bool isPauseAsked() const { return m_control.pause; }
    /// Who asked for the pause, and why.
    const std::string& pauseWhy() const { return m_pauseWhy; }
    bool leavesAtOnce() const { return m_leavesAtOnce || m_ladder.isHurried(); }
    const StopLadder& ladder() const { return m_ladder; }
    std::optional<Stopping> stopping() const;
    /// Number of the newest wish that was told.
    std::int64_t number() const { return m_control.number; }
    /// Whether something came of wishes since the last call that people wait to see in the summary.
    bool takeChange() { return std::exchange(m_hasChanged, false); }

private:
    live::Reply save();
    live::Reply stop(bool discard);
    live::Reply pause(bool pause);
    live::Reply release();
    live::Reply asked(live::Reply reply);
    void beginStop(live::Control::Stop wish, bool listens = true);
    std::string whatAStopWouldLose() const;
    std::string whyItCannotSave() const;
    std::string stoppingText() const;       ///< empty where nothing stops it
    void tell();
    void releaseOnceSaved();
    void climb();

    const rundir::RunFolder& m_run;
    SessionRecorder& m_recorder;
    Running& m_running;
    const PublishedCheckpoints& m_checkpoints;
    live::Control m_control;
    StopLadder m_ladder;
    std::int64_t m_stopNumber = 0;          ///< Control::number of the wish to stop
    std::optional<int> m_releaseAfter;      ///< once more than so many saves were made the workers may go
    int m_failedBefore = 0;                 ///< … and failed
    std::string m_pauseWhy;
    bool m_isSignalled = false, m_leavesAtOnce = false;   ///< once more, while it ends
    bool m_hasChanged = false;
};

}  // namespace lathe::launch
