// What becomes of a session's checkpoints once its worker has published them: what a stop would lose is counted from the newest
// one, the rule of the configuration removes old ones, and all are re-read in the background; what that finds is kept with
// them, and damage is told.
// Thread: that of the session.
#pragma once

#include "config/sections.h"
#include "launch/process/recurring_problem.h"
#include "launch/run/frame_book.h"
#include "launch/session/verifier.h"
#include "rundir/run_folder.h"
#include "store/run_store.h"

#include <cstdint>
#include <functional>
#include <string>

namespace lathe::launch {

class PublishedCheckpoints {
public:
    /// How far the run is saved.
    struct Safe {
        std::int64_t step = 0;
        double activeSeconds = 0;   ///< of the run, up to it
    };
    /// All of them outlive this object.
    struct Session {
        const rundir::RunFolder& run;
        const config::RunConfig& config;
        const rundir::SessionRecord& record;   ///< the checkpoint that it loaded stays
        const FrameBook& book;                 ///< tells of saves
        store::RunWriter& writer;
    };
    using TellDamage = std::function<void(const std::string& sentence)>;
    /// `from`: where the session begins.
    PublishedCheckpoints(const Session& session, const Safe& from, TellDamage tell) : m_session(session), m_verifier(session.run.checkpoints()), m_tell(std::move(tell)), m_safe(from) {}

    /// What earlier sessions left no time to re-read is put in line.
    void reReadOlder();
    /// To be called many times a second: sees to a save that the book has heard of since the last call, `activeSeconds` of the
    /// run after its beginning, and books what was re-read. Whether there was either.
    bool look(double activeSeconds);
    const Safe& safe() const { return m_safe; }

private:
    bool seeToSave(double activeSeconds);
    bool bookReRead();
    void applyRule();

    const Session m_session;
    Verifier m_verifier;
    const TellDamage m_tell;
    Safe m_safe;
    int m_savesSeen = 0;
    RecurringProblem m_keepFails{"times checkpoints stayed that the rule does not keep"};
};

}  // namespace lathe::launch
