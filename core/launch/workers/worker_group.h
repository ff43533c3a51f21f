// The workers of a session, one a rank: started together, and never left alone by one of them. When a rank ends, or is ended
// because it hangs (hang_doctor.h), the others are given a moment to notice and tell, then they are ended: nobody waits in a reduction for
// somebody who is gone. The first rank, which alone writes checkpoints, is given the time to publish the one it is at.
// Thread: one; the clock comes from outside.
#pragma once

#include "launch/process/child_process.h"
#include "launch/workers/stop_ladder.h"
#include "rundir/run_folder.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lathe::launch {

class WorkerGroup {
public:
    struct Plan {
        std::filesystem::path program;
        rundir::RunFolder run;
        int session = 0, world = 1;
        int segmentFd = -1, lifelineFd = -1;
        std::string token;
    };
    /// All ranks or none.
    static Result<WorkerGroup> start(const Plan& plan);

    int world() const { return static_cast<int>(m_workers.size()); }
    const std::vector<ChildProcess>& workers() const { return m_workers; }
    /// Collects ends, and ends who has had the time to. True once all workers are gone. `isAtSave`: what the function of that name says of their beats.
    bool turn(std::int64_t nowNs, bool isAtSave);
    /// Ends a rank that holds up the others. That breaks what they wait in, so that they can say so themselves.
    void endFor(int rank, std::string problem, std::int64_t nowNs);
    bool allGone() const { return m_order.size() == m_workers.size(); }
    /// Why the session still stands, once, where a rank is gone and the first one's save is waited for; else empty.
    std::string takeNews() { return std::exchange(m_news, {}); }
    void signal(int number) const;

    const std::optional<ExitStatus>& end(int rank) const { return m_ends[static_cast<std::size_t>(rank)]; }
    /// Ranks in the order in which they ended.
    const std::vector<int>& order() const { return m_order; }
    /// The rank that held up the others, with a sentence, where this object ended them for it.
    int heldUpBy() const { return m_heldUpBy; }
    const std::string& problem() const { return m_problem; }

    static constexpr int kGraceSeconds = 5;        ///< of the others once a rank has ended badly
    static constexpr int kCleanGraceSeconds = 30;  ///< … has ended well
    static constexpr int kSavingSeconds = StopLadder::kSavingSeconds;   ///< for a save that is being written by then

private:
    WorkerGroup(const Plan& plan) : m_checkpoints(plan.run.checkpoints()), m_session(plan.session) {}
    void collect(std::int64_t nowNs);
    void endOthers(std::int64_t nowNs, bool isAtSave);
    void tellWaiting(std::int64_t nowNs);

    std::filesystem::path m_checkpoints;
    int m_session;
    std::vector<ChildProcess> m_workers;
    std::vector<std::optional<ExitStatus>> m_ends;
    std::vector<int> m_order;
    std::int64_t m_firstEndNs = 0;
    std::int64_t m_killAtNs = 0;                   ///< 0: nobody has to go
    std::int64_t m_saverKillAtNs = 0;              ///< … of the first rank, later where it saves
    int m_heldUpBy = -1;
    std::string m_problem, m_news;
    bool m_waitingTold = false;
};

/// Whether the first rank shows that it is at a save and waits for nobody. Of one that is written behind training it shows
/// nothing before it has noticed that another rank is gone; that is seen by its files.
bool isAtSave(const HangDoctor::Beats& beats, std::int64_t nowNs);

}  // namespace lathe::launch
