#include "launch/worker_group.h"

#include "base/exit_code.h"

#include <algorithm>
#include <csignal>
#include <utility>

namespace lathe::launch {

static constexpr std::int64_t kSecond = 1'000'000'000;

Result<WorkerGroup> WorkerGroup::start(const Plan& plan) {
    WorkerGroup group(plan.waitSeconds);
    for (int rank = 0; rank < plan.world; ++rank) {
        ChildCommand command;
        command.program = plan.program;
        command.arguments = {"train", "--run", plan.run.place().string(), "--session", std::to_string(plan.session), "--rank", std::to_string(rank),
                             "--world", std::to_string(plan.world), "--segment-fd", "3", "--lifeline-fd", "4"};
        command.log = plan.run.rankLog(rank);
        command.descriptors = {plan.segmentFd, plan.lifelineFd};
        command.environment = {"LATHE_SOCKET="};  // of a run that this one was started from within
        LATHE_TRY_ASSIGN(ChildProcess worker, ChildProcess::start(command, plan.token));
        group.m_workers.push_back(std::move(worker));
    }
    group.m_ends.resize(group.m_workers.size());
    group.m_operations.assign(group.m_workers.size(), 0);
    return group;
}

bool WorkerGroup::turn(const live::Segment& segment, std::int64_t nowNs) {
    collect(nowNs);
    if (world() > 1 && m_order.empty() && m_killAtNs == 0) watch(segment, nowNs);
    if (m_killAtNs != 0 && nowNs >= m_killAtNs) signal(SIGKILL);
    return allGone();
}

void WorkerGroup::collect(std::int64_t nowNs) {
    for (std::size_t rank = 0; rank < m_workers.size(); ++rank) {
        if (m_ends[rank]) continue;
        m_ends[rank] = m_workers[rank].poll();
        if (!m_ends[rank]) continue;
        m_order.push_back(static_cast<int>(rank));
        const std::optional<int>& code = m_ends[rank]->code;
        const bool well = code == static_cast<int>(ExitCode::Completed) || code == static_cast<int>(ExitCode::Stopped);
        const std::int64_t killAt = nowNs + (well ? kCleanGraceSeconds : kGraceSeconds) * kSecond;
        m_killAtNs = m_killAtNs == 0 ? killAt : std::min(m_killAtNs, killAt);
    }
}

/// One that is silent, or one that the others have waited for too long.
void WorkerGroup::watch(const live::Segment& segment, std::int64_t nowNs) {
    std::vector<live::Heartbeat> beats;
    bool moved = false;
    for (int rank = 0; rank < world(); ++rank) {
        const auto beat = segment.heartbeat(rank);
        if (!beat || beat->monotonicNs == 0) return;  // not up yet
        moved = std::exchange(m_operations[static_cast<std::size_t>(rank)], beat->collective) != beat->collective || moved;
        beats.push_back(*beat);
    }
    if (moved || m_movedNs == 0) m_movedNs = nowNs;
    const auto byTime = [](const live::Heartbeat& a, const live::Heartbeat& b) { return a.monotonicNs < b.monotonicNs; };
    const auto [oldest, newest] = std::minmax_element(beats.begin(), beats.end(), byTime);
    if (newest->monotonicNs - oldest->monotonicNs > kSilenceSeconds * kSecond)
        return endFor(static_cast<int>(oldest - beats.begin()), "it gave no sign of life for " + std::to_string(kSilenceSeconds) + " s while the other ranks waited for it", nowNs);
    const auto byOperation = [](const live::Heartbeat& a, const live::Heartbeat& b) { return a.collective < b.collective; };
    const auto [behind, ahead] = std::minmax_element(beats.begin(), beats.end(), byOperation);
    constexpr live::Phase kMayTakeLong[] = {live::Phase::Starting, live::Phase::LoadingData, live::Phase::BuildingModel, live::Phase::LoadingCheckpoint,
                                            live::Phase::Saving, live::Phase::Paused};
    const bool mayTakeLong = std::find(std::begin(kMayTakeLong), std::end(kMayTakeLong), behind->phase) != std::end(kMayTakeLong);
    if (behind->collective == ahead->collective || mayTakeLong || nowNs - m_movedNs <= m_waitSeconds * kSecond) return;
    endFor(static_cast<int>(behind - beats.begin()), "it did not get on for " + std::to_string(m_waitSeconds) + " s while the other ranks waited for it (parallel.wait_seconds)", nowNs);
}

/// Its end breaks what the others wait in, so that they can say so themselves.
void WorkerGroup::endFor(int rank, std::string problem, std::int64_t nowNs) {
    m_heldUpBy = rank;
    m_problem = std::move(problem);
    m_killAtNs = nowNs + kGraceSeconds * kSecond;
    m_workers[static_cast<std::size_t>(rank)].signal(SIGKILL);
}

void WorkerGroup::signal(int number) const {
    for (const ChildProcess& worker : m_workers) worker.signal(number);
}

}  // namespace lathe::launch
