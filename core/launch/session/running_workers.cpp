#include "launch/session/running_workers.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/program_paths.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <unistd.h>
#include <utility>

namespace lathe::launch {

Result<void> RunningWorkers::start() {
    std::array<int, 2> lifeline{-1, -1};
    if (::pipe2(lifeline.data(), O_CLOEXEC) != 0) return fileError("make", "a pipe", errno);
    m_lifeline.reset(lifeline[1]);
    const Descriptor theirs(lifeline[0]);
    std::error_code ignored;
    std::filesystem::remove(m_order.run.rendezvous(m_order.session), ignored);  // one that was left would keep ranks from meeting
    LATHE_TRY_ASSIGN(WorkerGroup workers, WorkerGroup::start({siblingProgram("lathe-worker"), m_order.run, m_order.session, world(), m_order.memory.fd(), theirs.get(), m_order.token}));
    m_workers.emplace(std::move(workers));
    m_startedNs = Clock::system().monotonicNs();
    m_hangs.emplace(m_order.run, m_order.config, m_order.memory, *m_workers, m_order.tell);
    return {};
}

std::vector<rundir::ProcessIdentity> RunningWorkers::identities() const {
    std::vector<rundir::ProcessIdentity> out;
    if (m_workers) std::transform(m_workers->workers().begin(), m_workers->workers().end(), std::back_inserter(out), [](const ChildProcess& worker) { return worker.identity(); });
    return out;
}

std::vector<int> RunningWorkers::pollFds() const {
    std::vector<int> out;
    for (int rank = 0; rank < world(); ++rank)
        if (!m_workers->end(rank)) out.push_back(m_workers->workers()[static_cast<std::size_t>(rank)].pollFd());
    return out;
}

void RunningWorkers::signal(int number, std::int64_t nowNs) {
    if (number == SIGTERM) m_silentAtTerm = silentRank(beats(), nowNs);
    if (m_workers) m_workers->signal(number);
}

void RunningWorkers::look(const Standing&, std::int64_t) {
    if (const auto beat = m_order.memory.heartbeat(0)) m_beat = *beat;
}

HangDoctor::Beats RunningWorkers::beats() const {
    HangDoctor::Beats beats;
    for (int rank = 0; m_workers && rank < world(); ++rank) beats.push_back(m_workers->end(rank) ? std::nullopt : m_order.memory.heartbeat(rank));
    return beats;
}

std::pair<int, double> RunningWorkers::silence(std::int64_t nowNs) const {
    HangDoctor::Beats all = beats();
    for (auto& beat : all)
        if (beat && beat->monotonicNs == 0) beat->monotonicNs = m_startedNs;   // nothing was heard since it was started
    const int rank = silentRank(all, nowNs).value_or(0);
    const std::int64_t heard = rank > 0 ? all[static_cast<std::size_t>(rank)]->monotonicNs : m_beat.monotonicNs;
    return {rank, secondsSince(heard == 0 ? m_startedNs : heard, nowNs)};
}

int RunningWorkers::decidingRank(const FrameBook& book, bool hadToBeEnded) const {
    if (!m_workers) return 0;
    if (m_workers->heldUpBy() >= 0) return m_workers->heldUpBy();
    const auto found = hang();
    const std::optional<int> heldUpBy = found ? std::optional(found->rank) : m_silentAtTerm;
    if (heldUpBy && hadToBeEnded && !book.ended(*heldUpBy)) return *heldUpBy;   // for which the others waited
    for (const int rank : m_workers->order()) {
        const auto& ended = book.ended(rank);
        const bool well = ended && (!rundir::isTrouble(ended->state) || ended->state == rundir::State::Interrupted);
        if (!well && !(ended && ended->lostContact)) return rank;
    }
    return 0;
}

std::string RunningWorkers::endedFor(int rank) const { return m_workers && rank == m_workers->heldUpBy() ? m_workers->problem() : std::string(); }

}  // namespace lathe::launch
