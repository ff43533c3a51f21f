// The guard: judges every attempt at an update before it is applied, by what the applied updates before it had. An update
// that it finds wanting is never applied, whatever else is done about it.
//
// Loss spike: score = (loss - median) / max(1.4826 · MAD, 0.001 · |median|) over the last guard.window applied updates,
// MAD = median of |loss - median|; for normally distributed losses 1.4826 · MAD estimates their standard deviation
// (Rousseeuw & Croux 1993). Gradient explosion: norm before clipping / median norm over the same updates. Both need a full
// window, and look upwards only. The overflows by which the loss scale of fp16 finds its size are not findings.
//
// What it decides is a function of losses and norms that are the same on every rank, and its window is state: a resumed run
// and any number of ranks decide alike.
// Thread: one thread at a time.
#pragma once

#include "config/sections.h"
#include "engine/train/hooks.h"
#include "engine/train/train_state.h"

#include <deque>
#include <optional>
#include <vector>

namespace lathe::engine {

class TrajectoryGuard final : public Stateful {
public:
    explicit TrajectoryGuard(config::GuardSection section) : m_section(std::move(section)) {}

    /// Nothing: it may be applied (or was skipped for a reason that needs no more than that).
    std::optional<GuardFinding> judge(const UpdateResult& result) const;
    /// An applied update.
    void take(const UpdateResult& result);

    std::string stateName() const override { return "guard"; }
    bool isOptional() const override { return true; }
    StateValues stateValues() const override;
    Result<void> setStateValues(const StateValues& values) override;

private:
    std::optional<GuardFinding> judgeLoss(double loss) const;
    std::optional<GuardFinding> judgeNorm(double norm) const;
    bool watches() const { return m_section.onLossSpike != "go_on" || m_section.onGradientExplosion != "go_on"; }
    std::vector<double> newest(const std::deque<double>& values) const;
    bool isFull(const std::deque<double>& values) const { return static_cast<std::int64_t>(values.size()) >= m_section.window; }

    config::GuardSection m_section;
    std::deque<double> m_losses, m_norms;   ///< of the last applied updates, oldest first; empty where nothing is judged by them
};

}  // namespace lathe::engine
