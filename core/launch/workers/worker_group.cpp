#include "launch/workers/worker_group.h"

#include "base/exit_code.h"
#include "rundir/checkpoint_publishing.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <utility>

namespace lathe::launch {

static constexpr std::int64_t kSecond = 1'000'000'000;

static bool isWell(const ExitStatus& end) {
    return end.code == static_cast<int>(ExitCode::Completed) || end.code == static_cast<int>(ExitCode::Stopped);
}

Result<WorkerGroup> WorkerGroup::start(const Plan& plan) {
    WorkerGroup group(plan);
    for (int rank = 0; rank < plan.world; ++rank) {
        ChildCommand command;
        command.program = plan.program;
        command.arguments = {"train", "--run", plan.run.place().string(), "--session", std::to_string(plan.session), "--rank", std::to_string(rank),
                             "--world", std::to_string(plan.world), "--segment-fd", "3", "--lifeline-fd", "4"};
        command.log = plan.run.rankLog(rank);
        command.descriptors = {plan.segmentFd, plan.lifelineFd};
        command.expendable = kExpendable;
        command.environment = {"LATHE_SOCKET="};  // of a run that this one was started from within
        // OpenMP threads that wait by spinning for long make a small model several times slower wherever a core is shared.
        if (std::getenv("OMP_WAIT_POLICY") == nullptr && std::getenv("GOMP_SPINCOUNT") == nullptr) command.environment.push_back("GOMP_SPINCOUNT=1000");
        LATHE_TRY_ASSIGN(ChildProcess worker, ChildProcess::start(command, plan.token));
        group.m_workers.push_back(std::move(worker));
    }
    group.m_ends.resize(group.m_workers.size());
    return group;
}

bool WorkerGroup::turn(std::int64_t nowNs, bool isAtSave) {
    collect(nowNs);
    if (m_killAtNs != 0 && !allGone()) endOthers(nowNs, isAtSave);
    return allGone();
}

/// A restart goes on from what the first rank is writing, so that one is waited for, as long as a stop waits for a save. Its
/// save needs nobody else: the state is its own, and what the others told by then is in shared memory. Where the first rank
/// itself has ended nothing is published any more, and nobody is waited for.
void WorkerGroup::endOthers(std::int64_t nowNs, bool isAtSave) {
    if (!m_ends[0] && (isAtSave || rundir::isBeingWritten(m_checkpoints, m_session))) {
        m_saverKillAtNs = std::min(nowNs + kGraceSeconds * kSecond, m_firstEndNs + kSavingSeconds * kSecond);
        tellWaiting(nowNs);
    }
    for (std::size_t rank = 0; rank < m_workers.size(); ++rank)
        if (nowNs >= (rank == 0 ? std::max(m_killAtNs, m_saverKillAtNs) : m_killAtNs)) m_workers[rank].signal(SIGKILL);
}

/// Ranks that end well are seldom ready at the same moment: of them it is told once they had their time.
void WorkerGroup::tellWaiting(std::int64_t nowNs) {
    const auto bad = std::find_if(m_order.begin(), m_order.end(), [this](int rank) { return !isWell(*m_ends[static_cast<std::size_t>(rank)]); });
    const int gone = m_heldUpBy >= 0 ? m_heldUpBy : bad != m_order.end() ? *bad : m_order.front();
    const std::optional<ExitStatus>& end = m_ends[static_cast<std::size_t>(gone)];
    if (m_waitingTold || !end || (isWell(*end) && nowNs < m_killAtNs)) return;
    m_waitingTold = true;
    const std::string how = gone == m_heldUpBy ? "was ended since " + m_problem
                            : end->signal      ? "was ended by signal " + signalText(*end->signal)
                            : end->code        ? "ended with exit code " + std::to_string(*end->code)
                                               : "ended and nobody knows how";
    m_news = "Rank " + std::to_string(gone) + " " + how + "; what the first rank is saving is waited for, at most " + std::to_string(kSavingSeconds / 60) + " min";
}

void WorkerGroup::collect(std::int64_t nowNs) {
    for (std::size_t rank = 0; rank < m_workers.size(); ++rank) {
        if (m_ends[rank]) continue;
        m_ends[rank] = m_workers[rank].poll();
        if (!m_ends[rank]) continue;
        m_order.push_back(static_cast<int>(rank));
        if (m_firstEndNs == 0) m_firstEndNs = nowNs;
        const std::int64_t killAt = nowNs + (isWell(*m_ends[rank]) ? kCleanGraceSeconds : kGraceSeconds) * kSecond;
        m_killAtNs = m_killAtNs == 0 ? killAt : std::min(m_killAtNs, killAt);
    }
}

void WorkerGroup::endFor(int rank, std::string problem, std::int64_t nowNs) {
    m_heldUpBy = rank;
    m_problem = std::move(problem);
    m_firstEndNs = nowNs;
    m_killAtNs = nowNs + kGraceSeconds * kSecond;
    m_workers[static_cast<std::size_t>(rank)].signal(SIGKILL);
}

void WorkerGroup::signal(int number) const {
    for (const ChildProcess& worker : m_workers) worker.signal(number);
}

bool isAtSave(const HangDoctor::Beats& beats, std::int64_t nowNs) {
    if (beats.empty() || !beats.front() || beats.front()->monotonicNs == 0 || silentRank({beats.front()}, nowNs)) return false;
    return beats.front()->phase == live::Phase::Saving && beats.front()->activity == live::Activity::None;
}

}  // namespace lathe::launch
