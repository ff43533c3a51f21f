// The workers of a training as what a session runs: one a rank, watched for hangs, gone with their supervisor by the lifeline.
// Thread: that of the session.
#pragma once

#include "base/descriptor.h"
#include "launch/session/running.h"
#include "launch/workers/hang_watch.h"
#include "launch/workers/worker_group.h"

#include <optional>

namespace lathe::launch {

class RunningWorkers : public Running {
public:
    explicit RunningWorkers(Order order) : Running(Kind::Training, std::move(order)) {}
    ~RunningWorkers() override { m_lifeline.reset(); }   // they hear of it first

    Result<void> start() override;
    std::vector<rundir::ProcessIdentity> identities() const override;
    std::vector<int> pollFds() const override;
    bool turn(std::int64_t nowNs) override { return m_workers->turn(nowNs, isAtSave(beats(), nowNs)); }
    std::string takeNews() override { return m_workers->takeNews(); }
    void signal(int number, std::int64_t nowNs) override;
    std::optional<ExitStatus> end(int rank) const override { return m_workers ? m_workers->end(rank) : std::nullopt; }
    void look(const Standing& standing, std::int64_t nowNs) override;
    std::pair<int, double> silence(std::int64_t nowNs) const override;
    bool isSaving(std::int64_t nowNs) const override { return lathe::launch::isSaving(beats(), nowNs); }
    void watch(std::int64_t nowNs, std::int64_t recorded) override { m_hangs->look(nowNs, recorded); }
    std::optional<HangDoctor::Finding> hang() const override { return m_hangs ? m_hangs->finding() : std::nullopt; }
    /// The first that did not end well of its own accord, else the first rank.
    int decidingRank(const FrameBook& book, bool hadToBeEnded) const override;
    std::string endedFor(int rank) const override;
    std::optional<rundir::HangRecord> hangRecord() const override { return m_hangs ? m_hangs->record() : std::nullopt; }

private:
    int world() const { return static_cast<int>(m_order.config.parallel.ranks); }
    HangDoctor::Beats beats() const;

    std::optional<WorkerGroup> m_workers;
    std::optional<HangWatch> m_hangs;
    std::optional<int> m_silentAtTerm;         ///< rank that was silent when they were told to leave at once
    Descriptor m_lifeline;                     ///< writing end; closing it tells the workers that we are gone
};

}  // namespace lathe::launch
