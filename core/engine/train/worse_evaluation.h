// The policy "evaluate every so often; when it is worse, go back to the last good checkpoint": guard.on_worse. A hook like
// any other: it only asks.
// Thread: the training thread.
#pragma once

#include "config/sections.h"
#include "engine/train/hooks.h"
#include "engine/train/triggers.h"

namespace lathe::engine {

class WorseEvaluation final : public Hook {
public:
    /// `best` is what an evaluation is compared with; asked after it has taken that evaluation.
    WorseEvaluation(const config::GuardSection& section, const BestValue& best) : m_section(section), m_best(best) {}
    std::string_view hookName() const override { return "worse evaluation"; }
    bool required() const override { return true; }
    void at(const HookContext& context, Wishes& wishes) override;
    HookState state() const override { return m_inARow == 0 ? HookState() : HookState{{"worse_in_a_row", std::to_string(m_inARow)}}; }
    void setState(const HookState& state) override;

private:
    bool isWorse(const EvaluationOutcome& outcome) const;

    const config::GuardSection m_section;
    const BestValue& m_best;
    std::int64_t m_inARow = 0;
};

}  // namespace lathe::engine
